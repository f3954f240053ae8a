"""Whether the evidence for success criteria is still there: after its end a task's user may move or delete it.

What was found when a criterion was judged stays in the state. A look at the files that are named, and what is known of
the branch, shows what of it is only history by now. Lines are not counted again, and a file that was changed since is
there.
"""

from __future__ import annotations

import os

from orchestrator import layout

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_BRANCH = {"no branch": "that branch is gone", "branch moved": "that branch was moved since"}
"""What is said of evidence on a branch, by where that is (`branch_now.branch_moved`)."""


def with_criteria_now(view: dict[str, Any], moved: str) -> dict[str, Any]:
    """Return the state of a task at rest whose criteria say which of their evidence is not there any more.

    Args:
        view: the task's state, as the daemon wrote it.
        moved: where its branch is, in two words, if it is not where that says.

    """
    before = view.get("criteria") or []
    now = [_seen(view, each, moved) for each in before]
    return view if now == before else {**view, "criteria": now}


def _seen(view: dict[str, Any], mark: dict[str, Any], moved: str) -> dict[str, Any]:
    evidence = [f"{each}" for each in mark.get("evidence") or ()]
    details = [f"{each}" for each in mark.get("details") or ()]
    details += [""] * (len(evidence) - len(details))
    gone = [_gone(view, text, detail, moved) for text, detail in zip(evidence, details, strict=False)]
    if not any(gone):
        return mark
    said = [
        f"{detail or 'there'} when it was judged; {why}" if why else detail
        for detail, why in zip(details, gone, strict=False)
    ]
    return {**mark, "details": said}


def _gone(view: dict[str, Any], text: str, detail: str, moved: str) -> str:
    """Return why a piece of evidence is not there any more; empty if it is, or if that is not known."""
    if f" on the branch {view.get('branch')}" in detail:
        return "its project is missing now" if moved == "project missing" else _BRANCH.get(moved, "")
    place = _place(view, text.partition(":")[0], detail)
    return "it is missing now" if place and not os.path.lexists(place) else ""


def _place(view: dict[str, Any], path: str, detail: str) -> str:
    """Return where a file lies on this machine that is evidence; empty if it is something else."""
    project, name = f"{view.get('project')}", f"{view.get('task')}"
    if path.startswith("/"):
        return path
    if path.startswith(("artifacts/", "orchestration/")):
        return f"{layout.task_folder(project, name)}/{path}"
    if path.startswith(f"tasks/{name}/artifacts/"):
        return f"{project}/{path}"
    return f"{view.get('code') or project}/{path}" if " in the project" in detail else ""
