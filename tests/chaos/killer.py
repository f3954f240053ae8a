"""The daemon, hit at its Nth change of the world: `python tests/chaos/killer.py HOW N [COUNT-FILE]`.

A change is a write, an fsync, a file made, a name moved or removed, a folder made, a program started (tmux, git).
HOW is a signal (`KILL`, `TERM`), sent ahead of the change; or an error (`ENOSPC`, `EIO`, `EMFILE`), which the change
fails with instead. `TERM*2` and `EIO*30` hit that many changes in a row. Killed in a write, half of it may be done; a
program may have been started or not. With N = 0 nothing is hit. COUNT-FILE is told how many changes there were.
"""

from __future__ import annotations

import errno
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVENTS = frozenset({"os.rename", "os.link", "os.symlink", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"})
"""Told by the interpreter itself, whichever function makes the change."""

CALLS = ("fsync", "fdatasync")
"""Of which it tells nothing; nor of `write`."""


MARK = b"a change was made to fail\n"
"""What it says in the daemon's log when it hits by an error: a change that was never reached proves nothing."""

_WRITE = os.write


class Killer:
    """Counts, over all threads, and hits at the chosen moments."""

    def __init__(self, how: str, at: int) -> None:
        name, _, times = how.partition("*")
        self.count = 0
        self.number = signal.Signals[f"SIG{name}"] if f"SIG{name}" in signal.Signals.__members__ else None
        self.error = 0 if self.number else getattr(errno, name)
        self._moments = range(at, at + int(times or 1)) if at else range(0)
        self._lock = threading.Lock()

    def due(self) -> bool:
        """Count one moment, and tell whether it is a chosen one."""
        with self._lock:
            self.count += 1
            return self.count in self._moments

    def moment(self) -> None:
        """Count one moment, and hit if it is a chosen one."""
        if self.due():
            self.hit()

    def hit(self) -> None:
        """Signal this process, or fail."""
        if self.number is None:
            _WRITE(2, MARK)
            raise OSError(self.error, os.strerror(self.error))
        os.kill(os.getpid(), self.number)


def install(killer: Killer) -> None:
    """Put the killer before every change that this process makes."""

    def on_event(event: str, details: tuple[Any, ...]) -> None:
        if event in EVENTS or (event == "open" and details[2] & os.O_CREAT and not _cached(details[0])):
            killer.moment()

    def before(call: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*words: Any, **named: Any) -> Any:
            killer.moment()
            return call(*words, **named)

        return changed

    for name in CALLS:
        setattr(os, name, before(getattr(os, name)))

    write, started = os.write, subprocess.Popen.__init__

    def half_written(descriptor: int, data: bytes) -> int:
        if not killer.due():
            return write(descriptor, data)
        written = write(descriptor, bytes(data)[: len(data) // 2])
        killer.hit()
        return written  # a short write is the caller's to go on with

    def start(self: subprocess.Popen[Any], *words: Any, **named: Any) -> None:
        killer.moment()
        started(self, *words, **named)
        if killer.number is not None:
            killer.moment()

    os.write = half_written  # type: ignore[assignment]
    subprocess.Popen.__init__ = start  # type: ignore[method-assign]
    sys.addaudithook(on_event)


def _cached(path: object) -> bool:
    """Tell whether this is the interpreter's own cache: what it writes there differs from run to run."""
    return "__pycache__" in str(path)


def main() -> None:
    killer = Killer(sys.argv[1], int(sys.argv[2]))
    counted = [Path(name) for name in sys.argv[3:]]
    sys.argv[1:] = []
    if killer.error:
        from orchestrator.daemon import task

        task.REST = 0.2  # type: ignore[misc]
    install(killer)
    try:
        runpy.run_module("orchestrator.daemon", run_name="__main__")
    finally:
        for path in counted:
            path.write_text(str(killer.count))


if __name__ == "__main__":
    main()
