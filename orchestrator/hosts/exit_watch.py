"""Reporting at once when a process ends."""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from orchestrator.hosts.processes import Process, alive
from orchestrator.model.errors import Unavailable

_LOG: Final = logging.getLogger(__name__)


class ExitWatch:
    """A thread that calls `ended(run)` when the process of a run is gone: once for each run that was added.

    It waits on pidfds, which report an exit in 0.4 ms; without them (macOS, or no descriptor is free), it looks every
    `every` seconds. `ended` is called on that thread and should only pass the message on.
    """

    def __init__(self, ended: Callable[[str], None], *, every: float = 0.5) -> None:
        self._ended = ended
        self._every = every
        self._lock = threading.Lock()
        self._watched: dict[str, tuple[Process, int]] = {}  # with the pidfd, or -1
        # Closed by the thread between two polls: otherwise a number found ready could belong to another file.
        self._done_with: list[int] = []
        self._poll = select.poll()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._poll.register(self._woken, select.POLLIN)
        self._looked = 0.0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="exit-watch", daemon=True)
        self._thread.start()

    def add(self, run: str, process: Process) -> None:
        """Watch a process, in place of the run's earlier one. A process that is gone already is reported too."""
        descriptor = _pidfd(process)
        with self._lock:
            self._forget(run)
            if self._closing:
                self._done_with += [descriptor] if descriptor >= 0 else []
                self._close_done()
                return
            self._watched[run] = (process, descriptor)
            if descriptor >= 0:
                self._poll.register(descriptor, select.POLLIN)
            else:
                self._looked = 0.0  # it may be gone already: look now
            self._nudge()

    def remove(self, run: str) -> None:
        """Stop watching a run; no error if it is not watched. It is not reported after that."""
        with self._lock:
            self._forget(run)
            self._nudge()

    def close(self) -> None:
        """End the thread and close every descriptor. Must not be called from `ended`."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            # The end of the pipe wakes the thread; a byte written into it might fail.
            os.close(self._wake)
            self._wake = -1
        self._thread.join()
        with self._lock:
            for run in list(self._watched):
                self._forget(run)
            self._close_done()
            os.close(self._woken)

    def _forget(self, run: str) -> None:
        """Drop a run; the lock is held."""
        _, descriptor = self._watched.pop(run, (None, -1))
        if descriptor >= 0:
            self._poll.unregister(descriptor)
            self._done_with.append(descriptor)

    def _close_done(self) -> None:
        """Close descriptors that are no longer watched; the lock is held."""
        for descriptor in self._done_with:
            os.close(descriptor)
        self._done_with.clear()

    def _nudge(self) -> None:
        """Wake the thread; the lock is held."""
        with suppress(OSError):  # the pipe is full, or closed: the thread wakes or has ended
            os.write(self._wake, b"!")

    def _run(self) -> None:
        while True:
            ready = {descriptor for descriptor, _ in self._poll.poll(self._patience())}
            if self._woken in ready:
                os.read(self._woken, 4096)
            with self._lock:
                if self._closing:
                    return
                gone = self._gone(ready)
                for run in gone:
                    self._forget(run)
                self._close_done()
            for run in gone:
                self._report(run)

    def _gone(self, ready: set[int]) -> list[str]:
        """Return the runs that ended; the lock is held."""
        look = time.monotonic() - self._looked >= self._every
        if look:
            self._looked = time.monotonic()
        return [
            run
            for run, (process, descriptor) in self._watched.items()
            if (descriptor in ready if descriptor >= 0 else look and _ended(process))
        ]

    def _patience(self) -> float | None:
        """Return how many milliseconds may pass before the next look, or None for no limit."""
        with self._lock:
            by_looking = any(descriptor < 0 for _, descriptor in self._watched.values())
        return self._every * 1000 if by_looking else None

    def _report(self, run: str) -> None:
        try:
            self._ended(run)
        except Exception:  # noqa: BLE001 (the outermost loop of this thread)
            _LOG.exception("the end of run %s could not be passed on", run)


def _pidfd(process: Process) -> int:
    """Return a descriptor of exactly this process; -1 if there is none available."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # gone, or no descriptor is free: a look will show
        return -1
    if _ended(process):
        os.close(descriptor)
        return -1
    return descriptor


def _ended(process: Process) -> bool:
    """Return whether a process is certainly gone."""
    try:
        return not alive(process)
    except (OSError, Unavailable):
        return False
