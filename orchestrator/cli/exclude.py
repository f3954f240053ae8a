"""Keeps a task's folder out of the user's commits, without touching a file that they track."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

_DEADLINE: Final = 10.0
_SPECIAL: Final = re.compile(r"[\\*?\[]")


def exclude(project: Path, name: str) -> bool:
    """Name the folder in `.git/info/exclude`; return whether it was done.

    Nothing is done outside a git repository, for a folder that the user tracks or already ignores.
    """
    folder = f"tasks/{name}"
    path = _git(project, "rev-parse", "--git-path", "info/exclude")
    prefix = _git(project, "rev-parse", "--show-prefix")
    if path is None or prefix is None:
        return False
    if (
        _git(project, "ls-files", "--", folder)
        or _git(project, "check-ignore", "-q", "--", f"{folder}/") is not None
    ):
        return False
    file = project / path
    file.parent.mkdir(exist_ok=True)
    pattern = "/" + _SPECIAL.sub(r"\\\g<0>", prefix) + f"{folder}/"
    text = file.read_text(encoding="utf-8", errors="surrogateescape") if file.exists() else ""
    with file.open("a", encoding="utf-8", errors="surrogateescape") as exclusions:
        exclusions.write(("" if not text or text.endswith("\n") else "\n") + f"{pattern}\n")
    return True


def _git(project: Path, *command: str) -> str | None:
    """Return what git printed, or None if it refused or is not there."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(project), *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_DEADLINE,
            check=False,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout.removesuffix("\n") if done.returncode == 0 else None
