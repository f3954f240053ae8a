"""Work put upon what the task's branch has gained since it began: objects only, no ref and no file is touched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import AtOdds, Upon
from orchestrator.workspaces.lookup import changed_files, commits_gained
from orchestrator.workspaces.rebase import replayed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.workspaces.repository import Repository

_POSITIONS: Final = re.compile(rb"^(?:@@ .*|index .*)$", re.MULTILINE)
"""The lines of a diff that differ where the same change is made at another place of a file."""


def upon(repository: Repository, commit: str, tip: str) -> Upon:
    """Return what becomes of a commit that is put upon `tip`; it stays as it is if it builds on that already.

    Raises:
        AtOdds: both sides changed the same lines.
        Refused: the two have nothing in common.
        Unavailable: git cannot do it now, or is older than 2.38.

    """
    if repository.is_ancestor(tip, commit):
        return Upon(commit)
    base = repository.git.find("merge-base", tip, commit)
    if not base:
        raise Refused(f"{commit[:12]} has nothing in common with {tip[:12]}")
    again = replayed(repository, base, commit, tip)
    if again.conflicts:
        raise AtOdds(again.conflicts, commits_gained(repository, base, tip, again.conflicts), commit)
    theirs, ours = changed_files(repository, base, tip), changed_files(repository, base, commit)
    both = tuple(sorted(set(theirs) & set(ours)))
    same = not both or _change(repository, base, commit, both) == _change(repository, tip, again.tip, both)
    return Upon(again.tip, tip, both, same, commits_gained(repository, base, tip))


def _change(repository: Repository, before: str, after: str, files: Sequence[str]) -> bytes:
    """Return what a commit changed in some files, with the lines around it, wherever in the file that is."""
    command = ("diff-tree", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--binary", before, after)
    return _POSITIONS.sub(b"", repository.git.run(*command, "--", *files)[1])
