"""The processes of a pod, on this machine: a program at a terminal of its own, and all that it leaves behind."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

UID = "TEST_POD_UID"
"""Every process of a pod has this in its environment; its value is the pod's uid."""


class Container:
    """One container that runs, with its terminal. `on_end` gets its exit status, or minus a signal."""

    def __init__(self, spec: Mapping[str, Any], uid: str, node: str, on_end: Callable[[int], None]) -> None:
        self._uid = uid
        self._master, slave = pty.openpty()
        self._sinks: list[Callable[[bytes], None]] = []
        self._lock = threading.Lock()
        self.environ = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", UID: uid}
        for each in spec.get("env", ()):
            from_field = (each.get("valueFrom") or {}).get("fieldRef")
            self.environ[each["name"]] = node if from_field else each.get("value", "")
        words = [*spec["command"], *spec.get("args", ())]
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self.environ,
            cwd=spec.get("workingDir", "/"),
        )
        os.close(slave)
        threading.Thread(target=self._show, daemon=True).start()
        threading.Thread(target=self._wait, args=(on_end,), daemon=True).start()

    def _show(self) -> None:
        with suppress(OSError):
            while shown := os.read(self._master, 65536):
                with self._lock:
                    for sink in self._sinks:
                        sink(shown)

    def _wait(self, on_end: Callable[[int], None]) -> None:
        status = self.process.wait()
        self.kill()
        on_end(status)

    def watch(self, sink: Callable[[bytes], None]) -> None:
        with self._lock:
            self._sinks.append(sink)

    def unwatch(self, sink: Callable[[bytes], None]) -> None:
        with self._lock:
            self._sinks.remove(sink)

    def type(self, typed: bytes) -> None:
        os.write(self._master, typed)

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def run_beside(self, words: list[str]) -> None:
        """Run a command in the container, as a hook does."""
        subprocess.run(
            words, env=self.environ, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False
        )

    def signal(self, number: int) -> None:
        """Send a signal to the container's first process."""
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def kill(self) -> None:
        """Kill every process of the pod, also those that left its session."""
        mark = f"{UID}={self._uid}".encode()
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (path / "environ").read_bytes().split(b"\0"):
                    os.kill(int(path.name), signal.SIGKILL)
