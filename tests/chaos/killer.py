"""The daemon, signalled at its Nth change of the world: `python tests/chaos/killer.py SIGNAL N [COUNT-FILE]`.

A change is a write, an fsync, a name made, moved or removed, or a program started (tmux, git). By KILL it dies
before the change; of a write half may be done; a program may have been started or not. With N = 0 it lives,
and writes into COUNT-FILE how many changes there were.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLS = ("fsync", "rename", "replace", "link", "unlink", "mkdir", "ftruncate")


class Killer:
    """Counts, over all threads, and signals at the chosen moment."""

    def __init__(self, number: signal.Signals, at: int) -> None:
        self.count = 0
        self.number = number
        self._at = at
        self._lock = threading.Lock()

    def due(self) -> bool:
        """Count one moment, and tell whether it is the chosen one."""
        with self._lock:
            self.count += 1
            return self.count == self._at

    def moment(self) -> None:
        """Count one moment, and signal if it is the chosen one."""
        if self.due():
            self.signal()

    def signal(self) -> None:
        """Signal this process."""
        os.kill(os.getpid(), self.number)


def install(killer: Killer) -> None:
    """Put the killer before every change that this process makes."""

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
        killer.signal()
        return written  # a short write is the caller's to go on with

    def start(self: subprocess.Popen[Any], *words: Any, **named: Any) -> None:
        killer.moment()
        started(self, *words, **named)
        killer.moment()

    os.write = half_written  # type: ignore[assignment]
    subprocess.Popen.__init__ = start  # type: ignore[method-assign]


def main() -> None:
    killer = Killer(signal.Signals[f"SIG{sys.argv[1]}"], int(sys.argv[2]))
    counted = [Path(name) for name in sys.argv[3:]]
    sys.argv[1:] = []
    install(killer)
    try:
        runpy.run_module("orchestrator.daemon", run_name="__main__")
    finally:
        for path in counted:
            path.write_text(str(killer.count))


if __name__ == "__main__":
    main()
