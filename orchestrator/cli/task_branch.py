"""A task's work in git: its branch in the user's repository, read when a verb needs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.brief_now import asked_since
from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import TaskRecord
from orchestrator.formats.settings import load_section
from orchestrator.model.errors import Unavailable
from orchestrator.model.host_names import HERE, is_box
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.user_tree import UserTree

SHORT: Final = 10
"""Characters of a commit hash that are shown."""

_WHOLE: Final = "complete"
_NAMED: Final = 10
_FILES: Final = 20
_HELD: Final = {"set_aside": "set aside", "failed": "failed", "blocked": "blocked"}


@dataclass(frozen=True, slots=True)
class Work:
    """A task's branch. `code` is the user's folder that led to the repository; `tip` is the branch's commit."""

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
        """Return the number of commits on the branch since its base."""
        return int(self.repository.git.ask("rev-list", "--count", f"{self.base}..{self.tip}"))


def work_of(task: TaskRecord) -> Work:
    """Find the branch of a task.

    Raises:
        CommandError: it has none; the message says where the work is, if known.
        Refused: the repository is missing, or git refuses to use it.
        Unavailable: git does not answer now.

    """
    view = task.readable_view()
    if not view.get("base"):
        raise CommandError(
            Exit.FAILED,
            f"{task.name} has no branch of its own: it works in your own tree, {harmless(code_of(view))}",
        )
    repository, branch = repository_of(view), str(view["branch"])
    tip = repository.commit_of(f"refs/heads/{branch}")
    if not tip:
        raise CommandError(
            Exit.FAILED,
            f"{task.name} has no branch {branch} in {harmless(code_of(view))}"
            + _what_was_on_it(view, repository, branch),
        )
    return Work(task, code_of(view), repository, branch, str(view["base"]), tip)


def _what_was_on_it(view: dict[str, Any], repository: Repository, branch: str) -> str:
    """Explain a missing branch: whether it ever had commits, and how to restore it.

    Raises:
        Unavailable: git does not answer now.

    """
    made = {str(step["commit"]): str(step["id"]) for step in view.get("steps", ()) if step.get("commit")}
    if not made:
        return ": no step has committed to it yet"
    kept = {commit: step for commit, step in made.items() if repository.commit_of(commit)}
    if not kept:
        return ": it was deleted or renamed, and its commits are no longer in this repository"
    tip = str(view.get("tip") or "")
    if tip in kept:  # what is committed later was not accepted: it was never on the branch
        kept = {each: step for each, step in kept.items() if each == tip or repository.is_ancestor(each, tip)}
    named = "".join(
        f"\n  {commit[:SHORT]}  {harmless(step)}" for commit, step in list(kept.items())[-_NAMED:]
    )
    last = tip if tip in kept else next(reversed(kept))
    again = typed("git", "-C", code_of(view), "branch", branch, last[:SHORT])
    return (
        f": it was deleted or renamed. Its commits were:{named}\nto restore it at the last of them: {again}"
    )


def repository_of(view: dict[str, Any]) -> Repository:
    """Return the repository that holds a task's branch. Raises Refused, Unavailable."""
    git = load_section(Path(layout.config_file(os.environ)), os.environ, "git")
    return Repository.of(code_of(view), git.timeout, os.environ)


def code_of(view: dict[str, Any]) -> Path:
    """Return the folder of the code that a task works on; a `state.json` of an older daemon lacks `code`."""
    return Path(str(view.get("code") or view["project"]))


def lacking(view: dict[str, Any]) -> list[str]:
    """Return what keeps a task from being complete, one sentence each; empty if it is complete.

    A step that was planned anew does not count: other steps do its work.
    """
    lacks = []
    if view["state"] != _WHOLE:
        why = f" ({harmless(view['why'])})" if view.get("why") else ""
        lacks.append(f"it is {harmless(SAID.get(view['state'], view['state']))}{why}")
    steps = [step for step in view["steps"] if not step.get("replaced")]
    for status, said in _HELD.items():
        lacks += _named(said, [step.get("id") for step in steps if step.get("status") == status])
    rest = [step.get("id") for step in steps if step.get("status") not in {"passed", *_HELD}]
    lacks += _named("not done", rest)
    lacks += _named("not met", [each.get("text") for each in view["criteria"] if not each.get("met")])
    if more := asked_since(view):
        lacks.append(f"task.md {more}")
    lacks += _named("asked", [f"{each.get('id')}" for each in view["questions"]])
    return lacks


def astray(work: Work) -> str:
    """Return that a branch is not where the PM left it, and how to put it back; empty if it is there."""
    left = str(work.task.view.get("tip") or "")
    if left in {"", work.tip}:  # nothing was merged, or an older daemon wrote it
        return ""
    try:
        more = int(work.repository.git.ask("rev-list", "--count", f"{left}..{work.tip}"))
        what = commits_said(more) + " on it " + ("was" if more == 1 else "were") + " not accepted"
        if not more or not work.repository.is_ancestor(left, work.tip):
            what = "it lacks work that was accepted" + (f", and {what}" if more else "")
    except Unavailable:
        what = "that commit is not in this repository any more"
    back = typed("git", "-C", work.code, "branch", "--force", work.branch, left[:SHORT])
    where = f"{work.branch} is at {work.tip[:SHORT]}, and was left at {left[:SHORT]}"
    return f"{where}: {what}; to put it back: {back}"


def elsewhere(view: dict[str, Any]) -> str:
    """Return the boxes on which a task's agents work; empty if all of them work here."""
    hosts = dict.fromkeys(str(agent.get("host") or HERE) for agent in view["agents"])
    return ", ".join(harmless(host) for host in hosts if is_box(host))


def _named(said: str, names: list[Any]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{said}: {', '.join(harmless(name) for name in names[:_NAMED])}{more}"]


def commits_said(count: int) -> str:
    """Return a number of commits in words."""
    return f"{count} commit{'' if count == 1 else 's'}"


def names_said(names: Sequence[str]) -> str:
    """Return file names, one per line; of a long list the first 20."""
    lines = [f"  {harmless(name)}" for name in names[:_FILES]]
    return "\n".join([*lines, *([f"  and {len(names) - _FILES} more"] if len(names) > _FILES else [])])
