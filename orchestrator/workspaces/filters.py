"""The filters (clean, smudge, process) that files of a commit ask for, and who names the program of each.

A filter rewrites files as git checks them out and takes them in: git-lfs is one. Git is asked; no filter is run.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.formats import git_config

if TYPE_CHECKING:
    from orchestrator.workspaces.repository import Repository

MOST: Final = 20
_PLAIN: Final = re.compile(r"[\w.+-]+")  # what else there is, only a shell knows
_ASKED: Final = re.compile(r"(?<=[ \t])filter=(\S+)")


@dataclass(frozen=True, slots=True)
class WantedFilter:
    """A filter that attributes in a commit ask for.

    `own` is the command that its user set for all repositories, and that runs; `theirs` one that only this repository
    sets, and that the daemon does not run. Both are empty if nothing is set. `lacking` is the program of `own`, if git
    would not find it.
    """

    name: str
    own: str = ""
    theirs: str = ""
    lacking: str = ""


def wanted_filters(repository: Repository, commit: str, path: str) -> tuple[WantedFilter, ...]:
    """Return the filters that a commit's `.gitattributes` ask for; `path` is git's `PATH`.

    Raises:
        Unavailable: git cannot be asked now.
        Refused: the repository's configuration names too many programs.

    """
    words = ["grep", "--no-textconv", "--no-line-number", "--no-column", "-h", "-I", "-F", "-e", "filter="]
    _, found = repository.git.run(*words, commit, "--", ":(top,glob)**/.gitattributes", allowed=(0, 1))
    said = found.decode(errors="replace")
    lines = (line for line in said.splitlines() if not line.lstrip().startswith("#"))
    names = dict.fromkeys(name for line in lines for name in _ASKED.findall(line))
    if not names:
        return ()
    own, theirs = git_config.filters(repository.git.run(*git_config.LIST)[1])
    return tuple(
        WantedFilter(name, mine := own.get(name, ""), theirs.get(name, ""), _lacking(repository, mine, path))
        for name in [*names][:MOST]
    )


def _lacking(repository: Repository, command: str, path: str) -> str:
    """Return the program that a command begins with, if git finds it neither on the `PATH` nor among its own."""
    try:
        program = shlex.split(command)[0]
    except (ValueError, IndexError):
        return ""
    if not _PLAIN.fullmatch(program) or shutil.which(program, path=path):
        return ""
    own = repository.git.ask("--exec-path")
    return "" if shutil.which(program, path=os.pathsep.join((own, path))) else program
