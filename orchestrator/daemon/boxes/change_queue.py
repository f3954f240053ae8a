"""Changes that a box reported and that nobody has looked at yet, and the pace at which they are taken.

A box with constant changes must not keep the daemon busy all the time: what it causes is counted as processor time, and
beyond its allowance a round is put off for a moment, in which more changes gather for it.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Final

from orchestrator.hosts.ssh.allowance import Allowance
from orchestrator.hosts.ssh.channel import ChannelEvent, Part
from orchestrator.ports.boxes import RemoteTask

AT_ONCE: Final = 5.0
SHARE: Final = 0.25
LATEST: Final = 1.0
"""Seconds of processor time that a box may cause at once, the share of a processor that it may cause in the long run,
and the longest postponement of a round for that, in seconds. Waiting for a slow box counts for nothing."""


def processor_time() -> float:
    """Return the processor time of this thread, and of all child processes that have ended, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


class ChangeQueue:
    """The changes on one box. Any thread may `put`, one takes. `steady` returns seconds that never go back."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._events: SimpleQueue[frozenset[ChannelEvent] | None] = SimpleQueue()
        self._urgent = threading.Event()
        self._pace = Allowance(AT_ONCE, SHARE, wait=LATEST)

    def put(self, events: frozenset[ChannelEvent] | None) -> None:
        """Add changes; None: everything may have changed. Bulk files give way to all but their own."""
        self._events.put(events)
        if events is None or any(event.part is not Part.ARTIFACTS for event in events):
            self._urgent.set()

    def take(self, patience: float) -> set[ChannelEvent] | None:
        """Return a burst of changes; None: all may have changed. It waits `patience` seconds at most for the first."""
        changes, everything = set[ChannelEvent](), False
        # Ahead of each look: an event that comes behind the last one stays urgent.
        self._urgent.clear()
        try:
            events = self._events.get(timeout=max(0.0, patience))
            while True:
                everything |= events is None
                changes |= events or frozenset()
                self._urgent.clear()
                pause = 0.0 if everything else self.pause
                events = self._events.get(timeout=pause) if pause > 0 else self._events.get_nowait()
        except Empty:
            pass
        return None if everything else changes

    def is_urgent(self) -> bool:
        """Return whether something has changed since the last `take` that bulk files give way to."""
        return self._urgent.is_set()

    def is_empty(self) -> bool:
        """Return whether nothing has changed since the last `take`."""
        return self._events.empty()

    def spend(self, seconds: float) -> None:
        """Count processor time that changes have caused."""
        self._pace.spend(seconds, self._steady())

    @property
    def pause(self) -> float:
        """For how many seconds the next round is put off now."""
        return self._pace.pause(self._steady())


def tasks_having(
    remote_tasks: Sequence[RemoteTask], news: set[ChannelEvent] | None, *parts: Part
) -> list[RemoteTask]:
    """Return the tasks of which one of these parts has changed; all if all may have."""
    return [
        remote_task
        for remote_task in remote_tasks
        if news is None or any(ChannelEvent(remote_task.task, part) in news for part in parts)
    ]
