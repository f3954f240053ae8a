"""What is measured in a soak, and whether it grows."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from tests.integration.daemon.world import World

_TICKS = os.sysconf("SC_CLK_TCK")
QUARTERS = 4


@dataclass(frozen=True)
class Measure:
    """One row: its unit, by how much it may be higher at the end than at first (a share, and a number), and why.

    Without `share` it grows by its nature, and is told per life of an agent.
    """

    unit: str
    share: float | None = None
    slack: float = 0.0


MEASURES = {
    "daemon: memory": Measure("MB", 0.25, 8),
    "daemon: threads": Measure("", 0.0, 4),
    "daemon: open files": Measure("", 0.25, 12),
    "daemon: processor time per life": Measure("ms", 0.5, 40),
    "processes": Measure("", 0.25, 40),
    "panes": Measure("", 0.25, 40),
    "worktrees": Measure("", 0.25, 12),
    "temporary files": Measure("", 0.0, 8),
    "requests and replies": Measure("", 0.25, 20),
    "daemon.log": Measure("kB", 0.25, 600),
    "PM's logs": Measure("kB", 0.25, 2600),
    "logs of runs, packed": Measure("kB", 0.25, 2000),
    "logs of runs, unpacked": Measure("kB", 0.25, 6000),
    "journals": Measure("kB"),
    "states shown": Measure("kB"),
    "run folders": Measure(""),
    "kept refs": Measure(""),
}


@dataclass
class Samples:
    """Samples of a world. `lives` counts how many agents had begun."""

    world: World
    at: list[float] = field(default_factory=list)
    lives: list[int] = field(default_factory=list)
    rows: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in MEASURES})
    _cpu: tuple[int, float, int] = (0, 0.0, 0)

    def take(self) -> None:
        """Take one sample; none while the daemon is down."""
        pid = self.world.pid
        with suppress(OSError, subprocess.SubprocessError):
            found = self._found(pid) if pid else None
            if found is not None:
                self.at.append(time.monotonic())
                self.lives.append(len(self.world.lives))
                for name, value in found.items():
                    self.rows[name].append(value)

    def _found(self, pid: int) -> dict[str, float]:
        status = Path(f"/proc/{pid}/status").read_text()
        tasks = self.world.state / "tasks"
        runs = [*tasks.glob("*/runs/*")]
        logs = [*tasks.glob("*/pm.log*")]
        return {
            "daemon: memory": _number(status, "VmRSS") / 1024,
            "daemon: threads": _number(status, "Threads"),
            "daemon: open files": len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208
            "daemon: processor time per life": self._cpu_per_life(pid),
            "processes": len(self.world.processes()),
            "panes": len(_lines(lambda: self.world.tmux.tmux("list-panes", "-a", "-F", "#{pane_id}"))),
            "worktrees": sum(1 for path in (self.world.state / "worktrees").glob("*/*") if path.is_dir()),
            # By os.walk: folders go while it looks.
            "temporary files": sum(
                name.startswith(".tmp-") for _, _, files in os.walk(self.world.state) for name in files
            ),
            "requests and replies": sum(1 for _ in tasks.glob("*/requests/*")),
            "daemon.log": _size(self.world.state.glob("daemon.log*")) / 1000,
            "PM's logs": _size(logs) / 1000,
            "logs of runs, packed": _size(tasks.glob("*/runs/*/pane.log.gz")) / 1000,
            "logs of runs, unpacked": _size(tasks.glob("*/runs/*/pane.log")) / 1000,
            "journals": _size(tasks.glob("*/journal/*")) / 1000,
            "states shown": _size(tasks.glob("*/state.json")) / 1000,
            "run folders": len(runs),
            "kept refs": len(_lines(lambda: self.world.git("for-each-ref", "refs/tasks"))),
        }

    def _cpu_per_life(self, pid: int) -> float:
        """Return what the daemon has used since the last sample, in ms per agent that began; as before if none did."""
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        used, lives = (int(fields[11]) + int(fields[12])) / _TICKS, len(self.world.lives)
        before, self._cpu = self._cpu, (pid, used, lives)
        earlier = self.rows["daemon: processor time per life"]
        if before[0] != pid or lives == before[2]:
            return earlier[-1] if earlier else 0.0
        return 1000 * (used - before[1]) / (lives - before[2])

    def table(self) -> tuple[list[str], list[str]]:
        """Return the rows of the table, and what grows."""
        head = (
            f"{'first':>9} {'2nd quarter':>12} {'last quarter':>12} {'last':>9} {'most':>9} {'per hour':>9}"
        )
        lines = [f"{'measure':34} {head}"]
        growing = []
        for name, measure in MEASURES.items():
            values = self.rows[name]
            if len(values) < QUARTERS:
                continue
            quarter = len(values) // QUARTERS
            early, late = fmean(values[quarter : 2 * quarter]), fmean(values[-quarter:])
            verdict = "flat"
            if measure.share is None:
                lives = max(1, self.lives[-1] - self.lives[0])
                verdict = f"{(values[-1] - values[0]) / lives:+.2f} per life"
            elif late > early * (1 + measure.share) + measure.slack:
                verdict = "GROWS"
                growing.append(name)
            label = f"{name} ({measure.unit})" if measure.unit else name
            lines.append(
                f"{label:34} {values[0]:9.1f} {early:12.1f} {late:12.1f} {values[-1]:9.1f} {max(values):9.1f} "
                f"{self._slope(values):+9.1f} {verdict}"
            )
        return lines, growing

    def _slope(self, values: list[float]) -> float:
        """Return by how much a value rises in an hour, from its second quarter on: the line nearest to it."""
        start = len(values) // QUARTERS
        times, found = [at / 3600 for at in self.at[start:]], values[start:]
        middle, mean = fmean(times), fmean(found)
        spread = sum((at - middle) ** 2 for at in times)
        return sum((at - middle) * (value - mean) for at, value in zip(times, found, strict=True)) / (
            spread or 1
        )


def _number(status: str, key: str) -> float:
    found = re.search(rf"^{key}:\s+([0-9]+)", status, re.MULTILINE)
    return float(found[1]) if found else 0.0


def _size(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def _lines(asked: Callable[[], str]) -> list[str]:
    with suppress(subprocess.SubprocessError):
        return [line for line in asked().splitlines() if line]
    return []
