"""`task list`: all tasks of this user."""

from __future__ import annotations

import json
import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import SAID, Exit, on_word
from orchestrator.cli.screen import ago, coloured, columns, harmless, stamp
from orchestrator.cli.table import table
from orchestrator.cli.tasks import TaskRecord, tasks

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

EXAMPLE = "task list --project ~/src/shop"
_ACTIVE = frozenset({"running", "waiting"})
HEADINGS = ("TASK", "STATE", "PHASE", "STEPS", "AGENTS", "ASKS", "CHANGED", "PROJECT")


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task list`."""
    parser.add_argument("--project", metavar="PATH", help="only the tasks of this project")
    parser.add_argument("--archived", action="store_true", help="the archived tasks instead (`task archive`)")
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Show all tasks, the most recently changed first."""
    if options.archived:
        from orchestrator.cli.archives import show

        return show(options)
    state = layout.state_folder(os.environ)
    beat = Beat(state)
    found = _found(state, options.project)
    if options.json:
        print(json.dumps(_document(found, beat)))
        return Exit.DONE
    if not found:
        print(_nothing(state, options.project or ""))
        return Exit.DONE
    now = time.time()
    for task in found:
        task.look_at_branch()
    rows = [row(task, now) for task in found]
    print("\n".join(table(HEADINGS, rows, columns(), colour=coloured(sys.stdout))))
    for task in found:
        if said := on_word(task.view):
            print(f"{task.id}: {said}")
        if task.moved[0]:  # a branch that was merged and then deleted is in its place
            print(f"{task.id}: {harmless(task.moved[1].replace('`', ''))}")
        if task.lost:
            print(f"{task.id}: {harmless(task.lost)}")
        if task.fault and task.begun:
            print(f"{task.id}: {task.fault}", file=sys.stderr)
    if not (beat.up and beat.room):
        print(beat.words())
    return Exit.DONE


def document(project: str = "") -> dict[str, Any]:
    """Return the JSON document about all tasks, or those of one project."""
    state = layout.state_folder(os.environ)
    return _document(_found(state, project), Beat(state))


def _document(found: list[TaskRecord], beat: Beat) -> dict[str, Any]:
    for task in found:
        task.look_at_branch()
    return {"tasks": [_shape(task) for task in found], "daemon": beat.shape()}


def _found(state: str, project: str | None) -> list[TaskRecord]:
    """Return all tasks, or those of one project, the one that changed last first."""
    found = tasks(state)
    if project:
        folder = os.path.realpath(project)
        found = [task for task in found if task.project == folder]
    return sorted(found, key=_changed, reverse=True)


def _nothing(state: str, project: str) -> str:
    """Return what to say where no task is to be listed: archived tasks, and those of other projects, are none of it."""
    try:
        archived = any(name.endswith(".tar.gz") for name in os.listdir(layout.archive(state)))  # noqa: PTH208 (no pathlib here)
    except OSError:
        archived = False
    begin = "to begin one, in a project's folder: task start NAME"
    said = f"no task of {harmless(project)}" if project else "no tasks now" if archived else "no tasks yet"
    return f"{said}; {begin}" + ("; some are archived: task list --archived" if archived else "")


def _changed(task: TaskRecord) -> float:
    """Return when a task last changed: `updated` also moves when the daemon looks at a task that rests."""
    view = task.view
    moments = [view.get("started_at"), view.get("moved_at")]
    moments += [each.get("since") for key in ("steps", "agents") for each in view.get(key) or ()]
    moments += [each.get("asked_at") for each in view.get("questions") or ()]
    known = [float(each) for each in moments if each]
    return max(known) if known else float(view.get("updated") or 0.0)


def state_of(task: TaskRecord) -> str:
    """Return a task's state, which is also that of one that has no view, or that is being taken away."""
    if task.leaving:
        return "removing"
    return "damaged" if task.fault and task.begun else str(task.view.get("state", "requested"))


def _shape(task: TaskRecord) -> dict[str, Any]:
    view, counted = task.view, task.view.get("counts") or {}
    return {
        "id": task.id,
        "task": task.name,
        "project": task.project or None,
        "phase": view.get("phase"),
        "state": state_of(task),
        "limited": _limited(view),
        "steps_passed": counted.get("passed", 0),
        "steps_set_aside": counted.get("set_aside", 0),
        "steps_total": counted.get("total", 0),
        "agents_live": sum(agent.get("state") != "gone" for agent in view.get("agents", ())),
        "criteria": counted.get("criteria", 0),
        "criteria_met": counted.get("met", 0),
        "criteria_attested": counted.get("attested", 0),
        "questions_open": len(view.get("questions", ())),
        "branch_moved": task.moved[1] or None,
        "folder_missing": bool(task.lost),
        "last_checkin": stamp(view.get("last_checkin")),
        "updated": stamp(view.get("updated")),
    }


def _limited(view: dict[str, Any]) -> dict[str, Any] | None:
    if not view.get("limited"):
        return None
    from orchestrator.cli.usage_limits import limit_shape

    return limit_shape(view["limited"])


def _steps(shape: dict[str, Any]) -> str:
    """Return how many steps passed, and how many were set aside, if any."""
    aside = f", {shape['steps_set_aside']} set aside" if shape["steps_set_aside"] else ""
    return f"{shape['steps_passed']}/{shape['steps_total']}{aside}"


def _state(task: TaskRecord, shape: dict[str, Any]) -> str:
    """Return the state in words, and that the branch or the task's folder is not where the PM left it."""
    moved = "".join(f", {each}" for each in (task.moved[0], "folder missing" if task.lost else "") if each)
    return f"{SAID.get(shape['state'], shape['state'])}{_on_word(shape)}{moved}"


def _on_word(shape: dict[str, Any]) -> str:
    """Return what follows the state of a complete task of which a judge's word alone shows a criterion to be met."""
    attested = shape["criteria_attested"] if shape["state"] == "complete" else 0
    return f", {attested} of {shape['criteria']} on word" if attested else ""


def row(task: TaskRecord, now: float) -> tuple[object, ...]:
    """Return a task's cells below `HEADINGS`."""
    shape = _shape(task)
    home = os.path.expanduser("~")  # noqa: PTH111 (no pathlib here)
    project = str(shape["project"] or "")
    return (
        shape["task"],
        "limited" if shape["limited"] else _state(task, shape),
        shape["phase"] if shape["state"] in _ACTIVE else "",
        _steps(shape) if task.view else "",
        shape["agents_live"] or "",
        shape["questions_open"] or "",
        ago(_changed(task) or None, now),
        f"~{project[len(home) :]}" if project.startswith(f"{home}/") else project,
    )
