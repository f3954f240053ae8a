"""All that belongs to a task and goes with it, looked up: branches, kept tries, worktrees, folders, its session."""

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
    """What a task has. `repository` is None where it is gone, or another task of the same name shares the branch.

    `folder` is its own in the project, None if there is none or the user tracks it; `why` says what stays, and why.
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
        """Return what nothing else has, a sentence each; nothing if all of it is in branches of the user's."""
        lost = [f"{harmless(path)}: holds what is not committed" for path in self.holdings.unsaved]
        if self.repository is None:
            return lost
        only, has = partial(only_there, self.repository, self.branch), self.holdings
        branches = {name: only([commit]) for name, commit in has.branches.items()}
        lost += [
            f"{name}: {commits_said(count)} in no other branch" for name, count in branches.items() if count
        ]
        if count := only([*has.kept.values()], [*has.branches.values()]):
            lost.append(f"{len(has.kept)} refs that keep tries: {commits_said(count)} in no branch")
        if count := only([head for head in has.trees.values() if head], [*has.refs.values()]):
            lost.append(f"worktrees: {commits_said(count)} on no ref")
        return lost

    def lines(self) -> Iterator[str]:
        """Yield what goes, a line each, and what stays."""
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
    """Look up all that belongs to a task.

    Raises:
        CommandError: its branch is checked out by the user; or its folder is not what it should be.
        Unavailable: git cannot tell now.

    """
    state, stays = layout.state_folder(os.environ), list[str]()
    root = Path(layout.task_worktrees(state, task.id))
    repository, holdings = _in_git(task, root, stays)
    folder = _folder(task, stays)
    boxes = Path(layout.boxes(state))
    mirrors = tuple(path for path in boxes.glob(f"*/{task.id}") if path.is_dir()) if boxes.is_dir() else ()
    if task.told and (away := elsewhere(task.told)):
        stays.append(f"what lies on {away}: its folder of the task there, and what its agents left")
    return TaskResources(task, repository, holdings, root, folder, mirrors, tuple(stays))


def size_of(path: Path) -> int:
    """Return the bytes of all files beneath a folder; what cannot be looked at counts for nothing."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(f"{folder}/{name}").st_size
            except OSError:
                continue
    return total


def _in_git(task: TaskRecord, root: Path, stays: list[str]) -> tuple[Repository | None, TaskRefs]:
    """Return the task's repository, and what it has there; no refs where another task has the same branch there."""
    if not task.told.get("base"):
        return None, TaskRefs({})
    try:
        repository = repository_of(task.told)
    except Refused as error:
        stays.append(f"what it had in git: {harmless(error)}")
        return None, TaskRefs({})
    branch = f"task/{task.name}"
    has = held(repository, code_of(task.told), branch, str(task.told["base"]), root)
    for other in tasks(layout.state_folder(os.environ), task.name):
        if other.id != task.id and other.told.get("base") and _repository_folder(other) == repository.folder:
            stays.append(
                f"{branch} and its tries: they are also those of {other.id}, in {harmless(other.project)}"
            )
            return repository, TaskRefs({}, {}, has.unsaved)
    if user := repository.user_of(branch):
        raise CommandError(
            Exit.FAILED, f"{branch} is checked out in {harmless(user)}: switch to another branch there first"
        )
    return repository, has


def _repository_folder(task: TaskRecord) -> Path | None:
    try:
        return repository_of(task.told).folder
    except Refused:
        return None


def _folder(task: TaskRecord, stays: list[str]) -> Path | None:
    """Return the task's folder in its project, if there is one that is to go. Raises CommandError."""
    if not task.project:
        return None
    folder = Path(layout.task_folder(task.project, task.name))
    if not os.path.lexists(folder):
        return None
    if folder.is_symlink() or folder.resolve() != folder or not folder.is_dir():
        raise CommandError(
            Exit.FAILED,
            f"{harmless(folder)} leads elsewhere by a link, or is no folder: take it away by hand first",
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
