"""A task's branch put back to the work that was accepted, whoever moved it: what else it had stays on a ref."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.ports.workspaces import BranchFound

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orchestrator.workspaces.repository import Repository

SHORT: Final = 10
"""How many characters of a hash are shown."""


def restored(
    repository: Repository, branch: str, base: str, accepted: Sequence[str], known: Collection[str]
) -> BranchFound:
    """Let a branch stand on the accepted commit that has all others, or on `base` if none was accepted.

    A branch on one of the `known` commits stays there: that commit is just being merged. Killed between the two refs,
    the next call finds the first and moves the second.

    Raises:
        Unavailable: git cannot do it now, or somebody moves the branch just now.

    """
    ref = f"refs/heads/{branch}"
    tip = repository.commit_of(ref)
    if (not tip and not accepted) or (tip and tip in known):
        return BranchFound(tip, tip)
    if gone := [commit for commit in accepted or (base,) if not repository.commit_of(commit)]:
        named = ", ".join(commit[:SHORT] for commit in gone)
        return BranchFound(tip, "", reason=f"the repository does not have {named} any more")
    wanted = _last(repository, accepted) if accepted else base
    if not wanted:
        named = ", ".join(commit[:SHORT] for commit in accepted)
        return BranchFound(tip, "", reason=f"no commit has all that was accepted: {named}")
    if tip == wanted:
        return BranchFound(tip, wanted)
    if user := repository.user_of(branch):
        reason = f"{branch} is checked out in {user}: switch to another branch there"
        return BranchFound(tip, wanted, reason=reason)
    kept = ""
    if tip and not repository.is_ancestor(tip, wanted):
        kept = f"refs/tasks/{branch}/strays/at-{tip}"
        if not repository.commit_of(kept):
            repository.move(kept, tip, "", "moved by somebody else")
    repository.move(ref, wanted, tip, "back to what was accepted")
    return BranchFound(tip, wanted, kept)


def _last(repository: Repository, accepted: Sequence[str]) -> str:
    """Return the commit that all others led to; empty if there is none."""
    last = accepted[-1]  # they come in the order of their merges, by the clock
    for commit in accepted:
        if repository.is_ancestor(last, commit):
            last = commit
    return last if all(repository.is_ancestor(commit, last) for commit in accepted) else ""
