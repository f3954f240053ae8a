"""The commands and files that a user needs after a start and at the end."""

from __future__ import annotations

import os
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.screen import columns, harmless
from orchestrator.cli.status_page import outcome
from orchestrator.cli.tasks import TaskRecord, called


def after_start(task: TaskRecord) -> list[str]:
    """Return the commands to look at a task that was just started."""
    name, folder = called(task), _folder(task)
    return [
        f"  folder     {folder}",
        f"  progress   {layout.task_progress(folder)}",
        f"  status     task status {name}",
        f"  look in    task attach {name}",
        "  questions  task questions",
    ]


def after_end(task: TaskRecord, *, colour: bool) -> list[str]:
    """Return the state of a task that ended or waits, and where its results are."""
    view, folder = task.readable_view(), _folder(task)
    beat = Beat(layout.state_folder(os.environ))
    return [
        *outcome(view, called(task), beat, columns(), time.time(), colour=colour),
        "",
        f"progress   {layout.task_progress(folder)}",
        f"artifacts  {layout.artifacts(folder)}",
    ]


def _folder(task: TaskRecord) -> str:
    return harmless(layout.task_folder(task.project, task.name))
