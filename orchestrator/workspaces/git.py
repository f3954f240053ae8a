"""Workspaces in a git repository: a worktree per step, a branch per task, a ref for whatever was left lying.

Every call may be cut off between any two git commands and repeated: refs move first and only forward or onto
kept ground, files follow, and a tree that cannot be put in order is made anew after its work was kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import (
    BranchFound,
    LeftOut,
    Upon,
)
from orchestrator.ports.worktree import AtOdds, Tree, Unresolved, checked_branch, checked_tree
from orchestrator.workspaces.adoption import adopted
from orchestrator.workspaces.branches import (
    merge_forward,
    move_branch,
    refuse_if_used,
    task_tip,
    tip_in_the_way,
    tip_seen,
    tip_to_begin_at,
)
from orchestrator.workspaces.checkout import Checkout
from orchestrator.workspaces.commit_work import base_of, joined, left_markers
from orchestrator.workspaces.git_errors import classify_failures
from orchestrator.workspaces.git_process import GitFailed
from orchestrator.workspaces.git_reads import GitReads
from orchestrator.workspaces.lookup import (
    changed_files,
    ignored,
)
from orchestrator.workspaces.preservation import keep
from orchestrator.workspaces.rebase import moved_over
from orchestrator.workspaces.ref_compaction import gather
from orchestrator.workspaces.repository import checked_commit
from orchestrator.workspaces.restore import restored
from orchestrator.workspaces.side_files import index_file, look_file, note_base, notes_of
from orchestrator.workspaces.snapshot import lay, left_out, take
from orchestrator.workspaces.tree_files import (
    bring,
    checkout_of,
    committed_before,
    differing_files,
    lay_upon,
    make_again,
    missing_files,
    project_folder,
    replaced,
    settle,
)
from orchestrator.workspaces.tree_generations import leave_earlier_lives, lives_of
from orchestrator.workspaces.upon import upon
from orchestrator.workspaces.worktree_registration import is_mutual


class GitWorkspaces(GitReads):
    """The port `Workspaces`, by the git on the PATH."""

    def __init__(self, deadline: float = 60.0, *, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(deadline, environ=environ)
        self._folders = dict[Path, Path]()

    @classify_failures
    def where(self, tree: Tree) -> Path:
        """Return the folder to work in of a tree as it stands; one that is gone is made anew from its commit."""
        repository = self._repository(checked_tree(tree).project)
        checkout = checkout_of(repository, tree)
        if not checkout.there:
            make_again(repository, checkout, tree)
        return project_folder(repository, tree.path)

    @classify_failures
    def prepare(self, tree: Tree, attempt: int, work: str = "") -> Path:
        """Make the tree, or keep what lies in it and bring it to the tip of the task's branch, with `work` in it."""
        repository = self._repository(checked_tree(tree).project)
        checkout = checkout_of(repository, tree)
        tip = tip_to_begin_at(repository, tree)
        branch = "" if tree.detached else tree.own_branch
        leave_earlier_lives(repository, tree, attempt, tip)
        refuse_if_used(repository, tree, branch)
        keep(checkout, tree, attempt, tip, branch)
        if branch:
            move_branch(repository, branch, tip, "next attempt")
        bring(checkout, tip, branch)
        note_base(tree, tip)
        if work:
            lay_upon(Checkout.at(repository, tree.path), tip, checked_commit(work))
        return project_folder(repository, tree.path)

    @classify_failures
    def tend(self, tree: Tree) -> str:
        """Return why a tree is no longer the one that was made; put back what only git has forgotten of it.

        Where its link to git is gone and all its files are there, whoever works there has spoilt no work.
        """
        path = checked_tree(tree).path
        folder = self._folders.get(tree.project)  # asked once: this is looked at again and again
        if folder is not None and is_mutual(folder, path):
            return ""
        if path.is_symlink() or not path.is_dir():
            return f"{path} is gone"
        repository = self._repository(tree.project)
        self._folders[tree.project] = repository.folder
        if is_mutual(repository.folder, path):
            return ""
        checkout = checkout_of(repository, tree)
        if checkout.linked:
            return ""
        base = base_of(repository, tree, task_tip(repository, tree))
        found = take(checkout, look_file(tree), base, all_of_it=False).tree
        missing = missing_files(repository, base, found)
        return replaced(tree, missing) if missing else ""

    @classify_failures
    def look(self, tree: Tree) -> str:
        """Return a word for what lies in a tree and is not ignored; empty if it is not there as it was made."""
        repository = self._repository(checked_tree(tree).project)
        checkout = Checkout.at(repository, tree.path)
        if not checkout.linked:
            return ""
        base = base_of(repository, tree, tip_seen(repository, tree))
        return take(checkout, look_file(tree), base, all_of_it=False).tree

    @classify_failures
    def unfinished(self, tree: Tree) -> tuple[str, ...]:
        """Return the files in which a tree differs from the commit that it was brought to."""
        repository = self._repository(checked_tree(tree).project)
        if not (now := self.look(tree)):
            return ()
        return changed_files(repository, base_of(repository, tree, tip_seen(repository, tree)), now)

    @classify_failures
    def tidy(self, tree: Tree, attempt: int, before: str) -> tuple[tuple[str, ...], str]:
        """Let a tree lie as it did when `look` returned `before`, and keep what lies there now."""
        now = self.look(tree)
        if not now or not before or now == before:
            return (), ""
        repository = self._repository(tree.project)
        files = changed_files(repository, before, now)
        if not files:
            return (), ""
        checkout, tip = Checkout.at(repository, tree.path), tip_seen(repository, tree)
        kept = keep(checkout, tree, attempt, tip, "")
        with contextlib.suppress(GitFailed):  # it was told and kept; the next attempt begins in another life
            base = base_of(repository, tree, tip)
            lay(checkout, take(checkout, index_file(tree), base, all_of_it=False), before)
        return files, kept

    @classify_failures
    def commit(self, tree: Tree, message: str, *, attempt: int = 0) -> tuple[str, int]:
        """Put what changed in the tree on its branch: one commit on top of the tip of the task's branch.

        Raises:
            AtOdds: the work does not fit to what the task's branch gained meanwhile.
            Unresolved: conflict markers are left in it.
            Refused: the tree has no branch.
            TreeLost: the tree is gone, or something else is in its place.

        """
        repository = self._repository(checked_tree(tree).project)
        if tree.detached:
            raise Refused(f"{tree.name} has no branch of its own to commit to")
        checkout = checkout_of(repository, tree)
        tip = task_tip(repository, tree)
        branch = tree.own_branch
        refuse_if_used(repository, tree, branch)
        base = base_of(repository, tree, tip)
        if not checkout.there:
            return committed_before(repository, tree, tip, f"{tree.path} is gone")
        snapshot = take(checkout, index_file(tree), base, all_of_it=False)
        if not checkout.linked and (missing := missing_files(repository, base, snapshot.tree)):
            kept = keep(checkout, tree, attempt, tip, "")
            return committed_before(repository, tree, tip, replaced(tree, missing), kept)
        if left := left_markers(repository, repository.tree_of(base), snapshot.tree):
            raise Unresolved(left)
        try:
            commit = joined(repository, tree, snapshot.tree, tip, message)
        except AtOdds as odds:
            move_branch(repository, branch, odds.commit, "work at odds with the task's branch")
            settle(checkout, snapshot, odds.commit, branch)
            raise
        if not commit:
            return "", 0
        move_branch(repository, branch, commit, "work of a step")
        settle(checkout, snapshot, commit, branch)
        note_base(tree, tip)
        return commit, differing_files(repository, tip, commit)

    @classify_failures
    def left_out(self, tree: Tree) -> LeftOut:
        """Return what lies in a tree and can be in no commit of it. Raises Refused, Unavailable."""
        repository = self._repository(checked_tree(tree).project)
        checkout = Checkout.at(repository, tree.path)
        if not checkout.linked:
            return LeftOut()
        return left_out(checkout, look_file(tree), base_of(repository, tree, tip_seen(repository, tree)))

    @classify_failures
    def ignored(self, tree: Tree, paths: Sequence[str]) -> tuple[str, ...]:
        """Return those of these paths that git ignores in the tree. Raises Unavailable."""
        repository = self._repository(checked_tree(tree).project)
        checkout = checkout_of(repository, tree)
        inside = project_folder(repository, tree.path).relative_to(tree.path)
        named = {str(inside / path): path for path in paths}
        return tuple(named[name] for name in ignored(checkout.git(), list(named)))

    @classify_failures
    def adopt(self, tree: Tree, attempt: int, commit: str) -> tuple[str, int]:
        """Let the tree stand on a commit made elsewhere, upon what the task's branch has or had. Raises Refused."""
        made = adopted(self._repository(checked_tree(tree).project), tree, attempt, commit)
        if made is None:
            self.prepare(tree, attempt)
        return made or ("", 0)

    @classify_failures
    def gained(self, tree: Tree, commit: str, *, alone: bool = False) -> str:
        """Return the tip of the task's branch if a commit cannot be merged by moving it forward. Raises Refused."""
        repository = self._repository(checked_tree(tree).project)
        return tip_in_the_way(repository, tree.branch, commit, alone=alone)

    @classify_failures
    def put_upon(self, tree: Tree, attempt: int, commit: str, *, alone: bool = False) -> Upon:
        """Put a commit of the tree upon what the task's branch has gained. Raises AtOdds, Refused."""
        repository = self._repository(checked_tree(tree).project)
        tip = self.gained(tree, commit, alone=alone)
        if tree.detached or not tip:
            return Upon(commit)
        checkout, branch = checkout_of(repository, tree), tree.own_branch
        made = upon(repository, commit, tip, alone=alone)
        refuse_if_used(repository, tree, branch)
        keep(checkout, tree, attempt, made.commit, branch)
        move_branch(repository, branch, made.commit, "put upon the task's branch")
        bring(checkout, made.commit, branch)
        note_base(tree, tip)
        return made

    @classify_failures
    def merge(self, tree: Tree, commit: str, *, alone: bool = False) -> str:
        """Move the task's branch forward to `commit`; return why that cannot be, or nothing."""
        repository = self._repository(checked_tree(tree).project)
        Checkout.at(repository, tree.path)  # mends what would keep git from listing the trees
        if not repository.commit_of(checked_commit(commit)):
            return f"there is no commit {commit}"
        return merge_forward(repository, tree.branch, commit, alone=alone)

    @classify_failures
    def restore(
        self, project: Path, branch: str, base: str, accepted: Sequence[str], known: Collection[str] = ()
    ) -> BranchFound:
        """Let the task's branch stand on the last accepted commit. Raises Refused, Unavailable."""
        for commit in (base, *accepted, *known):
            checked_commit(commit)
        return restored(self._repository(project), checked_branch(branch), base, accepted, known)

    @classify_failures
    def holds(self, tree: Tree, commit: str) -> bool:
        """Tell whether the task's branch has a commit."""
        repository = self._repository(checked_tree(tree).project)
        tip = repository.commit_of(f"refs/heads/{tree.branch}")
        there = repository.commit_of(checked_commit(commit))
        return bool(tip and there and repository.is_ancestor(commit, tip))

    @classify_failures
    def rebase(self, project: Path, branch: str, old: str, new: str) -> str:
        """Move the task's branch to work made anew; return why that cannot be, or nothing."""
        return moved_over(self._repository(project), checked_branch(branch), old, new)

    @classify_failures
    def release(self, tree: Tree, attempt: int) -> None:
        """Keep what is not on the task's branch, then remove all lives of the tree and its own branch."""
        repository = self._repository(checked_tree(tree).project)
        tip = tip_seen(repository, tree)
        branch = "" if tree.detached else tree.own_branch
        lives = [Checkout.at(repository, path) for path in {*lives_of(repository, tree), tree.path}]
        for checkout in lives:
            keep(checkout, tree, attempt, tip, branch)
        for checkout in lives:
            checkout.remove()
        own = repository.commit_of(f"refs/heads/{branch}") if branch else ""
        if own and not repository.user_of(branch):
            repository.drop(f"refs/heads/{branch}", own)
        for note in notes_of(tree):
            note.unlink(missing_ok=True)

    @classify_failures
    def gather(self, project: Path, branch: str, few: int) -> int:
        """Put the kept work of a task on one ref, if it is on more than `few`. Raises Refused, Unavailable."""
        return gather(self._repository(project), branch, few)
