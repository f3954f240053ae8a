"""A task's work as git has it: its branch in the user's repository, looked up when somebody asks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import TaskRecord
from orchestrator.formats.settings import load_settings
from orchestrator.model.host_names import HERE, is_box
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.user_tree import UserTree

SHORT: Final = 10
"""Signs of a commit's hash that are shown."""

_WHOLE: Final = "complete"
_NAMED: Final = 10
_FILES: Final = 20
_HELD: Final = {"set_aside": "set aside", "failed": "failed", "blocked": "blocked"}


@dataclass(frozen=True, slots=True)
class Work:
    """The branch of a task. `code` is the folder of the user's that its repository was found by, `tip` its commit."""

    task: TaskRecord
    code: Path
    repository: Repository
    branch: str
    base: str
    tip: str

    def own_tree(self) -> UserTree:
        """Return the user's own tree. Raises Refused, Unavailable."""
        return UserTree.of(self.repository, self.code)

    def count(self) -> int:
        """Return how many commits the branch has of its own."""
        return int(self.repository.git.ask("rev-list", "--count", f"{self.base}..{self.tip}"))


def work_of(task: TaskRecord) -> Work:
    """Find the branch of a task.

    Raises:
        CommandError: it has none; the message says where its work is, if that is known.
        Refused: its repository is gone, or git will not touch it.
        Unavailable: git cannot be asked now.

    """
    told = task.believed()
    if not told.get("base"):
        raise CommandError(
            Exit.FAILED,
            f"{task.name} has no branch of its own: it works in your own tree, {harmless(code_of(told))}",
        )
    repository, branch = repository_of(told), str(told["branch"])
    tip = repository.commit_of(f"refs/heads/{branch}")
    if not tip:
        raise CommandError(
            Exit.FAILED,
            f"{task.name} has no branch {branch} in {harmless(code_of(told))}"
            + _what_was_on_it(told, repository, branch),
        )
    return Work(task, code_of(told), repository, branch, str(told["base"]), tip)


def _what_was_on_it(told: dict[str, Any], repository: Repository, branch: str) -> str:
    """Say of a branch that is not there whether anything was ever on it, and how to have that again.

    Raises:
        Unavailable: git cannot be asked now.

    """
    made = {str(step["commit"]): str(step["id"]) for step in told.get("steps", ()) if step.get("commit")}
    if not made:
        return ": nothing was made on it yet"
    kept = {commit: step for commit, step in made.items() if repository.commit_of(commit)}
    if not kept:
        return ": the commits that were made for it are not in this repository any more"
    named = "".join(
        f"\n  {commit[:SHORT]}  {harmless(step)}" for commit, step in list(kept.items())[-_NAMED:]
    )
    last = next(reversed(kept))
    again = typed("git", "-C", code_of(told), "branch", branch, last[:SHORT])
    return (
        f" any more: it was deleted or renamed. These commits were made for it:{named}\n"
        f"to have it again at the last of them: {again}"
    )


def repository_of(told: dict[str, Any]) -> Repository:
    """Return the repository in which a task's branch is. Raises Refused, Unavailable."""
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    return Repository.of(code_of(told), settings.git.deadline, os.environ)


def code_of(told: dict[str, Any]) -> Path:
    """Return the folder whose code a task works on; what an older daemon told does not have it."""
    return Path(str(told.get("code") or told["project"]))


def lacking(told: dict[str, Any]) -> list[str]:
    """Return what a task lacks to be whole, a sentence each; nothing if it is complete in all its parts.

    A step that was planned anew lacks nothing: others do its work.
    """
    lacks = []
    if told["state"] != _WHOLE:
        why = f" ({harmless(told['why'])})" if told.get("why") else ""
        lacks.append(f"it is {harmless(SAID.get(told['state'], told['state']))}{why}")
    steps = [step for step in told["steps"] if not step.get("replaced")]
    for status, said in _HELD.items():
        lacks += _named(said, [step.get("id") for step in steps if step.get("status") == status])
    rest = [step.get("id") for step in steps if step.get("status") not in {"passed", *_HELD}]
    lacks += _named("not done", rest)
    lacks += _named("not met", [each.get("text") for each in told["criteria"] if not each.get("met")])
    lacks += _named("asked", [f"{each.get('id')}" for each in told["questions"]])
    return lacks


def elsewhere(told: dict[str, Any]) -> str:
    """Return the boxes on which a task's agents work; empty if they all work here."""
    hosts = dict.fromkeys(str(agent.get("host") or HERE) for agent in told["agents"])
    return ", ".join(harmless(host) for host in hosts if is_box(host))


def _named(said: str, names: list[Any]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{said}: {', '.join(harmless(name) for name in names[:_NAMED])}{more}"]


def commits_said(count: int) -> str:
    """Return so many commits in words."""
    return f"{count} commit{'' if count == 1 else 's'}"


def names_said(names: Sequence[str]) -> str:
    """Return names of files, each on a line; of many the first."""
    lines = [f"  {harmless(name)}" for name in names[:_FILES]]
    return "\n".join([*lines, *([f"  and {len(names) - _FILES} more"] if len(names) > _FILES else [])])
