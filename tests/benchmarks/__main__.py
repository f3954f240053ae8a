"""Measures how fast this is, against floors taken in the same run, and prints a table."""

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
    box_promises,
    boxes,
    checkin,
    clis,
    cluster,
    deciding,
    dependents,
    handoff,
    idle,
    large,
    loaded,
    observing,
    over,
    panes,
    parallel,
    reporting,
    restart,
    runs,
    scribing,
    serving,
    spawn,
    status,
    stopping,
    verbs,
    watching,
    workflows,
)
from tests.benchmarks.bench import Bench
from tests.benchmarks.row import Row
from tests.benchmarks.table import Progress, heading, lines, machine, say

BENCHMARKS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "status": status.rows,
    "verbs": verbs.rows,
    "handoff": handoff.rows,
    "runs": runs.rows,
    "idle": idle.rows,
    "cluster": cluster.rows,
    "spawn": spawn.rows,
    "scribe": scribing.rows,
    "panes": panes.rows,
    "stop": stopping.rows,
    "decide": deciding.rows,
    "restart": restart.rows,
    "checkin": checkin.rows,
    "large": large.rows,
    "parallel": parallel.rows,
    "over": over.rows,
    "clis": clis.rows,
    "boxes": boxes.rows,
    "box-promises": box_promises.rows,
    "loaded": loaded.rows,
    "workflow": workflows.rows,
    "dependents": dependents.rows,
    "observe": observing.rows,
    "report": reporting.rows,
    "watch": watching.rows,
    "serve": serving.rows,
}
INTERRUPTED = 130


def main() -> int:
    """Measure. A number that misses its target is told, and is no failure; what could not be measured is one."""
    options = _options()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    began, reported, failed = time.monotonic(), list[dict[str, object]](), list[str]()
    here = machine()
    say(f"{here}\n\n{heading()}")
    try:
        for name in options.names or BENCHMARKS:
            bench = Bench(options.runs, options.agents, Progress(name))
            try:
                for row in BENCHMARKS[name](bench):
                    _show(bench, row)
                    reported.append({"benchmark": name, **row.shape()})
            except Exception as error:  # noqa: BLE001 (the outermost loop: the others may still be measured)
                bench.progress.clear()
                failed.append(name)
                say("\n".join([f"{name} could not be measured: {error}", *getattr(error, "__notes__", [])]))
            bench.progress.clear()
    except KeyboardInterrupt:
        say("\ninterrupted; everything that was started has ended")
        return INTERRUPTED
    finally:
        if options.json:
            _write(options.json, {"machine": here, "rows": reported, "failed": failed})
    missed = sum(each["met"] is False for each in reported)
    say(f"\n{len(reported)} rows in {time.monotonic() - began:.0f} s, {missed or 'none'} missed")
    return 1 if failed else 0


def _show(bench: Bench, row: Row) -> None:
    bench.progress.clear()
    for line in lines(row):
        say(line)


def _write(path: Path, document: dict[str, object]) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("scripts/bench", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        type=_name,
        help=f"what to measure: {', '.join(BENCHMARKS)}; by default all",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the rows as one JSON document")
    parser.add_argument(
        "--runs", metavar="N", type=_count, help="samples of each row; each has its own usual number"
    )
    parser.add_argument(
        "--agents", metavar="N", type=_count, default=Bench.agents, help="how many rest; usually %(default)s"
    )
    if sys.platform != "linux":
        parser.error("measures by inotify, pidfds and /proc: that needs Linux")
    return parser.parse_args()


def _name(text: str) -> str:
    if text not in BENCHMARKS:
        raise argparse.ArgumentTypeError(f"there is no {text}: choose of {', '.join(BENCHMARKS)}")
    return text


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


if __name__ == "__main__":
    sys.exit(main())
