"""In which repository a folder lies: asked of git once, and again only when something that decides it has changed.

Git finds a repository by looking for `.git` in a folder and in all above it. What it finds there, who owns it, and the
configuration of the repository decide its answer. All of that is looked at each time, which costs no process.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.workspaces.git_process import standing
from orchestrator.workspaces.repository import Repository

Signs = tuple[tuple[int, ...], ...]
"""What git would see in each folder from the project's up to the one that has `.git`."""

_NOTHING: Signs = ()


@dataclass(slots=True)
class Places:
    """The repositories of projects. Safe to call from several threads: one may only ask git once more."""

    deadline: float
    environ: Mapping[str, str]
    _known: dict[Path, tuple[Signs, Repository]] = field(default_factory=dict)

    def repository(self, project: Path) -> Repository:
        """Return the repository that a project lies in. Raises as `Repository.of`."""
        known = self._known.get(project)
        if known is not None and known[0] == _signs(project, known[1].folder):
            return known[1]
        found = Repository.of(project, self.deadline, self.environ)
        if signs := _signs(project, found.folder):
            self._known[project] = (signs, found)
        else:
            self._known.pop(project, None)
        return found


def _signs(project: Path, folder: Path) -> Signs:
    """Return what tells whether git would still find this git folder for a project; nothing if that cannot be told."""
    config = standing(str(folder))
    if not config or not all(os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs")):
        return _NOTHING
    found = [config]
    here = Path(os.path.realpath(project))
    while True:
        try:
            owner = here.stat().st_uid
            seen = (here / ".git").lstat()
        except FileNotFoundError:
            if here == here.parent or os.path.lexists(
                here / "HEAD"
            ):  # there is none, or this may be one itself
                return _NOTHING
            found.append((owner,))
            here = here.parent
            continue
        except OSError:
            return _NOTHING
        changes = () if stat.S_ISDIR(seen.st_mode) else (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        found.append((owner, seen.st_dev, seen.st_ino, seen.st_mode, seen.st_uid, *changes))
        return tuple(found)
