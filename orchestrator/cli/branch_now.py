"""Whether the branch of a task at rest still is where the daemon last saw it: its user may have moved or deleted it.

The daemon looks at the branch of a task that is over when something happens to it, and at no other time. So what its
state says of the branch may be days old. A look at two small files shows whether that still holds; it starts no
process, as `task status` has to answer at once. Where references are kept in another way (`reftable`), nothing is
known, and nothing is corrected (`branch_files`).
"""

from __future__ import annotations

import os

from orchestrator import layout

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

SHORT = 10
"""Characters of a commit's hash that are shown."""

_ACTIVE = ("running", "waiting")
_MERGED = "all of it in your tree's HEAD"
"""What the daemon writes of a branch that its user has merged."""


def branch_moved(view: dict[str, Any]) -> tuple[str, str]:
    """Return in two words and in a sentence where the branch of a task at rest is, if it is not where its state says.

    Both are empty if it is there, or if that is not known; the two words also if it was merged and then deleted.
    `view` is the task's state, as the daemon wrote it.
    """
    return _look(view)[:2]


def folder_missing(view: dict[str, Any]) -> str:
    """Return that the folder of a task at rest is not in its project; empty if it is.

    The daemon looks at it while the task is at work, and asks. `view` is the task's state, as the daemon wrote it.
    """
    if view.get("state") in _ACTIVE or not view.get("task"):
        return ""
    folder = layout.task_folder(f"{view.get('project')}", f"{view['task']}")
    return (
        ""
        if os.path.lexists(folder)
        else f"{folder} is missing, and with it the task's handoffs and artifacts"
    )


def with_branch_now(view: dict[str, Any], now: float) -> dict[str, Any]:
    """Return a task's state with its result corrected, if its branch is not where that says; else the state as it is.

    Evidence of its criteria that is not there any more is said to be history.

    Args:
        view: the task's state, as the daemon wrote it.
        now: the time, in seconds since the epoch.

    """
    moved, work, what, every = _look(view)
    if view.get("criteria") and view.get("state") not in _ACTIVE:
        from orchestrator.cli.criteria_now import (
            with_criteria_now,
        )  # most tasks are at work, or have none yet

        view = with_criteria_now(view, moved)
    if not every:
        view = _without_start(_without_outputs(view))
    return _corrected(view, work, what, now, every=every) if work else view


def _without_outputs(view: dict[str, Any]) -> dict[str, Any]:
    """Return a state that does not say that outputs of agents lie in the task's folder while that is missing."""
    outcome = view.get("outcome") or {}
    where = f" in tasks/{view.get('task')}/orchestration/"
    if where not in f"{outcome.get('work')}" or not folder_missing(view):
        return view
    said = [
        f"{each.partition(where)[0]} in the task's folder, which is missing" if where in each else each
        for each in f"{outcome['work']}".split("; ")
    ]
    return {**view, "outcome": {**outcome, "work": "; ".join(said)}}


def _without_start(view: dict[str, Any]) -> dict[str, Any]:
    """Return a state that offers no start while the project is missing, though its code may lie elsewhere."""
    project, outcome = f"{view.get('project')}", view.get("outcome") or {}
    if (
        "`task start " not in f"{outcome.get('next')}"
        or view.get("state") in _ACTIVE
        or not _is_missing(project)
    ):
        return view
    steps = [
        _put_back(project) if "`task start " in each else each for each in f"{outcome['next']}".split("; ")
    ]
    return {**view, "outcome": {**outcome, "next": "; ".join(dict.fromkeys(steps))}}


def _is_missing(folder: str) -> bool:
    return not os.path.isdir(folder)  # noqa: PTH112 (no pathlib here)


def _put_back(folder: str) -> str:
    return f"put {folder} back to where it was"


def _look(view: dict[str, Any]) -> tuple[str, str, str, bool]:
    """Return where the branch is, in short and in words, what helps, and whether nothing else can be done before."""
    outcome, branch, tip = view.get("outcome") or {}, view.get("branch"), f"{view.get('tip') or ''}"
    if not outcome or view.get("state") in _ACTIVE:
        return "", "", "", False
    code, task = f"{view.get('code') or view.get('project')}", view.get("id")
    has_branch = bool(branch and tip and view.get("base"))
    if _is_missing(code):
        work = f"branch `{branch}` was at {tip[:SHORT]}" if has_branch else "it was done"
        return "project missing", f"{work} in {code}, which is missing", _put_back(code), True
    if not has_branch:
        return "", "", "", False
    from orchestrator.workspaces.branch_files import commit_of  # for a task at work nothing is looked at

    found = commit_of(code, f"{branch}")
    if found in {None, tip}:
        return "", "", "", False
    if not found and _MERGED in f"{outcome.get('work')}":  # whoever merges a branch deletes it then
        seen = f"there is no branch `{branch}`" in f"{outcome.get('work')}"  # the daemon knows
        work = (
            ""
            if seen
            else f"there is no branch `{branch}`: it was at {tip[:SHORT]}, {_MERGED} when it was there"
        )
        return "", work, "it is merged already", False
    if not found:
        work = f"there is no branch `{branch}`: it was at {tip[:SHORT]}"
        return "no branch", work, f"`task diff {task}` says how to get the branch back", False
    work = f"branch `{branch}` is at {found[:SHORT]}, where the PM left it at {tip[:SHORT]}"
    return (
        "branch moved",
        work,
        f"`task merge {task}` says what is different, and how to put the branch back",
        False,
    )


def _corrected(
    view: dict[str, Any], work: str, what: str, now: float, *, every: bool = False
) -> dict[str, Any]:
    """Return a state whose result says where the branch is, and what can be done about that.

    `every` replaces all that may be done next, not only what takes the branch over.
    """
    outcome = view["outcome"]
    said = f"{outcome.get('work') or ''}".split("; ")
    about = [each for each in said if f"`{view['branch']}`" in each]
    said = [work if each in about else each for each in said] if about else [*filter(None, said), work]
    steps = f"{outcome.get('next') or ''}".split("; ")
    steps = [what if every or "`task merge " in each or "`task diff " in each else each for each in steps]
    corrected = {
        **outcome,
        "work": "; ".join(dict.fromkeys(said)),
        "next": "; ".join(dict.fromkeys(steps)),
        "branch_seen": now,
    }
    return {**view, "outcome": corrected}
