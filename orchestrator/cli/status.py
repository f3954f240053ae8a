"""`task status`: shows a task's state as its files record it; works with and without a running daemon."""

from __future__ import annotations

import json
import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.branch_now import with_branch_now
from orchestrator.cli.exits import OF_TASK, Exit
from orchestrator.cli.screen import coloured, columns, stamp
from orchestrator.cli.state_file import report_file
from orchestrator.cli.tasks import AT_WORK, about_task, called, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

EXAMPLE = "task status tidy"
_MOMENTS = ("started_at", "moved_at", "last_checkin", "updated")
_OF_AGENTS = ("since", "turn_since")


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task status`."""
    about_task(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")
    parser.add_argument("--exit-code", action="store_true", help="exit by its state (`task help exit-codes`)")


def run(options: Namespace) -> int:
    """Print one task, for people or as JSON."""
    task = chosen(options)
    view = task.readable_view()
    beat = Beat(layout.state_folder(os.environ))
    if options.json:
        print(json.dumps(shape(view, beat)))
    else:
        from orchestrator.cli.status_page import page  # not for JSON, nor for `task report`

        colour = coloured(sys.stdout)
        view = with_branch_now(view, time.time())
        print("\n".join(page(view, called(task), beat, columns(), time.time(), colour=colour)))
    return OF_TASK.get(view["state"], Exit.FAILED) if options.exit_code else Exit.DONE


def shape(view: dict[str, Any], beat: Beat) -> dict[str, Any]:
    """Return a task's JSON document: its `state.json` with RFC 3339 timestamps, plus the daemon's heartbeat.

    Where the branch of a task at rest is not where that says, its result is corrected.
    """
    view = with_branch_now(view, time.time())
    return {
        **view,
        "asked_since": _asked_since(view),
        **{key: stamp(view.get(key)) for key in _MOMENTS},
        "limited": _limit_shape(view.get("limited")),
        "outcome": _outcome_shape(view.get("outcome") or {}),
        "steps": [
            {
                **step,
                "since": stamp(step.get("since")),
                "began": stamp(step.get("began")),
                "limit": _limit_shape(step.get("limit")),
            }
            for step in view["steps"]
        ],
        "agents": [
            {**agent, **{key: stamp(agent.get(key)) for key in _OF_AGENTS}} for agent in view["agents"]
        ],
        "boxes": [_box_shape(box) for box in view.get("boxes") or ()],
        "questions": [question_shape(question) for question in view["questions"]],
        "report": _report_shape(view),
        "daemon": beat.shape(view.get("updated")),
    }


def _asked_since(view: dict[str, Any]) -> str:
    if view["state"] in AT_WORK:
        return ""
    from orchestrator.cli.brief_now import asked_since

    return asked_since(view)


def _box_shape(box: dict[str, Any]) -> dict[str, Any]:
    return {
        **box,
        "failing": [{**each, "since": stamp(each.get("since"))} for each in box.get("failing") or ()],
        "missing": [{**each, "ended": stamp(each.get("ended"))} for each in box.get("missing") or ()],
    }


def _report_shape(view: dict[str, Any]) -> dict[str, Any] | None:
    found = report_file(view)
    return {"path": found[0], "written": stamp(found[1]), "outdated": found[2]} if found else None


def question_shape(question: dict[str, Any]) -> dict[str, Any]:
    """Return one open question as the JSON documents show it."""
    moments = {key: stamp(question.get(key)) for key in ("asked_at", "deadline")}
    return {**question, **moments}


def _outcome_shape(outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "branch_seen": stamp(outcome.get("branch_seen"))} if outcome else {}


def _limit_shape(limit: dict[str, Any] | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    from orchestrator.cli.usage_limits import limit_shape

    return limit_shape(limit)
