"""The files by which a launcher reports the state of its run: `claimed`, `pid`, `begun`, `exit`. They are the truth.

Any other content (cut off, garbled, a link, a folder) never raises: a pid that cannot be parsed is unknown, an exit
that cannot be parsed counts as lost.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator.hosts.processes import Process
from orchestrator.model.run import Exit, Leftover
from orchestrator.ports.files import Files, Unreadable
from orchestrator.ports.host import Observation, Standing

CLAIMED: Final = "claimed"
PID: Final = "pid"
BEGUN: Final = "begun"
"""Made by the launcher between `pid` and its agent, or by a daemon that gave the run up: whoever is first."""
EXIT: Final = "exit"

ENDED_BEFORE_IT_BEGAN: Final = f"signal {signal.SIGTERM:d}\noom_kills 0\n".encode()
"""The exit of a run whose launcher never came; if it comes later, it finds the run claimed."""

LIMIT: Final = 4096
"""The maximum number of bytes read of such a file; ours are under 200."""

LEFT_NAMED: Final = 20
"""How many processes that a run left behind are named."""

_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_UPTIME: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
_PID: Final = re.compile(r"[1-9][0-9]{0,9}")


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launcher wrote about itself.

    The process; the session of this run alone, or 0; its pane, or ""; and the parent of the control group that it made
    for its run, or "".
    """

    process: Process
    session: int
    pane: str
    cgroup: str = ""


def read_launched(files: Files, folder: Path) -> Launched | None:
    """Return the content of `pid`, or None if it is missing or cannot be parsed."""
    return launched_by(_read(files, folder / PID))


def read_exit(files: Files, folder: Path) -> Exit | None:
    """Return the content of `exit`, None if it is missing, or a lost exit if it cannot be parsed."""
    if files.entry(folder / EXIT) is None:
        return None
    return ended_by(_read(files, folder / EXIT))


def read_uptime(files: Files, folder: Path) -> float:
    """Return the uptime in seconds at which the launcher wrote `exit`; 0 if that is unknown."""
    return uptime_by(_read(files, folder / EXIT))


def standing(launched: Launched | None, ended: Exit | None, *, lives: bool, claimed: bool) -> Observation:
    """Return the state of a run by its files; `lives`: its launcher was seen alive.

    That look must precede the one at `exit`: a launcher found dead has written it by then, if it ever will. Whether a
    run that is gone has left something behind is another look: see `left_behind`.
    """
    pid, pane = (launched.process.pid, launched.pane) if launched else (None, "")
    if ended is not None:
        return Observation(Standing.GONE, pid, pane, ended)
    if launched is not None:
        if lives:
            return Observation(Standing.ALIVE, pid, pane, start=launched.process.start)
        return Observation(Standing.GONE, pid, pane, Exit(lost=True))
    return Observation(Standing.CLAIMED if claimed else Standing.NOT_CLAIMED)


def left_behind(seen: Observation, left: Sequence[Leftover], start: str = "") -> Observation:
    """Return the observation of a gone run with its leftover processes; `start` is the first one's start time."""
    if seen.standing is not Standing.GONE or not left:
        return seen
    return replace(seen, standing=Standing.LEFT, pid=left[0].pid, start=start, left=tuple(left[:LEFT_NAMED]))


def launched_by(text: bytes) -> Launched | None:
    """Return the content of a `pid`, or None if it cannot be parsed."""
    words = _words(text)
    pid, start, session = words.get("pid", ""), words.get("start", ""), words.get("session", "")
    if not (start and _PID.fullmatch(pid)):
        return None
    return Launched(
        process=Process(int(pid), start),
        session=int(session) if _PID.fullmatch(session) else 0,
        pane=words.get("pane", ""),
        cgroup=words.get("cgroup", ""),
    )


def ended_by(text: bytes) -> Exit:
    """Return the content of an `exit`: a lost one if it cannot be parsed."""
    words = _words(text)
    code, number = _small(words.get("code")), _small(words.get("signal"))
    if number:
        # The kernel counts per cgroup, which other agents share: so it counts only if this run was killed.
        starved = number == signal.SIGKILL and bool(_small(words.get("oom_kills")))
        return Exit(signal=number, out_of_memory=starved)
    return Exit(code=code) if code is not None else Exit(lost=True)


def uptime_by(text: bytes) -> float:
    """Return the uptime in an `exit`, in seconds; 0 if it has none."""
    uptime = _words(text).get("uptime", "")
    return float(uptime) if _UPTIME.fullmatch(uptime) else 0.0


def _read(files: Files, path: Path) -> bytes:
    """Return the bytes of a file, or none if it cannot be read."""
    try:
        return files.read(path, LIMIT)
    except Unreadable:
        return b""


def _words(text: bytes) -> dict[str, str]:
    """Return the lines by their first word; nothing if the last line is incomplete, or the bytes are no text."""
    try:
        lines = text.decode()
    except UnicodeDecodeError:
        return {}
    if not lines.endswith("\n"):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in lines.splitlines())}


def _small(text: str | None) -> int | None:
    """Return a number of up to three digits, or None."""
    return int(text) if text and _NUMBER.fullmatch(text) else None
