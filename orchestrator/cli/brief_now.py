"""Whether the task.md of a task at rest asks for something else by now: its user may have edited it since."""

from __future__ import annotations

import os

from orchestrator import layout
from orchestrator.cli.screen import harmless, typed

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_AT_WORK = ("running", "waiting")
_JUDGED = ("complete", "partial")
_MOST_BYTES = 1 << 20
_NAMED = 3


def asked_since(view: dict[str, Any]) -> str:
    """Return what task.md asks for since a task came to rest, and what takes that up; empty if that is nothing.

    Of a task that is over that is what nobody has judged: other criteria, another goal. Only a file that was changed
    after the last step moved is read. One that cannot be read says nothing here: `task start` reports what is wrong.
    """
    judged = {f"{each.get('text')}" for each in view.get("criteria") or ()}
    if view.get("state") in _AT_WORK:
        return ""
    path = layout.task_brief(layout.task_folder(f"{view['project']}", view["task"]))
    moved = max((step.get("since") or 0.0 for step in view.get("steps") or ()), default=0.0)
    try:
        if os.stat(path).st_mtime <= moved:  # noqa: PTH116 (no pathlib here)
            return ""
        goal, criteria = _asks(path)
    except (OSError, ValueError):
        return ""
    over = view.get("state") in _JUDGED
    fresh = [each for each in criteria if each not in judged] if over and judged else []
    changed = bool(view.get("goal")) and goal != view["goal"]
    if not (fresh or changed):
        return ""
    more = f" and {len(fresh) - _NAMED} more" if len(fresh) > _NAMED else ""
    named = (
        [f"nobody has judged: {'; '.join(harmless(each) for each in fresh[:_NAMED])}{more}"] if fresh else []
    )
    named += ["its goal is another one now"] if changed else []
    start = typed("task", "start", view["task"], "--project", view["project"])
    since = "the end" if over else "it came to rest"
    return f"was edited since {since}, and {', and '.join(named)}; to go on with that: {start}"


def _asks(path: str) -> tuple[str, list[str]]:
    """Return goal and criteria of a task.md as a task's state shows them. Raises OSError, ValueError: unreadable."""
    from orchestrator import (
        plain_files,
    )  # only for a file that was edited: this costs as much as all of `task status`
    from orchestrator.formats.redact import redacted
    from orchestrator.formats.task_file import read_brief
    from orchestrator.model.errors import OrchestratorError

    try:
        brief = read_brief(plain_files.read(path, _MOST_BYTES))
    except OrchestratorError as error:
        raise ValueError(str(error)) from error
    return redacted(brief.goal), [redacted(each) for each in brief.criteria]
