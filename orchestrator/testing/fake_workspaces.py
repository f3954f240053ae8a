"""Workspaces in memory, by the port `Workspaces`, for simulations: commits are counted, files are a dictionary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

from orchestrator.formats.tree_listing import TreeListing, differing, read_listing
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.workspaces import (
    AtOdds,
    BranchFound,
    BranchSurvey,
    CommitSeen,
    FileSeen,
    KeptWork,
    LeftOut,
    Tree,
    TreeLost,
    Unresolved,
    Upon,
    checked_branch,
    checked_tree,
)

Contents: TypeAlias = dict[str, str]
Step: TypeAlias = Literal["branch", "keep", "make", "record", "move", "clean", "merge", "remove", "drop"]
"""What changes something. Each operation says which it takes."""

ELSEWHERE: Final = "made elsewhere"
"""The message of a commit that was made in another copy of the repository."""

MARKER: Final = "<<<<<<< "
"""What a file holds in which both sides of a conflict stand."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: all files as it has them, the commit before it, and its message."""

    contents: Contents
    parent: str = ""
    message: str = ""


@dataclass(slots=True)
class _Project:
    head: str
    refs: dict[str, str] = field(default_factory=dict)
    looked_at: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Place:
    """A tree on the imagined disk: what it stands on, what it was last brought to, and its files.

    `linked` is false of a folder that somebody else made in its place, `known` while git has forgotten the tree.
    """

    head: str
    base: str
    contents: Contents
    linked: bool = True
    known: bool = True


class FakeWorkspaces:
    """The port `Workspaces`, in memory. Any folder is a repository with one commit until `forget` is called.

    `before` is called ahead of each change, with the tree's path, and may raise (a BaseException too) to kill
    the caller there: the change is then not done. It may be set at any time.
    """

    def __init__(self, *, before: Callable[[Step, Path], None] | None = None) -> None:
        self.before = before
        self.commits: dict[str, Commit] = {}
        self.shared: dict[Path, Contents] = {}
        self.apart: dict[Path, LeftOut] = {}
        """What no commit can hold, of each tree that has such."""
        self._projects: dict[Path, _Project] = {}
        self._places: dict[Path, _Place] = {}
        self._bases: dict[Path, str] = {}
        self._none: set[Path] = set()
        self._fault: Exception | None = None

    # The port -------------------------------------------------------------------------------------

    def head(self, project: Path) -> str:
        """Return the commit that the user's tree stands on. Raises Refused."""
        return self._project(project).head

    def prepare(self, tree: Tree, attempt: int, work: str = "") -> Path:
        """Bring the tree to the tip of the task's branch. Steps: branch, keep, move, make or clean."""
        project = self._project(checked_tree(tree).project)
        tip = self._tip(project, tree)
        own = tree.own_branch
        if not tree.detached:
            self._refuse_if_used(project, own)
        moving = not tree.detached
        for path in self._lives(tree):
            if path != tree.path:
                self._keep(project, tree, attempt, [tip, project.refs.get(own, "")], path, moving=False)
                self._step("remove", tree)
                del self._places[path]
        stays = [tip] if moving else [tip, project.refs.get(own, "")]
        self._keep(project, tree, attempt, stays, tree.path, moving=moving)
        if moving and project.refs.get(own) != tip:
            self._step("move", tree)
            project.refs[own] = tip
        self._step("clean" if tree.path in self._places else "make", tree)
        place = self._bring(tree, tip, tip)
        if work in self.commits:
            base = next(each for each in self._history(work) if self._led_to(each, tip))
            place.contents, _ = self._merged(base, self.commits[work].contents, tip)
        return tree.path

    def where(self, tree: Tree) -> Path:
        """Return the tree's path; one that is gone is made anew from its commit. Steps: make."""
        project = self._project(checked_tree(tree).project)
        if tree.path not in self._places:
            tip = self._tip(project, tree)
            made = tip if tree.detached else project.refs.get(tree.own_branch, "")
            if not tree.detached and made in {"", self._bases.get(tree.root / tree.name, tree.base)}:
                raise TreeLost(f"{tree.path} is gone: the work that lay there is not to be had")
            self._step("make", tree)
            self._places[tree.path] = _Place(made, tip, dict(self.commits[made].contents))
        self._places[tree.path].known |= self._places[tree.path].linked
        return tree.path

    def tend(self, tree: Tree) -> str:
        """Return why a tree is no longer the one that was made."""
        place = self._places.get(checked_tree(tree).path)
        if place is None:
            return f"{tree.path} is gone"
        place.known |= place.linked
        return self._replaced(tree, place)

    def look(self, tree: Tree) -> str:
        """Return a word for what lies in a tree."""
        place = self._places.get(checked_tree(tree).path)
        return json.dumps(sorted(place.contents.items())) if place is not None and place.linked else ""

    def tidy(self, tree: Tree, attempt: int, before: str) -> tuple[tuple[str, ...], str]:
        """Let a tree lie as it did before. Steps: keep, clean."""
        now = self.look(tree)
        if not now or not before or now == before:
            return (), ""
        project, place, wanted = (
            self._project(tree.project),
            self._places[tree.path],
            dict(json.loads(before)),
        )
        names = sorted(
            name for name in wanted | place.contents if wanted.get(name) != place.contents.get(name)
        )
        stays = [self._tip(project, tree), project.refs.get(tree.own_branch, "")]
        kept = self._keep(project, tree, attempt, stays, tree.path, moving=False)
        self._step("clean", tree)
        place.contents = wanted
        return tuple(names), kept

    def commit(self, tree: Tree, message: str, *, attempt: int = 0) -> tuple[str, int]:
        """Put what changed on the tree's branch. Steps: keep, or record, move, clean. Raises Refused, TreeLost."""
        project = self._project(checked_tree(tree).project)
        if tree.detached:
            raise Refused(f"{tree.name} has no branch of its own to commit to")
        place = self._places.get(tree.path)
        if place is None:
            return self._committed_before(project, tree, f"{tree.path} is gone")
        if lost := self._replaced(tree, place):
            kept = self._keep(project, tree, attempt, [self._tip(project, tree)], tree.path, moving=False)
            return self._committed_before(project, tree, lost, kept)
        tip, own = self._tip(project, tree), tree.own_branch
        self._refuse_if_used(project, own)
        last = project.refs.get(own, "")
        made = self.commits.get(last)
        before = self.commits[place.base or tip].contents
        if left := [
            name for name, text in place.contents.items() if text != before.get(name) and MARKER in text
        ]:
            raise Unresolved(left)
        if made is not None and made.parent == tip and made.contents == place.contents:
            wanted = place.contents
        else:
            wanted, odds = self._merged(place.base or tip, place.contents, tip)
            if odds:
                self._step("record", tree)
                last = self._record(dict(place.contents), place.base, message)
                self._step("move", tree)
                project.refs[own] = place.head = last
                raise AtOdds(odds, self._gained(place.base, tip), last)
        if wanted == self.commits[tip].contents:
            return "", 0
        if made is None or made.parent != tip or made.contents != wanted:
            self._step("record", tree)
            last = self._record(wanted, tip, message)
            self._step("move", tree)
            project.refs[own] = last
        self._step("clean", tree)
        self._bring(tree, last, tip)
        return last, self._differing(tip, last)

    def left_out(self, tree: Tree) -> LeftOut:
        """Return what was put into `apart` for the tree."""
        return self.apart.get(checked_tree(tree).path, LeftOut())

    def adopt(self, tree: Tree, attempt: int, commit: str) -> tuple[str, int]:
        """Let the tree stand on a commit made elsewhere. Steps: branch, keep, move, make or clean. Raises Refused."""
        project = self._project(checked_tree(tree).project)
        if tree.detached or commit not in self.commits:
            raise Refused(
                f"{tree.name} cannot stand on {commit}: there is no such commit, or no branch for it"
            )
        tip, own = self._tip(project, tree), tree.own_branch
        if self._led_to(commit, tip):
            self.prepare(tree, attempt)
            return "", 0
        if not self._led_to(tip, commit):
            raise Refused(
                f"{commit[:12]} does not build on {tip[:12]}, at which {tree.branch} stands: bring that in"
            )
        self._refuse_if_used(project, own)
        self._keep(project, tree, attempt, [tip, commit], tree.path, moving=True)
        if project.refs.get(own) != commit:
            self._step("move", tree)
            project.refs[own] = commit
        self._step("clean" if tree.path in self._places else "make", tree)
        self._bring(tree, commit, tip)
        return commit, self._differing(tip, commit)

    def file_on(self, project: Path, branch: str, path: str) -> FileSeen | None:
        """Return what a branch has at a path. Raises Refused."""
        contents = self.commits[self._at(project, branch)].contents
        name = str(PurePosixPath(path))
        if name in contents:
            lines = len(contents[name].splitlines())
            return FileSeen(is_folder=False, lines=lines, is_empty=not contents[name])
        inside = [text for each, text in contents.items() if each.startswith(f"{name}/")]
        return FileSeen(is_folder=True, lines=0, is_empty=not any(inside)) if inside else None

    def commit_on(self, project: Path, branch: str, name: str, *, beyond: str = "") -> str:
        """Return the commit of a branch that a hash names. Raises Refused."""
        history = takewhile(lambda commit: commit != beyond, self._history(self._at(project, branch)))
        return next((commit for commit in history if commit.startswith(name)), "")

    def survey(self, project: Path, branch: str, base: str) -> BranchSurvey | None:
        """Return what a branch has that its base has not. Raises Refused."""
        known = self._project(project)
        tip = known.refs.get(branch, "")
        if not tip:
            return None
        gained = list(takewhile(lambda commit: commit != base, self._history(tip)))
        commits = tuple(CommitSeen(each, self.commits[each].message, 0.0) for each in reversed(gained))
        before, after = self.commits[base].contents, self.commits[tip].contents
        files = sum(before.get(name) != after.get(name) for name in before | after)
        merged = self._led_to(tip, known.head)
        return BranchSurvey(tip, len(commits), commits, files, files, 0, merged=merged)

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

    def put_upon(self, tree: Tree, attempt: int, commit: str, *, alone: bool = False) -> Upon:
        """Put a commit upon what the branch has gained. Steps: record, keep, move, make or clean. Raises AtOdds."""
        project = self._project(checked_tree(tree).project)
        if tree.detached or commit not in self.commits:
            raise Refused(f"there is no commit {commit}, or {tree.name} has no branch of its own for it")
        tip, own = self._tip(project, tree), tree.own_branch
        if not self.gained(tree, commit, alone=alone):
            return Upon(commit)
        fork = next(each for each in self._history(commit) if self._led_to(each, tip))
        base = self.commits[commit].parent if alone else fork
        ours, others = self.commits[commit], self._gained(fork, tip)
        wanted, odds = self._merged(base, ours.contents, tip)
        if odds:
            raise AtOdds(odds, others, commit)
        self._refuse_if_used(project, own)
        if wanted == self.commits[tip].contents:
            made = tip
        else:
            self._step("record", tree)
            made = self._record(wanted, tip, ours.message)
        self._keep(project, tree, attempt, [tip, made], tree.path, moving=True)
        self._step("move", tree)
        project.refs[own] = made
        self._step("clean" if tree.path in self._places else "make", tree)
        self._bring(tree, made, tip)
        both = sorted(self._changed(fork, tip) & self._changed(base, commit))
        return Upon(made, tip, tuple(both), same=not both, others=others)

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

    def release(self, tree: Tree, attempt: int) -> None:
        """Keep what is not on the task's branch, then remove the tree. Steps: keep, remove, drop."""
        project = self._project(checked_tree(tree).project)
        stays = [project.refs.get(tree.branch, tree.base)]
        for path in {*self._lives(tree), tree.path}:
            self._keep(project, tree, attempt, stays, path, moving=not tree.detached)
        for path in self._lives(tree):
            self._step("remove", tree)
            del self._places[path]
        if (
            tree.own_branch in project.refs
            and not tree.detached
            and not project.looked_at.get(tree.own_branch)
        ):
            self._step("drop", tree)
            del project.refs[tree.own_branch]
        self._bases.pop(tree.root / tree.name, None)

    def remains(self, project: Path, root: Path, branch: str) -> set[str]:
        """Return the names of the trees of a task of which anything is there."""
        own = f"{branch.replace('task/', 'task-work/', 1)}/"
        found = {ref.removeprefix(own) for ref in self._project(project).refs if ref.startswith(own)}
        notes = [path.name for path in self._bases if path.parent == root]
        return found.union(
            notes, (path.name.partition(".")[0] for path in self._places if path.parent == root)
        )

    # The world around it --------------------------------------------------------------------------

    def work(self, tree: Tree, text: str, name: str = "work.txt", *, makes: bool = False) -> None:
        """Do as an agent would: leave a file in the tree. One that `makes` a folder where none is makes no worktree."""
        if makes:
            self._places.setdefault(tree.path, _Place("", "", {}, linked=False, known=False))
        self._places[tree.path].contents[name] = text

    def delete_file(self, tree: Tree, name: str) -> None:
        """Do as an agent would: delete a file of the tree."""
        del self._places[tree.path].contents[name]

    def commit_like_an_agent(self, tree: Tree) -> str:
        """Do as an agent would that commits by itself, on the tree's own branch."""
        place = self._places[tree.path]
        place.head = self._record(dict(place.contents), place.head, "an agent's own")
        if not tree.detached:
            self._project(tree.project).refs[tree.own_branch] = place.head
        return place.head

    def commit_elsewhere(self, parent: str, text: str, name: str = "work.txt") -> str:
        """Do as somebody would who works in another copy of the repository, and whose commit was fetched."""
        return self._record({**self.commits[parent].contents, name: text}, parent, ELSEWHERE)

    def contents(self, tree: Tree) -> Contents:
        """Return the files that lie in a tree."""
        return dict(self._places[tree.path].contents)

    def refs(self, project: Path) -> dict[str, str]:
        """Return the branches, and by full name the refs that keep work, with their commits."""
        return dict(self._project(project).refs)

    def ref(self, project: Path, name: str) -> str:
        """Return the commit of one of them; an empty string if there is none."""
        return self._project(project).refs.get(name, "")

    def look_at(self, project: Path, branch: str, where: str = "the user's tree") -> None:
        """Do as a user would who checks out `branch`; none, if it is empty."""
        self._project(project).looked_at = {branch: where} if branch else {}

    def trees(self) -> list[Path]:
        """Return where worktrees lie."""
        return [path for path, place in self._places.items() if place.linked]

    def lose(self, path: Path) -> None:
        """Do as somebody would who removes a tree's folder by hand."""
        self._places.pop(path, None)

    def prune(self, path: Path) -> None:
        """Do as git does where it finds a tree out of reach: forget it."""
        self._places[path].known = False

    def is_known(self, tree: Tree) -> bool:
        """Tell whether git knows of a tree that lies there."""
        return tree.path in self._places and self._places[tree.path].known

    def forget(self, project: Path) -> None:
        """Let `project` be no repository."""
        self._none.add(project)

    def fail_next(self, error: Exception) -> None:
        """Let the next operation raise `error` instead of being done."""
        self._fault = error

    # Parts ----------------------------------------------------------------------------------------

    def _step(self, step: Step, tree: Tree) -> None:
        if self.before is not None:
            self.before(step, tree.path)

    def _project(self, project: Path) -> _Project:
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        if project in self._none:
            raise Refused(f"{project} is not in a git repository: run `git init` there and commit")
        if project not in self._projects:
            self._projects[project] = _Project(self._record({"readme.txt": "hello\n"}, "", "first"))
        return self._projects[project]

    def _record(self, contents: Contents, parent: str, message: str) -> str:
        name = f"{len(self.commits) + 1:040x}"
        self.commits[name] = Commit(contents, parent, message)
        return name

    def _tip(self, project: _Project, tree: Tree) -> str:
        if tree.branch not in project.refs:
            if tree.base not in self.commits:
                raise Refused(f"the repository of {tree.project} has no commit {tree.base}")
            self._step("branch", tree)
            project.refs[tree.branch] = tree.base
        return project.refs[tree.branch]

    def _refuse_if_used(self, project: _Project, branch: str) -> None:
        if user := project.looked_at.get(branch):
            raise Unavailable(f"{branch} is checked out in {user}: switch to another branch there")

    def _at(self, project: Path, branch: str) -> str:
        if tip := self._project(project).refs.get(branch):
            return tip
        raise Refused(f"there is no branch {branch}")

    def _history(self, commit: str) -> Iterator[str]:
        while commit:
            yield commit
            commit = self.commits[commit].parent

    def _led_to(self, old: str, new: str) -> bool:
        while new and new != old:
            new = self.commits[new].parent
        return new == old

    def _committed_before(self, project: _Project, tree: Tree, lost: str, kept: str = "") -> tuple[str, int]:
        """Return the commit that an earlier call, cut off, had made of the tree; raise TreeLost if there is none."""
        made, tip = project.refs.get(tree.own_branch, ""), self._tip(project, tree)
        if made and self.commits[made].parent == tip:
            return made, self._differing(tip, made)
        raise TreeLost(lost, kept)

    def _differing(self, one: str, other: str) -> int:
        """Return in how many files two commits differ."""
        return len(self._changed(one, other))

    def _bring(self, tree: Tree, commit: str, tip: str) -> _Place:
        """Let a tree stand on a commit, and note which commit of the task's branch it was brought to."""
        place = self._places[tree.path] = _Place(commit, tip, dict(self.commits[commit].contents))
        self._bases[tree.root / tree.name] = tip
        return place

    def _lives(self, tree: Tree) -> list[Path]:
        """Return where the lives of a tree lie that are there."""
        return [path for path in self._places if path.parent == tree.root and tree.is_life(path.name)]

    def _replaced(self, tree: Tree, place: _Place) -> str:
        """Return why a folder is not the tree that was made, if it lacks files that nobody may have deleted."""
        base = self._bases.get(tree.root / tree.name, tree.base)
        missing = self.commits[base].contents.keys() - place.contents.keys()
        if place.linked or not missing:
            return ""
        return f"another folder is in the place of {tree.path}, and lacks {len(missing)} files"

    def _keep(
        self, project: _Project, tree: Tree, attempt: int, stays: list[str], path: Path, *, moving: bool
    ) -> str:
        """Put on refs what would be lost of a life of a tree; return the ref of what lies in it, if it was kept."""
        left = []
        prefix = tree.keep_prefix
        kept = {ref: commit for ref, commit in project.refs.items() if ref.startswith(prefix)}
        if place := self._places.get(path):
            head = place.head or self._bases.get(tree.root / tree.name, tree.base)
            place = replace(place, head=head)
            left.append(place.head)
            if place.contents != self.commits[place.head].contents:
                same = Commit(
                    place.contents, place.head, f"Work found in {tree.name} after attempt {attempt}"
                )
                known = [commit for commit in kept.values() if self.commits[commit].contents == same.contents]
                left = known or [self._record(dict(same.contents), same.parent, same.message)]
        work = left[-1] if left else ""
        if moving:
            left.append(project.refs.get(tree.own_branch, ""))
        for commit in dict.fromkeys(left):
            if not commit or commit in kept.values() or any(self._led_to(commit, other) for other in stays):
                continue
            number = 1
            while f"{prefix}{attempt}-{number}" in project.refs:
                number += 1
            self._step("keep", tree)
            project.refs[f"{prefix}{attempt}-{number}"] = commit
            stays.append(commit)
        return next(
            (ref for ref, commit in project.refs.items() if commit == work and ref.startswith(prefix)), ""
        )

    def _merged(self, base: str, ours: Contents, tip: str) -> tuple[Contents, list[str]]:
        """Return what both sides changed, by whole files, and the files where they are at odds, with both in them."""
        before, theirs = self.commits[base].contents, self.commits[tip].contents
        merged: Contents = {}
        odds = []
        for name in before | ours | theirs:
            mine, was, other = ours.get(name), before.get(name), theirs.get(name)
            if mine not in {was, other} and other not in {was, mine}:
                odds.append(name)
                merged[name] = f"{MARKER}{tip}\n{other or ''}=======\n{mine or ''}"
                continue
            wanted = other if mine == was else mine
            if wanted is not None:
                merged[name] = wanted
        return merged, sorted(odds)

    def _changed(self, one: str, other: str) -> set[str]:
        """Return the files in which two commits differ."""
        before, after = self.commits[one].contents, self.commits[other].contents
        return {name for name in before | after if before.get(name) != after.get(name)}

    def _gained(self, base: str, tip: str) -> tuple[str, ...]:
        """Return the commits that a branch has gained, as `hash subject`."""
        gained = takewhile(lambda commit: commit != base, self._history(tip))
        return tuple(f"{each[-7:]} {self.commits[each].message.splitlines()[0]}" for each in gained)
