"""Detects whether an agent runs this command: by its own environment, else by the processes above it (U4)."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import Final

from orchestrator.cli.exits import CommandError, Exit

_MARKS: Final = (b"ORCHESTRATOR_RUN=", b"ORCHESTRATOR_LAUNCHER=")
_LAUNCHER: Final = re.compile(r"/runs/([A-Za-z0-9][A-Za-z0-9_-]{0,127})/launch\.sh\Z")
_DEEPEST: Final = 10_000  # processes above; a caller with more of them counts as an agent
_DEADLINE: Final = 5.0  # seconds for one call of ps


def forbid_inside_run(verb: str) -> None:
    """Refuse a verb that changes something if an agent's run is the caller: agents do not steer agents (U4).

    Raises:
        CommandError: this process is a run's, or descends from one.

    """
    if run := run_around():
        raise CommandError(
            Exit.USAGE,
            f"`task {verb}` is not for agents (this is run {run[:80]!a}): "
            "write what you need into your handoff; the PM reads it",
        )


def run_around() -> str:
    """Return the run that this process belongs to, `?` if only the fact is known; empty if none.

    `ORCHESTRATOR_RUN` names it directly. Without it every process above is examined: if an agent removed the variable,
    there is still a launcher above it, or a parent that has it, however many shells lie between. A process that also
    detached from its parents is not detected: see docs/explanation/security-claims.md.
    """
    if run := os.environ.get("ORCHESTRATOR_RUN"):
        return run
    if os.environ.get("ORCHESTRATOR_LAUNCHER"):
        return "?"
    look = _from_proc if sys.platform == "linux" else _from_ps
    pid = os.getpid()
    for _ in range(_DEEPEST):
        if pid <= 1:
            return ""
        pid, run = look(pid)
        if run:
            return run
    return "?"


def _from_proc(pid: int) -> tuple[int, str]:
    """Return a process's parent, 0 if none is visible, and the run that it belongs to."""
    parent, words, variables = 0, list[str](), list[bytes]()
    with suppress(OSError, ValueError):
        # proc(5): the name in parentheses may hold anything; state and ppid follow it.
        parent = int(_read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()[1])
    with suppress(OSError):
        words = os.fsdecode(_read(f"/proc/{pid}/cmdline")).split("\0")
    with suppress(OSError):  # another user's process
        variables = [each for each in _read(f"/proc/{pid}/environ").split(b"\0") if each.startswith(_MARKS)]
    runs = [os.fsdecode(each.partition(b"=")[2]) for each in variables if each.startswith(_MARKS[0])]
    return parent, _launched(words) or next(filter(None, runs), "?" if variables else "")


def _from_ps(pid: int) -> tuple[int, str]:
    """Return the same without /proc: by the launcher alone, because ps shows no environments."""
    import subprocess  # only where there is no /proc: it would delay every verb that changes something

    try:
        done = subprocess.run(
            ["ps", "-o", "ppid=,args=", "-ww", "-p", str(pid)],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0, ""
    parent, _, arguments = done.stdout.strip().partition(" ")
    return int(parent) if parent.isdigit() else 0, _launched([arguments.strip()])


def _launched(words: list[str]) -> str:
    """Return the run whose launcher these words start; it is started as `/bin/sh …/runs/RUN/launch.sh`."""
    return next((found[1] for word in words[:2] if (found := _LAUNCHER.search(word))), "")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 (no pathlib here)
        return file.read()
