"""Git in memory: commits are counted, files are a dictionary; and what agents and users do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal, TypeAlias

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.workspaces import LeftOut
from orchestrator.ports.worktree import Tree

Contents: TypeAlias = dict[str, str]
Step: TypeAlias = Literal["branch", "keep", "make", "record", "move", "clean", "merge", "remove", "drop"]
"""What changes something. Each operation says which it takes."""

ELSEWHERE: Final = "made elsewhere"
"""The message of a commit that was made in another copy of the repository."""

MARKER: Final = "<<<<<<< "
"""What a file holds in which both sides of a conflict stand."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: all files as it has them, the commit before it, and its message."""

    contents: Contents
    parent: str = ""
    message: str = ""


@dataclass(slots=True)
class FakeProject:
    """A repository: what the user's tree stands on, the refs, and which branches are checked out elsewhere."""

    head: str
    refs: dict[str, str] = field(default_factory=dict)
    looked_at: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class FakePlace:
    """A tree on the imagined disk: what it stands on, what it was last brought to, and its files.

    `linked` is false of a folder that somebody else made in its place, `known` while git has forgotten the tree.
    """

    head: str
    base: str
    contents: Contents
    linked: bool = True
    known: bool = True


class FakeGit:
    """Repositories and the trees of their tasks. Any folder is a repository with one commit until `forget` is called.

    `before` is called ahead of each change, with the tree's path, and may raise (a BaseException too) to kill
    the caller there: the change is then not done. It may be set at any time.
    """

    def __init__(self, *, before: Callable[[Step, Path], None] | None = None) -> None:
        self.before = before
        self.commits: dict[str, Commit] = {}
        self.shared: dict[Path, Contents] = {}
        self.apart: dict[Path, LeftOut] = {}
        """What no commit can hold, of each tree that has such."""
        self.away: set[str] = set()
        """Commits that were made in another copy of the repository, and of which this one has none yet."""
        self._projects: dict[Path, FakeProject] = {}
        self._places: dict[Path, FakePlace] = {}
        self._bases: dict[Path, str] = {}
        self._none: set[Path] = set()
        self._fault: Exception | None = None

    def work(self, tree: Tree, text: str, name: str = "work.txt", *, makes: bool = False) -> None:
        """Do as an agent would: leave a file in the tree. One that `makes` a folder where none is makes no worktree."""
        if makes:
            self._places.setdefault(tree.path, FakePlace("", "", {}, linked=False, known=False))
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

    def merge_elsewhere(self, parent: str, other: str) -> str:
        """Do as somebody would who merges another commit upon one, in another copy of the repository."""
        both = {**self.commits[parent].contents, **self.commits[other].contents}
        return self._record(both, parent, ELSEWHERE)

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

    def _step(self, step: Step, tree: Tree) -> None:
        if self.before is not None:
            self.before(step, tree.path)

    def _project(self, project: Path) -> FakeProject:
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        if project in self._none:
            raise Refused(f"{project} is not in a git repository: run `git init` there and commit")
        if project not in self._projects:
            self._projects[project] = FakeProject(self._record({"readme.txt": "hello\n"}, "", "first"))
        return self._projects[project]

    def _record(self, contents: Contents, parent: str, message: str) -> str:
        name = f"{len(self.commits) + 1:040x}"
        self.commits[name] = Commit(contents, parent, message)
        return name

    def _tip(self, project: FakeProject, tree: Tree) -> str:
        if tree.branch not in project.refs:
            if tree.base not in self.commits:
                raise Refused(f"the repository of {tree.project} has no commit {tree.base}")
            self._step("branch", tree)
            project.refs[tree.branch] = tree.base
        return project.refs[tree.branch]

    def _tip_to_begin_at(self, project: FakeProject, tree: Tree) -> str:
        tip = self._tip(project, tree)
        if tip == tree.base or tree.base not in self.commits or not self._led_to(tip, tree.base):
            return tip
        if tree.branch not in project.looked_at:  # somebody set it back
            self._step("branch", tree)
            project.refs[tree.branch] = tree.base
        return tree.base

    def _refuse_if_used(self, project: FakeProject, branch: str) -> None:
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

    def _differing(self, one: str, other: str) -> int:
        """Return in how many files two commits differ."""
        return len(self._changed(one, other))

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
