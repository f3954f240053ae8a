"""Runs simulated worlds by their seeds: `scripts/simulate --days N --seed S`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from tests.simulation import workflow_worlds
from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.fault_schedule import drawn_schedule
from tests.simulation.engine.kept_worlds import Kept
from tests.simulation.engine.run import Failed, Outcome, simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shrink import shrunk
from tests.simulation.engine.summary_table import table

PROGRESS_EVERY: Final = 10.0
"""Seconds between two lines of progress."""


@dataclass(frozen=True, slots=True)
class World:
    """One world to run: its seed, its days, and the events that may occur."""

    seed: str
    days: float
    only: frozenset[str] | None = None


def main() -> int:
    """Run worlds and print the counts. If a law is broken, shrink the failure and return 1."""
    options = _options()
    if options.workflows:
        return _workflows(options.workflows, options)
    if options.busy:
        return _fresh(options.busy, options.seed, options.jobs, options.resume)
    options.seed = options.seed or "1"
    only = None if options.only is None else frozenset(filter(None, options.only.split(",")))
    if only is not None or options.worlds == 1:
        worlds = iter([World(options.seed, options.days, only)])
    elif options.worlds:
        days = options.days / options.worlds
        worlds = (World(f"{options.seed}.{number}", days) for number in range(options.worlds))
    else:
        worlds = spread(options.seed, options.days)
    try:
        counts = _run_all(worlds, options.days, options.jobs)
    except Failed as failed:
        sys.stderr.write(f"{failed}\n")
        if only is None:
            sys.stderr.write(f"{shrunk(failed, failed.day)}\n")
        return 1
    sys.stdout.write(table(counts))
    return 0


def _fresh(busy_days: int, seed: str, jobs: int, path: Path | None) -> int:
    """Run fresh worlds until there were enough busy days. Print how to replay and keep those that failed."""
    progress = fresh_worlds.Progress(seed or fresh_worlds.drawn_seed())
    if path is not None:
        progress = fresh_worlds.resumed(path, progress.seed)
        if seed not in {"", progress.seed}:
            sys.stderr.write(f"{path} is of seed {progress.seed}: remove it to begin with another\n")
            return 2
    sys.stderr.write(f"fresh worlds of seed {progress.seed}, from {progress.worlds} on\n")

    def report(now: fresh_worlds.Progress) -> None:
        if path is not None:
            fresh_worlds.save(path, now)
        failed = f", {len(now.failed)} failed" if now.failed else ""
        sys.stderr.write(f"{now.busy_days:,} of {busy_days:,} busy days in {now.worlds:,} worlds{failed}\n")

    fresh_worlds.until(busy_days, progress, jobs, report)
    if path is not None:
        path.unlink()
    sys.stdout.write(table(progress.counts))
    for name, law in progress.failed.items():
        sys.stdout.write(
            f"{law}\n  again: {fresh_worlds.replay(name)}\n  keep it: {Kept(name, fresh_worlds.LASTS).how}\n"
        )
    return 1 if progress.failed else 0


def _workflows(count: int, options: argparse.Namespace) -> int:
    """Run so many worlds of workflows. Print how to run those again that failed, and how to keep them."""
    progress = fresh_worlds.Progress(options.seed or fresh_worlds.drawn_seed())
    if options.resume is not None:
        progress = fresh_worlds.resumed(options.resume, progress.seed)
    sys.stderr.write(f"workflows of seed {progress.seed}, from {progress.worlds} on\n")
    one = partial(workflow_worlds.simulate_one, most=options.most)
    seeds = [options.seed] if count == 1 else workflow_worlds.seeds(progress.seed, count)
    with fresh_worlds.several(one, options.jobs) as run_all:
        while batch := seeds[progress.worlds :][: fresh_worlds.BATCH * options.jobs]:
            for result in run_all(batch):
                progress.add(result)
            if options.resume is not None:
                fresh_worlds.save(options.resume, progress)
            failed = f", {len(progress.failed)} failed" if progress.failed else ""
            sys.stderr.write(f"{progress.worlds:,} of {count:,} worlds of workflows{failed}\n")
    if options.resume is not None:
        options.resume.unlink(missing_ok=True)
    sys.stdout.write(table(progress.counts))
    for name, law in progress.failed.items():
        sys.stdout.write(f"{law}\n  {workflow_worlds.how_to_keep(name, options.most)}\n")
    return 1 if progress.failed else 0


def spread(seed: str, days: float) -> Iterator[World]:
    """Yield worlds that together last for so many days, each for as long as its schedule says."""
    number, left = 0, days
    while left > 0:
        name = f"{seed}.{number}"
        lasts = min(drawn_schedule(Scenario(name)).days, left)
        yield World(name, lasts)
        number, left = number + 1, left - lasts


def _run_all(worlds: Iterator[World], days: float, jobs: int) -> Counter[str]:
    """Run worlds, several at once, and add up their counts. Raises Failed."""
    if jobs == 1:
        return _added(map(_run_world, worlds), days)
    with get_context("fork").Pool(jobs) as pool:
        return _added(pool.imap_unordered(_run_world, worlds), days)


def _added(outcomes: Iterable[tuple[Outcome, float]], days: float) -> Counter[str]:
    counts, begun, reported = Counter[str](), time.monotonic(), time.monotonic()
    done = spent = 0.0
    for outcome, seconds in outcomes:
        counts.update(outcome.counts)
        counts["worlds"] += 1
        done, spent = done + outcome.days, spent + seconds
        if time.monotonic() - reported >= PROGRESS_EVERY:
            reported = time.monotonic()
            sys.stderr.write(f"{done:,.0f} of {days:,.0f} days in {reported - begun:.0f} s\n")
    counts["days"], counts["CPU seconds"] = round(done), round(spent)
    return counts


def _run_world(world: World) -> tuple[Outcome, float]:
    begun = time.process_time()
    outcome = simulate_world(world.seed, world.days, world.only)
    return outcome, time.process_time() - begun


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__.partition(":")[0])
    parser.add_argument("--days", type=float, default=30.0, help="days, in all worlds together (30)")
    parser.add_argument(
        "--seed", default="", help="decides all that happens (1; with --busy a new one each time)"
    )
    parser.add_argument(
        "--busy", type=int, default=0, metavar="DAYS",
        help="run fresh worlds until they had so many busy days; failures are listed at the end",
    )  # fmt: skip
    parser.add_argument(
        "--resume", type=Path, metavar="FILE",
        help="with --busy: keep the progress in this file, resume from it, and remove it at the end",
    )  # fmt: skip
    parser.add_argument(
        "--worlds",
        type=int,
        default=0,
        help="share the days among so many worlds; with 1, run the world of that seed",
    )
    parser.add_argument(
        "--workflows", type=int, default=0, metavar="COUNT",
        help="run so many fresh worlds of workflows, with --resume as above; with 1, the world of that seed",
    )  # fmt: skip
    parser.add_argument("--most", type=int, default=200, help="with --workflows: agents of one plan (200)")
    parser.add_argument("--jobs", type=int, default=1, help="how many worlds at once (1)")
    parser.add_argument(
        "--only", help="run the one world of the seed and allow only these events: names, by commas"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
