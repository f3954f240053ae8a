"""Keeps a task's folder out of the user's commits, without touching a file that they track."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.git_process import Git

_DEADLINE: Final = 10.0
_SPECIAL: Final = re.compile(r"[\\*?\[]")


def exclude(project: Path, name: str) -> bool:
    """Name the folder in `.git/info/exclude`; return whether it was done.

    Nothing is done outside a git repository, for a folder that the user tracks or already ignores.
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
    with file.open("a", encoding="utf-8", errors="surrogateescape") as exclusions:
        exclusions.write(("" if not text or text.endswith("\n") else "\n") + line)
    return True


def include(project: Path, name: str) -> None:
    """Take away the line that `exclude` wrote."""
    found = _line(project, f"tasks/{name}")
    if found is not None and found[1] in (text := _text(found[0])).splitlines(keepends=True):
        lines = [line for line in text.splitlines(keepends=True) if line != found[1]]
        found[0].write_text("".join(lines), encoding="utf-8", errors="surrogateescape")


def tracks(project: Path, name: str) -> bool:
    """Tell whether the user has anything of a task's folder in git."""
    return bool(_git(project, "ls-files", "--", f"tasks/{name}"))


def _line(project: Path, folder: str) -> tuple[Path, str] | None:
    """Return the file that says what is not to be committed, and the line that says so of a folder."""
    path = _git(project, "rev-parse", "--git-path", "info/exclude")
    prefix = _git(project, "rev-parse", "--show-prefix")
    if path is None or prefix is None:
        return None
    return project / path, "/" + _SPECIAL.sub(r"\\\g<0>", prefix) + f"{folder}/\n"


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape") if file.exists() else ""


def _git(project: Path, *command: str) -> str | None:
    """Return what git printed, or None if it refused or is not there. The guarded git: nothing of its is run."""
    try:
        return Git(project, _DEADLINE, os.environ).ask(*command)
    except Unavailable:
        return None
