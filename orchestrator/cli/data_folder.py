"""The folder of data of a project: memories, handoffs, statuses of agents (C4 to C6)."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.tasks import tasks
from orchestrator.model.errors import Refused

VARIABLE: Final = "ORCHESTRATOR_DATA"


def data_folder(project: str | None, having: tuple[str, ...]) -> Path:
    """Return the folder of data that is meant: that of a project, else `$ORCHESTRATOR_DATA`, else the nearest one.

    Args:
        project: The project's folder; None: as seen from where the user is.
        having: By which folders in it a folder of data is known: the nearest one upwards that has one of them, else
            the one here.

    Raises:
        Refused: the project is no folder.

    """
    if project is not None:
        folder = Path(project).expanduser().absolute()
        if not folder.is_dir():
            raise Refused(f"{folder} is no folder: give the project's")
        return folder / layout.DATA
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if any((folder / layout.DATA / each).is_dir() for each in having):
            return folder / layout.DATA
    return here / layout.DATA


def data_folders(options: Namespace, having: tuple[str, ...]) -> list[Path]:
    """Return the folders of data of a command: one, or with `--all-projects` that and those of all tasks' projects."""
    first = data_folder(options.project, having)
    if not options.all_projects:
        return [first]
    projects = {task.project for task in tasks(layout.state_folder(os.environ)) if task.project}
    found = dict.fromkeys([first, *(Path(each) / layout.DATA for each in sorted(projects))])
    return [each for each in found if any((each / name).is_dir() for name in having)] or [first]
