"""Everything that belongs to a task and goes with it: branches, kept tries, worktrees, folders, its session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.exclude import tracks
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless
from orchestrator.cli.task_branch import code_of, commits_said, elsewhere, repository_of
from orchestrator.cli.tasks import TaskRecord, tasks
from orchestrator.formats.amounts import size_said
from orchestrator.model.errors import Refused
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.task_refs import TaskRefs, held, only_there

_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class TaskResources:
    """What a task has. `repository` is None if it is missing, or if a task of the same name shares the branch.

    `folder` is its folder in the project, None if there is none or the user tracks it; `why` lists what stays and why.
    """

    task: TaskRecord
    repository: Repository | None
    holdings: TaskRefs
    worktrees: Path
    folder: Path | None
    mirrors: tuple[Path, ...]
    why: tuple[str, ...]

    @property
    def home(self) -> Path:
        """The PM's own folder of the task."""
        return Path(self.task.home)

    @property
    def branch(self) -> str:
        """The task's branch."""
        return f"task/{self.task.name}"

    def unmerged(self) -> list[str]:
        """Return the work that no branch of the user's contains, a sentence each; empty if there is none."""
        lost = [f"{harmless(path)}: holds uncommitted work" for path in self.holdings.unsaved]
        if self.repository is None:
            return lost
        only, has = partial(only_there, self.repository, self.branch), self.holdings
        branches = {name: only([commit]) for name, commit in has.branches.items()}
        lost += [
            f"{name}: {commits_said(count)} in no other branch" for name, count in branches.items() if count
        ]
        if count := only([*has.kept.values()], [*has.branches.values()]):
            lost.append(f"refs that keep tries ({len(has.kept)}): {commits_said(count)} in no branch")
        if count := only([head for head in has.trees.values() if head], [*has.refs.values()]):
            lost.append(f"worktrees: {commits_said(count)} on no ref")
        return lost

    @property
    def mergeable(self) -> bool:
        """True where the task's own branch has a commit that no other branch has: kept tries cannot be merged."""
        tip = self.holdings.branches.get(self.branch)
        return bool(self.repository and tip and only_there(self.repository, self.branch, [tip]))

    def lines(self) -> Iterator[str]:
        """Yield one line for each thing that goes, then for each that stays."""
        names = list(self.holdings.branches)
        yield from _listed("branch", names)
        yield from _listed("kept try", list(self.holdings.kept))
        yield from _listed("worktree", list(self.holdings.trees))
        if self.folder is not None:
            yield f"  folder     {harmless(self.folder)}, {size_said(size_of(self.folder))}"
        yield from _listed("from boxes", self.mirrors)
        yield f"  state      {harmless(self.home)}, {size_said(size_of(self.home))}: journal, logs, reports"
        yield "  session    its windows in tmux, if there are any"
        yield from (f"  stays      {each}" for each in self.why)


def belongings_of(task: TaskRecord) -> TaskResources:
    """Look up everything that belongs to a task.

    Raises:
        CommandError: the user has checked out its branch; or its folder is not a plain folder.
        Unavailable: git does not answer now.

    """
    state, stays = layout.state_folder(os.environ), list[str]()
    root = Path(layout.task_worktrees(state, task.id))
    repository, holdings = _in_git(task, root, stays)
    folder = _folder(task, stays)
    boxes = Path(layout.boxes(state))
    mirrors = tuple(path for path in boxes.glob(f"*/{task.id}") if path.is_dir()) if boxes.is_dir() else ()
    if task.view and (away := elsewhere(task.view)):
        stays.append(f"its files on {away}: the task's folder there, and what its agents left")
    return TaskResources(task, repository, holdings, root, folder, mirrors, tuple(stays))


def size_of(path: Path) -> int:
    """Return the bytes of all files below a folder; unreadable ones count as 0."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(f"{folder}/{name}").st_size
            except OSError:
                continue
    return total


def _in_git(task: TaskRecord, root: Path, stays: list[str]) -> tuple[Repository | None, TaskRefs]:
    """Return the task's repository and its refs there; no refs if another task has the same branch there."""
    if not task.view.get("base"):
        return None, TaskRefs({})
    try:
        repository = repository_of(task.view)
    except Refused as error:
        stays.append(f"its branch and refs in git: {harmless(error)}")
        return None, TaskRefs({})
    branch = f"task/{task.name}"
    has = held(repository, code_of(task.view), branch, str(task.view["base"]), root)
    for other in tasks(layout.state_folder(os.environ), task.name):
        if other.id != task.id and other.view.get("base") and _repository_folder(other) == repository.folder:
            stays.append(f"{branch} and its tries: {other.id} in {harmless(other.project)} uses them too")
            return repository, TaskRefs({}, {}, has.unsaved)
    if user := repository.user_of(branch):
        raise CommandError(
            Exit.FAILED, f"{branch} is checked out in {harmless(user)}: switch to another branch there first"
        )
    return repository, has


def _repository_folder(task: TaskRecord) -> Path | None:
    try:
        return repository_of(task.view).folder
    except Refused:
        return None


def _folder(task: TaskRecord, stays: list[str]) -> Path | None:
    """Return the task's folder in its project, if there is one to delete. Raises CommandError."""
    if not task.project:
        return None
    folder = Path(layout.task_folder(task.project, task.name))
    if not os.path.lexists(folder):
        return None
    if folder.is_symlink() or folder.resolve() != folder or not folder.is_dir():
        raise CommandError(
            Exit.FAILED,
            f"{harmless(folder)} is a link or no folder: remove it by hand first",
        )
    if tracks(Path(task.project), task.name):
        stays.append(f"{harmless(folder)}: you track it in git")
        return None
    return folder


def _listed(what: str, names: Iterable[object]) -> Iterator[str]:
    shown = [harmless(name) for name in names]
    for n, name in enumerate(shown[:_LISTED]):
        yield f"  {what if not n else '':10} {name}"
    if len(shown) > _LISTED:
        yield f"  {'':10} and {len(shown) - _LISTED} more"
