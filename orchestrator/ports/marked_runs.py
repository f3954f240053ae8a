"""Runs of a task that nobody knows any more: their processes live, and the folder that told of them is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class MarkedRun:
    """A run of which a process lives here. `launcher` is its mark, `folder` its own folder, as its environment says."""

    run: str
    launcher: str
    folder: Path


class MarkedRuns(Protocol):
    """Finds the runs of a task by their processes alone."""

    def of_task(self, task: Path) -> list[MarkedRun]:
        """Return the runs for a task's folder in its project of which anything lives on this machine."""
        ...

    def end(self, run: MarkedRun) -> bool:
        """Kill all processes of a run; return whether none is left."""
        ...


class NoMarkedRuns:
    """Where processes show no environment, none is found."""

    def of_task(self, task: Path) -> list[MarkedRun]:
        """Return nothing."""
        del task
        return []

    def end(self, run: MarkedRun) -> bool:
        """Do nothing."""
        del run
        return True
