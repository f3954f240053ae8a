"""Host monitors by box: the part of the port `Boxes` that needs no waiting, independent of how monitors are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from orchestrator.daemon.boxes.host_monitor import HostMonitor
from orchestrator.daemon.boxes.task_files import TaskGate

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.boxes import Belief, RemoteTask, Sighting, TransferFailure
    from orchestrator.ports.host import Host

K = TypeVar("K", bound=HostMonitor)


class HostRegistry(ABC, Generic[K]):
    """The part of the port `Boxes` that only reads or notes something, and never blocks."""

    def __init__(self) -> None:
        self._monitors: dict[str, K] = {}
        self._gates: dict[str, TaskGate] = {}

    @abstractmethod
    def _monitor(self, box: str) -> K:
        """Return the monitor of a box; a box that is named for the first time gets one."""

    def keep(self, task: str, remote_tasks: tuple[RemoteTask, ...]) -> None:
        """Record what a task has on boxes."""
        if remote_tasks:
            self._gate(task).open()
        for box in sorted({remote_task.box for remote_task in remote_tasks} | set(self._monitors)):
            self._monitor(box).keep(
                task, tuple(remote_task for remote_task in remote_tasks if remote_task.box == box)
            )

    def release(self, task: str) -> bool:
        """Change no file of a task here any more; return False if one is being changed, and nothing was done."""
        gate = self._gates.get(task)
        return gate is None or gate.close()

    def _gate(self, task: str) -> TaskGate:
        """Return what lets the changes of a task's files pass."""
        return self._gates.setdefault(task, TaskGate(task))

    def seen(self, box: str, folder: Path) -> Sighting | None:
        """Return what was last seen of a run."""
        monitor = self._monitors.get(box)
        return monitor.seen(folder) if monitor else None

    def belief(self, box: str, task: str = "") -> Belief | None:
        """Return the believed state of a box; with a task, whether anything is known of its runs there."""
        monitor = self._monitors.get(box)
        if monitor is None:
            return None
        return monitor.belief_for(task) if task else monitor.belief

    def troubles(self, box: str, task: str) -> tuple[TransferFailure, ...]:
        """Return what of a task cannot be fetched from a box."""
        monitor = self._monitors.get(box)
        return monitor.troubles.of(task) if monitor else ()

    def hurry(self, box: str) -> None:
        """Have a box looked at now."""
        if monitor := self._monitors.get(box):
            monitor.hurry()

    def call_again(self) -> None:
        """Retry every lost box, and every failed transfer."""
        for monitor in list(self._monitors.values()):
            monitor.call_again()

    def host(self, box: str) -> Host:
        """Return a box as a host."""
        return self._monitor(box).ways.host
