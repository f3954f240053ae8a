"""The changes that a task, a step or one of its attempts made. Looked up in git, not stored.

The journal names the commit that each attempt handed in; refs keep what was rejected, or never handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.journal import newest_first
from orchestrator.cli.screen import harmless
from orchestrator.cli.task_branch import SHORT, Work
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.host_names import is_box
from orchestrator.workspaces.ref_compaction import GATHERED

_COMMITTED: Final = "work_committed"


@dataclass(frozen=True, slots=True)
class Change:
    """A change: its description, and the commit and the commit or tree between which it lies."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt at a step, with the commit that it handed in or that a ref keeps."""

    attempt: int
    commit: str


def whole(work: Work) -> Change:
    """Return the change of the whole task branch. Raises Unavailable."""
    git = work.repository.git
    start = git.find("merge-base", work.base, work.tip) or work.base
    return Change(f"{work.branch}, since {start[:SHORT]}", start, work.tip)


def of_step(work: Work, step: dict[str, Any], attempt: int | None, state: str) -> Change:
    """Return what a step has changed, in its last attempt or in the given one.

    Raises:
        CommandError: there is nothing to show; the message says what can be shown.
        Unavailable: git does not answer now.

    """
    name = str(step["id"])
    if attempt is None:
        if step.get("status") == "working" and (uncommitted := _uncommitted(work, step, state)) is not None:
            return uncommitted
        handed_in = str(step.get("commit") or "")
        if handed_in and work.repository.commit_of(handed_in):
            return Change(f"{name}, {handed_in[:SHORT]}", _start(work, step, handed_in), handed_in)
    tries = tries_of(work, [step])[name]
    found = [each for each in tries if attempt in {None, each.attempt}]
    if found:
        last = found[-1]
        what = f"{name}, attempt {last.attempt}, {last.commit[:SHORT]}"
        return Change(what, _start(work, step, last.commit), last.commit)
    if attempt is None:
        raise CommandError(Exit.FAILED, f"{harmless(name)} has changed nothing yet")
    known = ", ".join(str(each.attempt) for each in tries) or "none"
    raise CommandError(
        Exit.FAILED, f"attempt {attempt} at {harmless(name)} has left nothing; kept attempts: {known}"
    )


def tries_of(work: Work, steps: Sequence[dict[str, Any]]) -> dict[str, list[Try]]:
    """Return, by step, the attempts of which something is kept, oldest first."""
    found: dict[str, dict[int, str]] = {str(step["id"]): {} for step in steps}
    for line in newest_first(Path(layout.task_journal(work.task.home)), f'"{_COMMITTED}"'.encode()):
        fact = line["fact"]
        if fact.get("kind") == _COMMITTED and fact.get("step") in found and fact.get("commit"):
            found[fact["step"]].setdefault(int(fact["attempt"]), str(fact["commit"]))
    kept = _kept(work)
    for step in steps:
        if step.get("id") == _first_of(step, steps):
            for attempt, commit in kept.get(_tree_of(step), ()):
                found[str(step["id"])].setdefault(attempt, commit)
    there = _existing(work, {commit for tries in found.values() for commit in tries.values()})
    return {
        step: [Try(n, commit) for n, commit in sorted(tries.items()) if commit in there]
        for step, tries in found.items()
    }


def _existing(work: Work, commits: set[str]) -> set[str]:
    """Return the commits that exist in the repository."""
    wanted = "".join(f"{commit}\n" for commit in sorted(commits))
    said = work.repository.git.ask("cat-file", "--batch-check", stdin=wanted.encode(errors="replace"))
    return {line.split(" ")[0] for line in said.splitlines() if line.split(" ")[1:2] == ["commit"]}


def _kept(work: Work) -> dict[str, list[tuple[int, str]]]:
    """Return, by worktree, the attempts and commits that refs keep.

    A ref carries the number of the attempt that the tree was prepared for; its content is of the attempt before.
    """
    prefix, git = f"refs/tasks/{work.branch}/", work.repository.git
    lines = git.ask("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    gathered = f"{GATHERED}{work.branch.removeprefix('task/')}"
    if work.repository.commit_of(gathered):
        lines += git.ask("log", "--format=%B", gathered).splitlines()
    kept: dict[str, list[tuple[int, str]]] = {}
    for line in lines:
        ref, _, commit = line.partition(" ")
        tree, _, number = ref.removeprefix(prefix).partition("/")
        attempt = number.partition("-")[0]
        if ref.startswith(prefix) and attempt.isdigit():
            kept.setdefault(tree, []).append((max(int(attempt) - 1, 1), commit))
    return kept


def _first_of(step: dict[str, Any], steps: Sequence[dict[str, Any]]) -> object:
    """Return the id of the step that writes to a step's tree; the other steps of its subtask judge the result."""
    return next(each.get("id") for each in steps if _tree_of(each) == _tree_of(step))


def _start(work: Work, step: dict[str, Any], commit: str) -> str:
    """Return the commit that a step's work was built on.

    That is its parent. Work from a box may have several commits: there it is the nearest one that another step
    handed in.
    """
    git = work.repository.git
    parent = git.find("rev-parse", "--verify", "--quiet", f"{commit}^") or work.base
    if not _is_on_box(work, step) or not work.repository.is_ancestor(work.base, commit):
        return parent
    led = git.ask("rev-list", "--first-parent", f"{work.base}..{commit}").split()
    others = {str(each.get("commit")) for each in work.task.view["steps"]} - {commit}
    left = git.find("merge-base", commit, work.tip)
    return next((each for each in led[1:] if each in others or each == left), work.base)


def _is_on_box(work: Work, step: dict[str, Any]) -> bool:
    """Return whether a step's agent works on a box."""
    hosts = {
        agent.get("host") for agent in work.task.view["agents"] if agent.get("agent") == step.get("agent")
    }
    return any(is_box(host) for host in hosts if host)


def _uncommitted(work: Work, step: dict[str, Any], state: str) -> Change | None:
    """Return uncommitted work in the tree of a step that is being worked on; None if there is no such tree."""
    import tempfile  # only where somebody works: what follows imports more than all else here

    from orchestrator.ports.worktree import Tree
    from orchestrator.workspaces.checkout import Checkout
    from orchestrator.workspaces.commit_work import base_of
    from orchestrator.workspaces.snapshot import seen
    from orchestrator.workspaces.tree_generations import last_life

    root = Path(layout.task_worktrees(state, work.task.id))
    tree = last_life(Tree(work.code, root, _tree_of(step), work.branch, work.base))
    if tree.path.is_symlink() or not tree.path.is_dir():
        return None
    with suppress(Refused, Unavailable), tempfile.TemporaryDirectory() as folder:
        start = base_of(work.repository, tree, work.tip)
        lies = seen(Checkout.at(work.repository, tree.path), Path(folder) / "index", start)
        if lies != work.repository.tree_of(start):
            return Change(f"{step['id']}, uncommitted in {tree.path}", start, lies)
    return None


def _tree_of(step: dict[str, Any]) -> str:
    """Return the name of the tree that a step works in: its subtask's or its own."""
    return str(step.get("subtask") or step["id"])
