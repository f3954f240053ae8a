"""What a person sees: the machine, a line per row as soon as it is known, and how far a measurement is."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.benchmarks.row import Row

_LINE = "{:<62} {:>9} {:>9} {:>9} {:>7}  {:<13} {}"
_MET = {True: "yes", False: "NO", None: ""}


def machine() -> str:
    """Return what the numbers depend on."""
    tmux = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {tmux}, load {load}"
    )


def heading() -> str:
    return _LINE.format("what", "floor", "median", "p99", "ratio", "reach", "met").rstrip()


def lines(row: Row) -> Iterable[str]:
    """Yield the row, and beneath it what it is held against."""
    floor, ratio = row.floor_median, row.ratio
    yield _LINE.format(
        f"{row.what}, {row.unit}",
        "" if floor is None else _number(floor),
        _number(row.median),
        _number(row.p99),
        "" if ratio is None else _number(ratio),
        str(row.reach or ""),
        _MET[row.met],
    ).rstrip()
    reported = [f"floor: {row.floor_is}, p99 {_number(row.floor_p99)}"] if row.floor_p99 is not None else []
    reported += [row.note] if row.note else []
    yield f"    {len(row.samples)} samples" + "".join(f"; {each}" for each in reported)


def say(text: str = "") -> None:
    """Print a line of the result."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass
class Progress:
    """One line on standard error that tells how far it is; nothing where nobody looks at a terminal."""

    name: str = ""
    _shown: bool = field(default_factory=sys.stderr.isatty)

    def show(self, text: str) -> None:
        if self._shown:
            sys.stderr.write(f"\r\033[K{self.name}: {text} …")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _number(value: float) -> str:
    """Return three digits that count, or all before the point."""
    if value >= 100 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"
