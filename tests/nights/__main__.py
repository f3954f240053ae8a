"""`scripts/nights`: runs nights, judges them, prints the table; exits with 1 if one does not go as it says it must."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from tests.clis.pinned import default_cache, why_missing
from tests.nights.catalogue import nights
from tests.nights.judging.table import as_markdown, as_text, troubles, unchecked
from tests.nights.judging.verdict import Verdict, judge
from tests.nights.night import Night
from tests.nights.observation import Observation, kept
from tests.nights.running import OBSERVATION, not_measured, run_named


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for."""
    options = _options(words)
    there = nights()
    if unknown := [name for name in options.names if name not in there]:
        print(f"there is no night {', '.join(unknown)}; --list names them", file=sys.stderr)
        return 2
    chosen = [there[name] for name in options.names or there]
    if options.ci:
        chosen = [night for night in chosen if night.in_ci]
    if options.list:
        print("\n".join(f"{night.name:28} {night.about.splitlines()[0]}" for night in chosen))
        return 0
    os.environ.setdefault("ORCHESTRATOR_CLIS", str(default_cache()))
    missing = {pin: why for night in chosen for pin in night.pins if (why := why_missing(pin))}
    if missing and not options.judge:
        print("\n".join(missing.values()), file=sys.stderr)
        return 2
    judged = [(night, judge(night, seen)) for night, seen in _seen(chosen, options)]
    judged.sort(key=lambda pair: pair[0].name)
    _print(judged, options)
    return 0 if all(verdict.passed for _, verdict in judged) else 1


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/nights", description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these nights; all of them without a name")
    parser.add_argument("--list", action="store_true", help="name them and run none")
    parser.add_argument("--ci", action="store_true", help="only those that run in CI")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many at once (1)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep what was seen, and the nights' folders, there"
    )
    parser.add_argument("--judge", type=Path, metavar="DIR", help="run none: judge what --keep kept there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts there")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    return parser.parse_args(words)


def _seen(chosen: list[Night], options: argparse.Namespace) -> list[tuple[Night, Observation]]:
    if options.judge:
        found = [(night, options.judge / night.name / OBSERVATION) for night in chosen]
        return [(night, kept(path)) for night, path in found if path.exists()]
    with ProcessPoolExecutor(options.jobs, max_tasks_per_child=1) as pool:
        running = {pool.submit(run_named, night.name, options.keep): night for night in chosen}
        done = []
        for each in as_completed(running):
            night = running[each]
            try:
                seen = each.result()
            except Exception as fault:  # noqa: BLE001 - the other nights go on
                seen = not_measured(night, f"{type(fault).__name__}: {fault}")
            done.append((night, seen))
            verdict = judge(night, seen)
            print(f"{night.name}: {word(verdict)} ({verdict.took:.0f} s)", file=sys.stderr, flush=True)
    return done


def word(verdict: Verdict) -> str:
    """Return in a word how a night went; one that could not be watched did not fail."""
    if verdict.passed:
        return "as it must"
    return f"NOT as it must: {len(verdict.failures)} things" if verdict.failures else "not measured"


def _print(judged: list[tuple[Night, Verdict]], options: argparse.Namespace) -> None:
    print(as_markdown(judged) if options.markdown else as_text(judged))
    print("\n".join(troubles(judged)))
    if nothing := unchecked(judged):
        print(f"\nno sentence was there to look at for: {', '.join(nothing)}")
    if options.json:
        options.json.write_text(json.dumps([asdict(verdict) for _, verdict in judged], indent=1, default=str))


if __name__ == "__main__":
    sys.exit(main())
