"""The terminals from which the user started tasks, or answered: there a bell may ring. Each is a file; few are kept.

A terminal's name is used again. So it is believed only while the process that led its session then still lives.
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

from orchestrator import layout

MOST: Final = 16
_BELL: Final = b"\a"
_STARTED: Final = 19
"""Which field of /proc/PID/stat, behind the name in parentheses, says when a process was started: proc(5)."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal: its device, and the process that led its session, with when that was started (0: not known)."""

    path: str
    device: int
    session: int
    started: int


def remember(state: str) -> None:
    """Note the terminal of this process, if it has one; the oldest of many are dropped. Nothing is wrong without."""
    with suppress(OSError):
        for descriptor in (2, 1, 0):
            if os.isatty(descriptor):
                _note(state, os.ttyname(descriptor), os.fstat(descriptor).st_rdev)
                return


def terminals(state: str) -> Iterator[Terminal]:
    """Yield the terminals that are still the user's."""
    for path in _files(state):
        with suppress(OSError, ValueError, TypeError, RecursionError):
            terminal = Terminal(**layout.own_json(str(path)))
            if _is_there(terminal):
                yield terminal


def ring(path: str) -> bool:
    """Ring the bell of a terminal; False if it could not be."""
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
    part = folder / f".{os.getpid()}"
    part.write_text(json.dumps(asdict(terminal)))
    part.chmod(0o600)
    part.rename(folder / f"{path.strip('/').replace('/', '-')}.json")
    for old in _files(state)[MOST:]:
        old.unlink(missing_ok=True)


def _files(state: str) -> list[Path]:
    """Return the files of all that were noted, the newest first."""
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
    """Tell whether it is the terminal that it was, and ours."""
    found = Path(terminal.path).stat()
    same = stat.S_ISCHR(found.st_mode) and found.st_rdev == terminal.device and found.st_uid == os.getuid()
    return same and terminal.path.startswith("/dev/") and _lives(terminal)


def _lives(terminal: Terminal) -> bool:
    if terminal.started:
        return _started(terminal.session) == terminal.started
    os.kill(terminal.session, 0)  # raises where it is gone, or is another user's
    return True


def _started(pid: int) -> int:
    """Return when a process was started, in ticks since boot; 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
        return int(fields[_STARTED])
    except (OSError, ValueError, IndexError):
        return 0
