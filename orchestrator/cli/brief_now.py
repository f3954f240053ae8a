"""Whether the task.md of a task that is over asks for more than was judged: its user may have edited it since."""

from __future__ import annotations

import os

from orchestrator import layout
from orchestrator.cli.screen import harmless, typed

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_JUDGED = ("complete", "partial")
_MOST_BYTES = 1 << 20
_NAMED = 3


def asked_since(view: dict[str, Any]) -> str:
    """Return which success criteria task.md has that nobody has judged, and what takes them up; empty if none.

    Only a file that was changed after the last step ended is read. One that cannot be read says nothing here: `task
    start` reports what is wrong with it.
    """
    judged = {f"{each.get('text')}" for each in view.get("criteria") or ()}
    if view.get("state") not in _JUDGED or not judged:
        return ""
    path = layout.task_brief(layout.task_folder(f"{view['project']}", view["task"]))
    ended = max((step.get("since") or 0.0 for step in view.get("steps") or ()), default=0.0)
    try:
        if os.stat(path).st_mtime <= ended:  # noqa: PTH116 (no pathlib here)
            return ""
        fresh = [each for each in _criteria(path) if each not in judged]
    except (OSError, ValueError):
        return ""
    if not fresh:
        return ""
    more = f" and {len(fresh) - _NAMED} more" if len(fresh) > _NAMED else ""
    named = "; ".join(harmless(each) for each in fresh[:_NAMED])
    start = typed("task", "start", view["task"], "--project", view["project"])
    return f"was edited since the end, and nobody has judged: {named}{more}; to go on with that: {start}"


def _criteria(path: str) -> list[str]:
    """Return the criteria of a task.md as a task's state shows them. Raises OSError, ValueError: it does not read."""
    from orchestrator import (
        plain_files,
    )  # only for a file that was edited: this costs as much as all of `task status`
    from orchestrator.formats.redact import redacted
    from orchestrator.formats.task_file import read_brief
    from orchestrator.model.errors import OrchestratorError

    try:
        return [redacted(each) for each in read_brief(plain_files.read(path, _MOST_BYTES)).criteria]
    except OrchestratorError as error:
        raise ValueError(str(error)) from error
