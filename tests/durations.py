"""Writes the page of the slowest tests from pytest's own record: `python -m tests.durations RECORD >PAGE`.

The record is made by `scripts/test tests -- --junitxml=RECORD`.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SHOWN: Final = 50


@dataclass(frozen=True)
class Timed:
    """One test: its folder below `tests`, its name with its file, and how many seconds it took."""

    folder: str
    name: str
    seconds: float


def timed(record: Path) -> list[Timed]:
    """Return the tests of a record, the slowest first."""
    found = []
    for case in ET.parse(record).iter("testcase"):
        parts = (case.get("classname") or "").removeprefix("tests.").split(".")
        found.append(Timed(parts[0], f"{'/'.join(parts)}::{case.get('name')}", float(case.get("time") or 0)))
    return sorted(found, key=lambda each: -each.seconds)


def page(tests: list[Timed], machine: str) -> str:
    """Return the page: what each folder takes, and the slowest tests."""
    counts, seconds = (
        Counter(each.folder for each in tests),
        dict.fromkeys((each.folder for each in tests), 0.0),
    )
    for each in tests:
        seconds[each.folder] += each.seconds
    lines = [
        "# The slowest tests",
        "",
        f"Of one run of `.ci/run`, {machine}. Seconds are of one worker of two. `scripts/test nightly` runs what takes",
        "longer. This page is made by `python -m tests.durations`.",
        "",
        "| folder | tests | seconds |",
        "|---|---|---|",
        *(
            f"| `tests/{folder}` | {counts[folder]:,} | {took:.0f} |"
            for folder, took in sorted(seconds.items(), key=lambda each: -each[1])
        ),
        f"| all | {len(tests):,} | {sum(seconds.values()):.0f} |",
        "",
        "| seconds | test |",
        "|---|---|",
        *(f"| {each.seconds:.0f} | `{each.name.replace('|', ' ')}` |" for each in tests[:SHOWN]),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(timed(Path(sys.argv[1])), " ".join(sys.argv[2:]) or "on two cores"))
