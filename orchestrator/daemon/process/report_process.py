"""The real reporters: `task report` and `task observe`, in a process of its own each, as a user would run them.

So a page costs the daemon neither memory nor the time of a thread that decides, and there is one way to make it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.cli")
DEADLINE: Final = 60.0
"""Seconds for one page: that of a night of 100,000 journal lines takes one."""

NICE: Final = 10
"""How far it steps back behind agents and the daemon."""

_LONGEST_REASON: Final = 300
_NO_RESTART: Final = {"ORCHESTRATOR_DAEMON__RESTART": "false"}
"""The page is the dying daemon's last word, and no user's command that wants another one."""


@dataclass(slots=True)
class ReportProcess:
    """All ports of reporters. `environ` is the user's, with the folders of this daemon."""

    environ: Mapping[str, str]
    command: tuple[str, ...] = COMMAND
    deadline: float = DEADLINE
    _children: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _closed: bool = False

    def write(self, task: str) -> bool:
        """Write the report of a task; return False if the daemon ends. Raises Unavailable: it could not be written."""
        return self._run("report", task)

    def observe(self, day: str, path: Path) -> bool:
        """Write the observer's report of a day; False if the daemon ends. Raises Unavailable: it was not written."""
        return self._run("observe", "--all-projects", "--date", day, "--markdown", str(path))

    def send_traces(self, endpoint: str) -> bool:
        """Send what has ended since the last time; False if the daemon ends. Raises Unavailable: it was not sent."""
        return self._run("observe", "--all-projects", "--unsent", "--otlp", endpoint)

    def write_metrics(self, path: Path) -> bool:
        """Write metrics of seven days; False if the daemon ends. Raises Unavailable: they were not written."""
        return self._run("observe", "--all-projects", "--days", "7", "--prometheus", str(path))

    def _run(self, *words: str) -> bool:
        """Run a command; return False if the daemon ends. Raises Unavailable: it failed, or took too long."""
        child = self._started(words)
        if child is None:
            return False
        late = False
        try:
            _, err = child.communicate(timeout=self.deadline)
        except subprocess.TimeoutExpired:
            late = True
            _kill(child)
            _, err = child.communicate()
        finally:
            with self._lock:
                self._children.discard(child)
        if child.returncode == 0:
            return True
        if self._closed:
            return False
        if late:
            raise Unavailable(f"it took more than {self.deadline:g} s")
        lines = err.decode("utf-8", "replace").splitlines()
        last = next((line.strip() for line in reversed(lines) if line.strip()), f"exit {child.returncode}")
        raise Unavailable(last[:_LONGEST_REASON])

    def close(self) -> None:
        """End the processes that write, and begin no more."""
        with self._lock:
            self._closed = True
            for child in self._children:
                _kill(child)

    def _started(self, words: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._closed:
                return None
            try:
                child = subprocess.Popen(
                    (*self.command, *words),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env={**self.environ, **_NO_RESTART},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                raise Unavailable(f"no process could be started: {error.strerror}") from error
            self._children.add(child)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
        return child


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and all that it started. It was not waited for yet, so its pid cannot be another process's."""
    if child.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
