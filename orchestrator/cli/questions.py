"""`task questions`: lists what waits for the user's answer, over all tasks."""

from __future__ import annotations

import json
import os
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import columns, harmless
from orchestrator.cli.status import question_shape
from orchestrator.cli.status_page import question_lines, unheard
from orchestrator.cli.tasks import called, find, tasks

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from orchestrator.cli.tasks import TaskRecord

EXAMPLE = "task questions"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task questions`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="only of this task")
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Show the open questions, each with the command that answers it."""
    if options.json:
        print(json.dumps(document(options.name, options.project)))
        return Exit.DONE
    asking, beat = _asking(options.name, options.project), Beat(layout.state_folder(os.environ))
    if not asking:
        print("no question is waiting for your answer")
    for task in asking:
        print(f"{task.name}  {harmless(task.project)}")
        print("\n".join(question_lines(task.view["questions"], called(task), columns(), time.time())[1:]))
        if waits := "" if beat.up else unheard(task.view):
            print(f"  {waits.removeprefix('; ')} (an answer of yours may be one of them)")
        print()
    if asking and (beat.late or not beat.up):
        print(beat.words())
    return Exit.DONE


def document(name: str | None, project: str | None) -> dict[str, Any]:
    """Return the JSON document of the open questions of all tasks, or of one. Raises what `find` raises."""
    return {
        "questions": [
            {"task": task.name, "task_id": task.id, "project": task.project, **question_shape(question)}
            for task in _asking(name, project)
            for question in task.view["questions"]
        ]
    }


def _asking(name: str | None, project: str | None) -> list[TaskRecord]:
    found = [find(name, project)] if name else tasks(layout.state_folder(os.environ))
    return [task for task in found if task.view.get("questions")]
