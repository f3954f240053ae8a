"""Work that was kept stays, but not each piece on a ref of its own for ever: one ref then holds them all."""

from __future__ import annotations

import contextlib
from typing import Final

from orchestrator.workspaces.repository import Moved, Repository

GATHERED: Final = "refs/tasks/kept/"
"""No task's own refs lie here: theirs begin with `refs/tasks/task/`."""


def gather(repository: Repository, branch: str, few: int) -> int:
    """Put the kept work of a task on one ref, if it is on more than `few`; return how many refs that were.

    Each kept commit becomes a parent of one new commit, whose message names the refs: nothing is lost, and
    `git log refs/tasks/kept/NAME` shows it all. Killed on the way, a commit is held by both; again is fine.

    Raises:
        Unavailable: git cannot do it now.

    """
    listing = repository.git.ask("for-each-ref", "--format=%(refname) %(objectname)", f"refs/tasks/{branch}/")
    kept = dict(line.split(" ") for line in listing.splitlines())
    if len(kept) <= few:
        return 0
    ref = GATHERED + branch.removeprefix("task/")
    old = repository.commit_of(ref)
    new = {name: commit for name, commit in kept.items() if not (old and repository.is_ancestor(commit, old))}
    if new:
        _move(repository, ref, old, new)
    for name, commit in kept.items():
        with contextlib.suppress(Moved):  # what was put there since is for the next time
            repository.drop(name, commit)
    return len(kept)


def _move(repository: Repository, ref: str, old: str, kept: dict[str, str]) -> None:
    parents = list(dict.fromkeys([*([old] if old else []), *kept.values()]))
    message = "Work kept by the PM, each line a ref as it was\n\n" + "".join(
        f"{name} {commit}\n" for name, commit in kept.items()
    )
    tree = repository.tree_of(parents[-1])
    repository.move(ref, repository.record(tree, parents[0], message, parents[1:]), old, "gathered")
