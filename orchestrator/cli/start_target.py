"""Which task `task start` means: its name, its project, its folder, and whether it is known already."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import TaskRecord, homes, project_here, tasks
from orchestrator.model.names import checked_name


def meant(options: Namespace) -> tuple[str, Path]:
    """Return the name and project of the task to start, whether it exists already or not.

    Without --project, in this order: the task with this id; the nearest project from here upwards that has a task
    of this name, as for all other verbs; a new task here.

    Raises:
        CommandError: the task's folder is missing here; or another project has a task of this name, and no option says
            that a new one begins here.

    """
    name, state = checked_name(options.name, "task name"), layout.state_folder(os.environ)
    if options.project is not None:
        return name, project_folder(options.project)
    for task in tasks(state, name):
        if task.id == name and task.project:
            return task.name, project_folder(task.project)
    if here := project_here(name):
        return name, Path(here)
    here = str(project_folder("."))
    elsewhere = [] if options.template else [task.project for task in tasks(state, name) if task.project]
    if here in elsewhere:
        folder, anew = layout.task_folder(here, name), typed("task", "start", name, "--project", here)
        raise CommandError(
            Exit.FAILED,
            f"{harmless(folder)} is missing, and with it what {name} is to do: put it back to where it was; "
            f"to write a new task.md: {anew}",
        )
    if elsewhere:
        begins = typed("task", "start", name, "--project", here)
        others = "".join(f"\n  {typed('task', 'start', name, '--project', each)}" for each in elsewhere)
        raise CommandError(
            Exit.USAGE,
            f"{harmless(here)} has no task {name}, but another project has. To go on with that one:{others}\n"
            f"To begin one here:\n  {begins}",
        )
    return name, Path(here)


def project_folder(given: str) -> Path:
    """Return the project's folder, resolved. Raises CommandError: it is no folder."""
    project = Path(given).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(
            Exit.USAGE, f"{project} is not a folder: give the project's folder by --project PATH"
        )
    return project


def folder_of(project: Path, name: str) -> Path:
    """Return the task's folder. Raises CommandError: it is reached by a symbolic link."""
    folder = layout.task_folder(project, name)
    if folder.resolve() != folder:
        raise CommandError(
            Exit.USAGE, f"{folder} leads elsewhere by a symbolic link: replace it by a real folder"
        )
    return folder


def known_task(state: str, name: str, project: str) -> TaskRecord | None:
    """Return the task if it is known. An unreadable state may be this task's, so it is an error."""
    namesakes = [task for task in homes(state, name) if task.name == name]
    for task in namesakes:
        if task.project == project:
            return task
    for task in namesakes:
        if not task.project and task.begun:
            task.readable_view()
    return next((task for task in namesakes if not task.wanted), None)
