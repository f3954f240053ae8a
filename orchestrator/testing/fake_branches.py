"""The task's branch in memory: what it has, and how it moves."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import ndiff
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from orchestrator.formats.named_files import named_among
from orchestrator.formats.tree_listing import TreeListing, differing, read_listing
from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import (
    BranchFound,
    BranchSurvey,
    CommitSeen,
    FileChange,
    FileSeen,
    Holder,
    KeptWork,
)
from orchestrator.ports.worktree import Tree, checked_branch, checked_tree
from orchestrator.testing.fake_git import FakeGit

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


class FakeBranches(FakeGit):
    """The part of the port `Workspaces` that asks for no tree of a step."""

    def head(self, project: Path) -> str:
        """Return the commit that the user's tree stands on. Raises Refused."""
        return self._project(project).head

    def folder(self, project: Path) -> Path:
        """Return the git folder of the project's repository. Raises Refused."""
        self._project(project)
        return project / ".git"

    def file_on(self, project: Path, branch: str, path: str) -> FileSeen | None:
        """Return what a branch has at a path. Raises Refused."""
        contents = self.commits[self._at(project, branch)].contents
        name = str(PurePosixPath(path))
        if name in contents:
            lines = len(contents[name].splitlines())
            return FileSeen(is_folder=False, lines=lines, is_empty=not contents[name])
        inside = [text for each, text in contents.items() if each.startswith(f"{name}/")]
        return FileSeen(is_folder=True, lines=0, is_empty=not any(inside)) if inside else None

    def holds_named(self, project: Path, branch: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of these paths that a branch has, anywhere in the project. Raises Refused."""
        return named_among(names, self.commits[self._at(project, branch)].contents)

    def commit_on(self, project: Path, branch: str, name: str, *, beyond: str = "") -> str:
        """Return the commit of a branch that a hash names. Raises Refused."""
        history = takewhile(lambda commit: commit != beyond, self._history(self._at(project, branch)))
        return next((commit for commit in history if commit.startswith(name)), "")

    def holder(self, project: Path, branch: str, commit: str) -> Holder:
        """Return who has a commit. Raises Refused."""
        known, name = self._project(project), branch.removeprefix("task/")
        if commit not in self.commits or commit in self.away:
            return Holder.NOBODY
        refs = {ref for ref, at in known.refs.items() if self._led_to(commit, at)}
        below = (f"task-work/{name}/", f"refs/tasks/{branch}/")
        if any(ref == branch or ref.startswith(below) for ref in refs):
            return Holder.TASK
        if self._led_to(commit, known.head):
            return Holder.USER
        return Holder.OTHERS if refs else Holder.NOBODY

    def fetch(self, commit: str) -> None:
        """Do as git does that fetches a commit from another copy, with all that led to it."""
        self.away.difference_update(self._history(commit))

    def altered(self, project: Path, base: str, commit: str, paths: Sequence[str]) -> tuple[FileChange, ...]:
        """Return how the files at these paths differ between two commits. Raises Refused."""
        self._project(project)
        if not {base, commit} <= set(self.commits):
            raise Refused(f"there is no commit {base} or {commit}")
        before, after = self.commits[base].contents, self.commits[commit].contents
        found = []
        for name in sorted(before | after):
            named = any(PurePosixPath(name).is_relative_to(path) for path in paths)
            if named and before.get(name) != after.get(name):
                lines = [
                    line[0]
                    for line in ndiff(before.get(name, "").splitlines(), after.get(name, "").splitlines())
                ]
                found.append(FileChange(name, lines.count("+"), lines.count("-"), is_new=name not in before))
        return tuple(found)

    def survey(self, project: Path, branch: str, base: str, left: str = "") -> BranchSurvey | None:
        """Return what a branch has that its base has not. Raises Refused."""
        known = self._project(project)
        there = known.refs.get(branch, "")
        tip = there or (left if left in self.commits and self._led_to(left, known.head) else "")
        if not tip:
            return None
        gained = list(takewhile(lambda commit: commit != base, self._history(tip)))
        commits = tuple(CommitSeen(each, self.commits[each].message, 0.0) for each in reversed(gained))
        before, after = self.commits[base].contents, self.commits[tip].contents
        files = sum(before.get(name) != after.get(name) for name in before | after)
        merged = self._led_to(tip, known.head)
        return BranchSurvey(tip, len(commits), commits, files, files, 0, merged=merged, gone=not there)

    def kept(self, tree: Tree) -> list[KeptWork]:
        """Return where work found in a tree was kept. Raises Refused."""
        refs = self._project(checked_tree(tree).project).refs
        return [KeptWork(ref, 0.0) for ref in reversed(refs) if ref.startswith(tree.keep_prefix)]

    def fingerprint(self, project: Path, without: Path) -> str:
        """Return what lies in the user's own tree."""
        return str(TreeListing(files=self.shared.get(project, {})))

    def differing(self, project: Path, before: str, now: str) -> tuple[str, ...] | None:
        """Return the files in which the user's own tree differs."""
        old, new = read_listing(before), read_listing(now)
        return None if old is None or new is None else differing(old, new, {})

    def gained(self, tree: Tree, commit: str, *, alone: bool = False) -> str:
        """Return the tip of the task's branch if a commit cannot be merged by moving it forward. Raises Refused."""
        project = self._project(checked_tree(tree).project)
        if commit not in self.commits:
            raise Refused(f"there is no commit {commit}")
        tip = project.refs.get(tree.branch, "")
        if not tip:
            raise Refused(f"there is no branch {tree.branch}")
        forward = self.commits[commit].parent == tip if alone else self._led_to(tip, commit)
        return "" if forward or self._led_to(commit, tip) else tip

    def merge(self, tree: Tree, commit: str, *, alone: bool = False) -> str:
        """Move the task's branch forward. Steps: merge."""
        project = self._project(checked_tree(tree).project)
        if not _COMMIT.fullmatch(commit):
            raise Refused(f"{commit[:60]!a} is not a commit's full hash")
        if commit not in self.commits:
            return f"there is no commit {commit}"
        tip = project.refs.get(tree.branch, "")
        if not tip:
            return f"there is no branch {tree.branch}"
        if self._led_to(commit, tip):
            return ""
        if not self._led_to(tip, commit):
            return f"{tree.branch} has gained {tip[:12]}, which {commit[:12]} does not build on"
        if alone and self.commits[commit].parent != tip:
            return f"{commit[:12]} builds on commits that are no part of {tree.branch}, beyond {tip[:12]}"
        if user := project.looked_at.get(tree.branch):
            return f"{tree.branch} is checked out in {user}: switch to another branch there"
        self._step("merge", tree)
        project.refs[tree.branch] = commit
        return ""

    def restore(
        self, project: Path, branch: str, base: str, accepted: Sequence[str], known: Collection[str] = ()
    ) -> BranchFound:
        """Let the task's branch stand on the last accepted commit. Steps: keep, move. Raises Refused."""
        own = self._project(project)
        tip = own.refs.get(checked_branch(branch), "")
        if (not tip and not accepted) or (tip and tip in known):
            return BranchFound(tip, tip)
        if gone := [commit for commit in accepted if commit not in self.commits]:
            return BranchFound(tip, "", reason=f"the repository does not have {', '.join(gone)} any more")
        all_led = (each for each in accepted if all(self._led_to(other, each) for other in accepted))
        wanted = next(all_led, "") if accepted else base
        if not wanted:
            return BranchFound(tip, "", reason="no commit has all that was accepted")
        if tip == wanted:
            return BranchFound(tip, wanted)
        if user := own.looked_at.get(branch):
            reason = f"{branch} is checked out in {user}: switch to another branch there"
            return BranchFound(tip, wanted, reason=reason)
        tree, kept = Tree(project, project, "strays", branch, base), ""
        if tip and not self._led_to(tip, wanted):
            kept = f"{tree.keep_prefix}at-{tip}"
            self._step("keep", tree)
            own.refs[kept] = tip
        self._step("move", tree)
        own.refs[branch] = wanted
        return BranchFound(tip, wanted, kept)

    def holds(self, tree: Tree, commit: str) -> bool:
        """Tell whether the task's branch has a commit. Raises Refused."""
        project = self._project(checked_tree(tree).project)
        if not _COMMIT.fullmatch(commit):
            raise Refused(f"{commit[:60]!a} is not a commit's full hash")
        tip = project.refs.get(tree.branch, "")
        return bool(tip) and commit in self.commits and self._led_to(commit, tip)

    def rebase(self, project: Path, branch: str, old: str, new: str) -> str:
        """Move the task's branch to work made anew. Steps: keep, move. Raises Refused."""
        known, tip = self._project(project), self._project(project).refs.get(checked_branch(branch), "")
        for commit in (old, new):
            if not _COMMIT.fullmatch(commit):
                raise Refused(f"{commit[:60]!a} is not a commit's full hash")
        if tip == new:
            return ""
        if tip != old:
            return f"{branch} is at {tip[:10] or 'no commit'} by now, and was at {old[:10]}"
        if new not in self.commits:
            return f"there is no commit {new}"
        if user := known.looked_at.get(branch):
            return f"{branch} is checked out in {user}: switch to another branch there"
        tree = Tree(project, project, "rebased", branch, old)
        if not self._led_to(old, new):
            self._step("keep", tree)
            known.refs[f"{tree.keep_prefix}at-{old}"] = old
        self._step("move", tree)
        known.refs[branch] = new
        return ""
