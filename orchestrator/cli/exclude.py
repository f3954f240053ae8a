"""Keeps a task's folder out of the user's commits, without changing a tracked file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from orchestrator import plain_files
from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.git_process import Git

_LARGEST: Final = 1 << 20  # bytes of a file of exclusions
_DEADLINE: Final = 10.0
_SPECIAL: Final = re.compile(r"[\\*?\[]")


def exclude(project: Path, name: str) -> bool:
    """Add the folder to `.git/info/exclude`; return whether it was added.

    Nothing is added outside a git repository, or for a folder that the user tracks or ignores already.
    """
    folder = f"tasks/{name}"
    found = _line(project, folder)
    if found is None or tracks(project, name):
        return False
    if _git(project, "check-ignore", "-q", "--", f"{folder}/") is not None:
        return False
    file, line = found
    file.parent.mkdir(exist_ok=True)
    text = _text(file)
    said = ("" if not text or text.endswith("\n") else "\n") + line
    with open(plain_files.opened(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as exclusions:  # noqa: PTH123
        exclusions.write(_bytes(said))
    return True


def include(project: Path, name: str) -> None:
    """Remove the line that `exclude` wrote."""
    found = _line(project, f"tasks/{name}")
    if found is not None and found[1] in (text := _text(found[0])).splitlines(keepends=True):
        lines = [line for line in text.splitlines(keepends=True) if line != found[1]]
        with open(plain_files.opened(found[0], os.O_WRONLY | os.O_TRUNC), "wb") as exclusions:  # noqa: PTH123
            exclusions.write(_bytes("".join(lines)))


def tracks(project: Path, name: str) -> bool:
    """Return whether the user tracks any file of a task's folder in git."""
    return bool(_git(project, "ls-files", "--", f"tasks/{name}"))


def _line(project: Path, folder: str) -> tuple[Path, str] | None:
    """Return the exclude file and the line that excludes a folder; None outside a git repository."""
    path = _git(project, "rev-parse", "--git-path", "info/exclude")
    prefix = _git(project, "rev-parse", "--show-prefix")
    if path is None or prefix is None:
        return None
    return project / path, "/" + _SPECIAL.sub(r"\\\g<0>", prefix) + f"{folder}/\n"


def _text(file: Path) -> str:
    try:
        return plain_files.read(file, _LARGEST).decode(errors="surrogateescape")
    except FileNotFoundError:
        return ""


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _git(project: Path, *command: str) -> str | None:
    """Return git's output, or None if it refused or is not installed. The guarded git runs no hooks or filters."""
    try:
        return Git(project, _DEADLINE, os.environ).ask(*command)
    except Unavailable:
        return None
