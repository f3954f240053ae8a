"""Lets worlds live by their seeds: `python -m orchestrator.testing.simulate --days N --seed S`."""

from __future__ import annotations

import argparse
import sys
import time

from orchestrator.testing.simulation.run import live


def main() -> int:
    """Let one world live, or so many from a seed on; say how each was. Status 1 if a law was broken."""
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__.partition(":")[0])
    parser.add_argument("--days", type=float, default=2.0, help="days until everything calms down (2)")
    parser.add_argument("--seed", default="1", help="the world's seed, or the first one's (1)")
    parser.add_argument("--worlds", type=int, default=1, help="how many, with the seeds that follow (1)")
    options = parser.parse_args()
    seeds = (
        [options.seed] if options.worlds == 1 else [str(int(options.seed) + n) for n in range(options.worlds)]
    )
    for seed in seeds:
        begun = time.process_time()
        try:
            outcome = live(seed, options.days)
        except AssertionError as error:
            sys.stderr.write(f"{error}\nagain: scripts/simulate --days {options.days:g} --seed {seed}\n")
            return 1
        spent = time.process_time() - begun
        told = ", ".join(f"{name} {state}" for name, state in outcome.tasks.items())
        sys.stdout.write(
            f"seed {seed}: {outcome.days:.1f} days, {outcome.runs} runs, {outcome.kills} kills, "
            f"{outcome.turns} turns in {spent:.1f} s: {told}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
