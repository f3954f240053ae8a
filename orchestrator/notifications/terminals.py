"""The terminals from which the user started tasks or answered questions: their bells may ring.

Each terminal is a file; only a few are kept. The system gives a terminal's name to others later, so a file counts only
while the process that led the terminal's session still lives.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from orchestrator import layout, own_files
from orchestrator.hosts.disk import DiskFiles

MOST: Final = 16
_BELL: Final = b"\a"
_STARTED: Final = 19
"""The field of /proc/PID/stat, after the name in parentheses, with the start time of a process: proc(5)."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal: its device, the process that led its session, and when that process started (0: not known)."""

    path: str
    device: int
    session: int
    started: int


def remember(state: str) -> None:
    """Remember the terminal of this process, if it has one, and drop the oldest of many. Errors are ignored."""
    with suppress(OSError):
        for descriptor in (2, 1, 0):
            if os.isatty(descriptor):
                _note(state, os.ttyname(descriptor), os.fstat(descriptor).st_rdev)
                return


def terminals(state: str) -> Iterator[Terminal]:
    """Yield the remembered terminals that are still the user's."""
    for path in _files(state):
        with suppress(OSError, ValueError, TypeError, RecursionError):
            terminal = Terminal(**own_files.own_json(str(path)))
            if _is_there(terminal):
                yield terminal


def ring(path: str) -> bool:
    """Ring the bell of a terminal. Return False if that was not possible."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.isatty(descriptor) and os.write(descriptor, _BELL) == len(_BELL)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _note(state: str, path: str, device: int) -> None:
    session = os.getsid(0)
    terminal = Terminal(path, device, session, _started(session))
    folder = Path(layout.terminals(state))
    folder.mkdir(mode=0o700, exist_ok=True)
    name = f"{path.strip('/').replace('/', '-')}.json"
    DiskFiles().write(folder / name, json.dumps(asdict(terminal)).encode(), durable=False)
    for old in _files(state)[MOST:]:
        old.unlink(missing_ok=True)


def _files(state: str) -> list[Path]:
    """Return the files of the remembered terminals, the newest first."""
    folder = Path(layout.terminals(state))
    try:
        found = [
            (entry.stat().st_mtime, Path(entry.path))
            for entry in os.scandir(folder)
            if entry.name.endswith(".json")
        ]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _is_there(terminal: Terminal) -> bool:
    """Tell whether it is still the same terminal, and ours."""
    found = Path(terminal.path).stat()
    same = stat.S_ISCHR(found.st_mode) and found.st_rdev == terminal.device and found.st_uid == os.getuid()
    return same and terminal.path.startswith("/dev/") and _lives(terminal)


def _lives(terminal: Terminal) -> bool:
    if terminal.started:
        return _started(terminal.session) == terminal.started
    os.kill(terminal.session, 0)  # raises if the process is gone, or is another user's
    return True


def _started(pid: int) -> int:
    """Return when a process started, in ticks since boot; 0 if the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
        return int(fields[_STARTED])
    except (OSError, ValueError, IndexError):
        return 0
