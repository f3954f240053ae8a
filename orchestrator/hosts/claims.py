"""The files by which a launcher tells what became of its run: `claimed`, `pid`, `exit`. They are the truth.

Whatever else stands there (cut off, garbled, a link, a folder) never raises: a pid that does not read is
unknown, an exit that does not read is lost.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.hosts.processes import Process
from orchestrator.model.run import Exit
from orchestrator.ports.files import Files, Unreadable

CLAIMED: Final = "claimed"
PID: Final = "pid"
EXIT: Final = "exit"

ENDED_BEFORE_IT_BEGAN: Final = f"signal {signal.SIGTERM:d}\noom_kills 0\n".encode()
"""The exit of a run whose launcher never came, and now finds the run claimed when it does."""

_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_PID: Final = re.compile(r"[1-9][0-9]{0,9}")
_LIMIT: Final = 4096  # bytes; ours are under 200


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launcher wrote of itself: the process; the session that is its run's alone, or 0; its pane, or ""."""

    process: Process
    session: int
    pane: str


def read_launched(files: Files, folder: Path) -> Launched | None:
    """Return what `pid` says, or None if it is not there or does not read."""
    words = _words(files, folder / PID)
    pid, start, session = words.get("pid", ""), words.get("start", ""), words.get("session", "")
    if not (start and _PID.fullmatch(pid)):
        return None
    return Launched(
        Process(int(pid), start), int(session) if _PID.fullmatch(session) else 0, words.get("pane", "")
    )


def read_exit(files: Files, folder: Path) -> Exit | None:
    """Return what `exit` says, None if it is not there, or a lost exit if it does not read."""
    if files.entry(folder / EXIT) is None:
        return None
    words = _words(files, folder / EXIT)
    code, number = _small(words.get("code")), _small(words.get("signal"))
    if number:
        # The kernel counts per cgroup, which other agents share: only a killed one was killed for memory.
        starved = number == signal.SIGKILL and bool(_small(words.get("oom_kills")))
        return Exit(signal=number, out_of_memory=starved)
    return Exit(code=code) if code is not None else Exit(lost=True)


def _words(files: Files, path: Path) -> dict[str, str]:
    """Return the lines of a file by their first word; nothing if it does not read."""
    try:
        text = files.read(path, _LIMIT).decode()
    except (Unreadable, UnicodeDecodeError):
        return {}
    if not text.endswith("\n"):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in text.splitlines())}


def _small(text: str | None) -> int | None:
    """Return a number of up to three digits, or None."""
    return int(text) if text and _NUMBER.fullmatch(text) else None
