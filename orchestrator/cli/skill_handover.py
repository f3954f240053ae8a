"""`task skill run --daemon`: a session becomes a task, in which the daemon spawns the agent of each phase (S4).

::

    steps 1 to 4, as by the commands ─▶ the state file names the task ─▶ tasks/NAME/task.md ─▶ task start

The state file names the task before the daemon reads it, so that no command moves the session meanwhile. Killed
anywhere in between, the same command goes on: the name of the task comes from that of the session.
"""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.cli.brief import lay_down_text
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.requests import waiting
from orchestrator.cli.screen import harmless
from orchestrator.cli.start_target import folder_of, known_task, project_folder
from orchestrator.formats.settings import load_settings
from orchestrator.formats.skill.task_text import skill_task
from orchestrator.formats.task_file import read_brief
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.task import SKILLS, WorkspaceKind
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE
from orchestrator.workspaces.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.cli.skill_driver import SkillDriver
    from orchestrator.model.composite import SkillSession

_SKILL_NAME: Final = 50
"""How much of a skill's name the name of its task has: with the session's, it is within what a name may have."""


def hand_over(driver: SkillDriver, path: Path, alone: Callable[[Path], AbstractContextManager[None]]) -> int:
    """Have the daemon drive a session from the step at which it stands; return the exit code of `task start`.

    Args:
        driver: The session's driver.
        path: Its state file.
        alone: Keeps other commands from the state file.

    Raises:
        CommandError: the task could not be started. The commands drive the session again, then.
        Refused: no phase is left, or another task drives the session.

    """
    with alone(path):
        session = driver.take_over(_name(driver.session()))
    project = project_folder(session.project)
    try:
        _lay_down(session, project, path)
        return _start(session.task, project)
    except (CommandError, Refused):
        known = known_task(layout.state_folder(os.environ), session.task, str(project))
        if known is None or not (known.begun or waiting(known.home, "start")):
            with alone(path):
                driver.give_back(session.task)
        raise


def _name(session: SkillSession) -> str:
    return session.task or f"{session.skill[:_SKILL_NAME]}-{session.session}"


def _lay_down(session: SkillSession, project: Path, path: Path) -> None:
    """Write the task.md, if there is none of this session."""
    folder = folder_of(project, session.task)
    named = str(path.relative_to(project) if path.is_relative_to(project) else path)
    brief = layout.task_brief(folder)
    if brief.exists():
        config = read_brief(DiskFiles().read(brief), str(brief)).config
        if (config.family, config.session) != (SKILLS, named):
            raise CommandError(
                Exit.USAGE,
                f"{harmless(brief)} exists already, and is of another task: remove it, or begin anew",
            )
        return
    text = skill_task(session, named, _workspace(session, project), MEMORIES_COMPLETE)
    if read_brief(text.encode(), "task.md").config.session != named:
        raise CommandError(Exit.USAGE, f"{named!a} cannot stand in a task.md: give another path by --state")
    lay_down_text(folder, text)


def _workspace(session: SkillSession, project: Path) -> WorkspaceKind:
    """Return where the agents work: in worktrees, or in the user's own tree if earlier phases have worked there."""
    if session.phases_completed:
        return WorkspaceKind.SHARED
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    try:
        repository = Repository.of(project, settings.git.timeout, os.environ)
    except (Refused, Unavailable):
        return WorkspaceKind.SHARED
    return WorkspaceKind.WORKTREE if repository.commit_of("HEAD") else WorkspaceKind.SHARED


def _start(name: str, project: Path) -> int:
    from orchestrator.cli.starting import run

    wanted = {"template": None, "family": None, "yes": False, "follow": False, "verbose": False}
    return run(Namespace(name=name, project=str(project), **wanted))
