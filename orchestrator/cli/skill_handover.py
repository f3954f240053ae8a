"""`task skill run --daemon` has the daemon drive a session, as a task; without `--daemon` commands take it back (S4).

::

    steps 1 to 4, as by the commands ─▶ the state file names the task ─▶ tasks/NAME/task.md ─▶ task start
    a task at rest ─▶ its session is asked for ─▶ the daemon lets go of it: the state file names no task

The state file names the task before the daemon reads it, so that no command moves the session meanwhile. Killed
anywhere in between, the same command goes on: the name of the task comes from that of the session. A task that has
given its session back is over; the next one has the next name.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.cli.brief import lay_down_text
from orchestrator.cli.caller import forbid_inside_run
from orchestrator.cli.daemon_startup import ensure_running
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.progress import Waiting
from orchestrator.cli.requests import PATIENCE, ask, waiting
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.start_target import folder_of, known_task, project_folder
from orchestrator.cli.task_branch import code_of, repository_of
from orchestrator.cli.tasks import AT_WORK, called
from orchestrator.formats.settings import load_settings
from orchestrator.formats.skill.task_text import skill_task
from orchestrator.formats.task_file import read_brief
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.composite import SkillState
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.task import SKILLS, WorkspaceKind
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.user_tree import UserTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.cli.skill_driver import SkillDriver
    from orchestrator.cli.tasks import TaskRecord
    from orchestrator.model.composite import SkillSession

_PAUSE: Final = 0.02
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
    project = project_folder(driver.session().project)
    with alone(path):
        before = driver.session()
        session = driver.take_over(_name(before, project))
    try:
        _lay_down(session, project, path, fresh=not before.task)
        return _start(session.task, project)
    except (CommandError, Refused):
        known = known_task(layout.state_folder(os.environ), session.task, str(project))
        if known is None or not (known.begun or waiting(known.home, "start")):
            with alone(path):
                driver.give_back(session.task)
        raise


def take_back(driver: SkillDriver, path: Path, alone: Callable[[Path], AbstractContextManager[None]]) -> str:
    """Have commands drive a session again, if its task is at rest; return where earlier work is, empty if here.

    Args:
        driver: The session's driver.
        path: Its state file.
        alone: Keeps other commands from the state file.

    Raises:
        CommandError: the daemon refuses it, or is silent: the request stays pending then.
        Refused: the task is at work.

    """
    session = driver.session()
    if not session.task or session.state is SkillState.COMPLETE:
        return ""
    task = known_task(layout.state_folder(os.environ), session.task, session.project)
    if task is None or not task.wanted:
        with alone(path):
            driver.give_back(session.task)
        return ""
    forbid_inside_run("skill run")
    if not task.begun or task.readable_view()["state"] in AT_WORK:
        raise Refused(driver.driven(session))
    ensure_running(layout.state_folder(os.environ))
    ask(task.home, "give-back", {})
    _await_release(driver, session.task)
    return _left_on_branch(task)


def _await_release(driver: SkillDriver, task: str) -> None:
    """Wait until the state file shows that no task drives the session: the daemon writes it after its reply."""
    deadline = time.monotonic() + PATIENCE
    with Waiting("waiting for the daemon to let go of the session") as waiting_shown:
        while driver.session().task == task:
            waiting_shown.look()
            if time.monotonic() > deadline:
                raise CommandError(
                    Exit.DOWN,
                    f"the daemon has let go of the session, and its state file does not say so after {PATIENCE:.0f} s: "
                    "`task daemon status` shows how the daemon is; then repeat this command",
                )
            time.sleep(_PAUSE)


def _left_on_branch(task: TaskRecord) -> str:
    """Return how the work of earlier phases is brought into the user's tree; empty if there is none elsewhere."""
    view = task.view
    if not view.get("base"):
        return ""
    with suppress(Refused, Unavailable):  # a branch that cannot be looked at is worth a word, too
        repository = repository_of(view)
        tip = repository.commit_of(f"refs/heads/{view['branch']}")
        if not tip or tip == view["base"]:
            return ""
        if repository.is_ancestor(tip, UserTree.of(repository, code_of(view)).head):
            return ""
    merge = typed("task", "merge", called(task), "--anyway")
    branch = harmless(view["branch"])
    return f"The work of the phases that the daemon has ended is on {branch}. First of all:\n\n    {merge}\n"


def _name(session: SkillSession, project: Path) -> str:
    """Return the name of the task of a session: the first that no task has which has begun, if it has none yet."""
    if session.task:
        return session.task
    state, number, suffix = layout.state_folder(os.environ), 1, ""
    while True:
        name = f"{session.skill[: _SKILL_NAME - len(suffix)]}-{session.session}{suffix}"
        known = known_task(state, name, str(project))
        if known is None or not known.begun:
            return name
        number += 1
        suffix = f"-{number}"


def _lay_down(session: SkillSession, project: Path, path: Path, *, fresh: bool) -> None:
    """Write the task.md, if there is none of this session. `fresh`: commands drove it until now."""
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
        if fresh and session.phases_completed and config.workspace is not WorkspaceKind.SHARED:
            raise CommandError(
                Exit.USAGE,
                f"phases have worked in your own tree since {harmless(brief)} was written, and worktrees would lack "
                f"their work: write `workspace: {WorkspaceKind.SHARED}` there",
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
