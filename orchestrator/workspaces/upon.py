"""Work put upon what the task's branch has gained since it began: objects only, no ref and no file is touched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import Upon
from orchestrator.ports.worktree import AtOdds
from orchestrator.workspaces.lookup import changed_files, commits_gained
from orchestrator.workspaces.rebase import made_anew, replayed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.workspaces.repository import Repository

_POSITIONS: Final = re.compile(rb"^(?:@@ .*|index .*)$", re.MULTILINE)
"""The lines of a diff that differ where the same change is made at another place of a file."""


def upon(repository: Repository, commit: str, tip: str, *, alone: bool) -> Upon:
    """Return what becomes of a commit that is put upon `tip`.

    `alone`: only what the commit itself changed is taken; otherwise all that its history has and `tip` has not.

    Raises:
        AtOdds: both sides changed the same lines.
        Refused: the two have nothing in common.
        Unavailable: git cannot do it now, or is older than 2.38.

    """
    fork = repository.git.find("merge-base", tip, commit)
    if not fork:
        raise Refused(f"{commit[:12]} has nothing in common with {tip[:12]}")
    base = f"{commit}^" if alone else fork
    if alone:
        made, conflicts = made_anew(repository, commit, tip)
    else:
        again = replayed(repository, fork, commit, tip)
        made, conflicts = again.tip, again.conflicts
    if conflicts:
        raise AtOdds(conflicts, commits_gained(repository, fork, tip, conflicts), commit)
    made = made or tip
    theirs, ours = changed_files(repository, fork, tip), changed_files(repository, base, commit)
    both = tuple(sorted(set(theirs) & set(ours)))
    same = not both or _change(repository, base, commit, both) == _change(repository, tip, made, both)
    return Upon(made, tip, both, same, commits_gained(repository, fork, tip))


def _change(repository: Repository, before: str, after: str, files: Sequence[str]) -> bytes:
    """Return what a commit changed in some files, with the lines around it, wherever in the file that is."""
    command = ("diff-tree", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--binary", before, after)
    return _POSITIONS.sub(b"", repository.git.run(*command, "--", *files)[1])
