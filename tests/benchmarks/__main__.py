"""`scripts/bench`: measures what was asked for and prints a table."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from tests.benchmarks import (
    checkin,
    deciding,
    handoff,
    idle,
    panes,
    restart,
    runs,
    scribing,
    status,
)
from tests.benchmarks.bench import Bench
from tests.benchmarks.row import Row
from tests.benchmarks.table import heading, lines, machine, say

BENCHMARKS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "status": status.rows,
    "handoff": handoff.rows,
    "runs": runs.rows,
    "idle": idle.rows,
    "scribe": scribing.rows,
    "panes": panes.rows,
    "decide": deciding.rows,
    "restart": restart.rows,
    "checkin": checkin.rows,
}
INTERRUPTED = 130


def main() -> int:
    """Measure; a number that misses its target is told, and is no failure."""
    options = _options()
    signal.signal(signal.SIGTERM, _interrupt)
    began, told = time.monotonic(), list[dict[str, object]]()
    here = machine()
    say(f"{here}\n\n{heading()}")
    try:
        for name in options.names or BENCHMARKS:
            bench = Bench(options.runs)
            bench.progress.name = name
            for row in BENCHMARKS[name](bench):
                bench.progress.clear()
                told.append({"benchmark": name, **row.shape()})
                for line in lines(row):
                    say(line)
            bench.progress.clear()
    except KeyboardInterrupt:
        say("\ninterrupted; everything that was started has ended")
        return INTERRUPTED
    finally:
        if options.json:
            document = {"machine": here, "rows": told}
            options.json.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    missed = sum(each["met"] is False for each in told)
    say(f"\n{len(told)} rows in {time.monotonic() - began:.0f} s, {missed or 'none'} missed")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("scripts/bench", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "names", metavar="NAME", nargs="*", choices=[[], *BENCHMARKS], help=f"of {', '.join(BENCHMARKS)}; by default all"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the rows as one JSON document")
    parser.add_argument("--runs", metavar="N", type=_count, help="samples of each row; each has its own usual number")
    return parser.parse_args()


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


if __name__ == "__main__":
    sys.exit(main())
