"""`task start`: creates a task's folder and asks the daemon to begin it or go on with it (H1)."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout, own_files
from orchestrator.cli.brief import filled_brief, is_remote, lay_down
from orchestrator.cli.channels import channels_found
from orchestrator.cli.daemon_startup import ensure_running
from orchestrator.cli.exclude import exclude
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.findings import Finding, Severity, can_run
from orchestrator.cli.next_steps import after_end, after_start
from orchestrator.cli.requests import NeedsYes, answer_to, send, waiting
from orchestrator.cli.screen import coloured, columns, harmless, typed
from orchestrator.cli.start_target import folder_of, known_task, meant
from orchestrator.cli.tail import Tail
from orchestrator.cli.tasks import AT_WORK, TaskRecord, called
from orchestrator.formats.settings import load_settings
from orchestrator.model.task import SKILLS, Brief
from orchestrator.notifications.terminals import remember

if TYPE_CHECKING:
    from orchestrator.cli.steps_shown import StepsShown


def run(options: Namespace) -> int:
    """Create what is missing, hand the task to the daemon, and report what was done."""
    name, project = meant(options)
    folder = folder_of(project, name)
    known = known_task(layout.state_folder(os.environ), name, str(project))
    lay_down(folder, project, options.template, options.family)
    brief = filled_brief(folder, project)
    unfit = list[str]()
    if known is None or known.view.get("state") not in AT_WORK:
        unfit = _checked(name, project, brief, known=known is not None)
    exclude(project, name)

    asked_at = time.time()
    arguments = {"project": str(project), "name": name} | ({"unfit": "\n".join(unfit)} if unfit else {})
    task, request, log = _request_start(arguments)
    before = task.view.get("steps", [])
    remember(layout.state_folder(os.environ))
    try:
        began = ensure_running(layout.state_folder(os.environ))
    except CommandError as error:
        raise CommandError(error.code, f"{error}\n{name} begins as soon as the daemon is up") from error
    if began:
        print("the daemon was started")
    print(harmless(_reply(task, request, arguments, yes=options.yes)), flush=True)
    task.read()
    if options.follow:
        from orchestrator.cli.steps_shown import StepsShown

        return _followed(task, log if options.verbose else StepsShown(before), asked_at)
    print("\n".join(after_start(task)))
    return Exit.DONE


def _checked(name: str, project: Path, brief: Brief, *, known: bool) -> list[str]:
    """Check whether a task could start, print what may prevent it, and return the unfit boxes of pools.

    A task that is at work is not checked: the daemon looks after what it needs, including unreachable boxes.

    Raises:
        CommandError: it could not start.

    """
    from orchestrator.cli.precheck import Case, look

    settings, of_session = load_settings(Path(layout.config_file(os.environ)), os.environ), list[Finding]()
    if brief.config.family == SKILLS:
        from orchestrator.cli.skill_check import with_session  # other families have none

        brief, of_session = with_session(project, name, brief)
    case = Case(name, project, brief, settings, os.environ, known)
    found = [*of_session, *look(case)]
    found += channels_found(settings.notify, os.environ)
    width, colour = columns(), coloured(sys.stdout)
    for each in found:
        if each.severity is not Severity.OK:
            print("\n".join(each.lines(width, colour=colour)))
    if not can_run(found):
        raise CommandError(
            Exit.FAILED,
            f"{name} was not started: provide first what is marked `missing`, then check again without starting: "
            f"`{typed('task', 'start', name, '--project', project, '--check')}`",
        )
    if not is_remote(brief):
        return []
    from orchestrator.cli.remote import check_boxes

    return check_boxes(case)


def _request_start(arguments: dict[str, str]) -> tuple[TaskRecord, str, Tail]:
    """Send the request to start a task, under its existing id or a new one.

    Args:
        arguments: the request's arguments: the project, the task's name, and unfit boxes.

    Returns the task, the request, and the PM's log from now on.
    """
    state, name = layout.state_folder(os.environ), arguments["name"]
    with _alone(state):
        task = known_task(state, name, arguments["project"]) or TaskRecord(
            state, f"{name}-{os.urandom(4).hex()}"
        )
        if os.path.lexists(layout.task_leaving(task.home)):
            task.readable_view()
        log = Tail(Path(layout.task_log(task.home)), from_end=True)
        request = waiting(task.home, "start")
        return task, request or send(task.home, "start", arguments), log


def _reply(task: TaskRecord, request: str, arguments: dict[str, str], *, yes: bool) -> str:
    """Return the daemon's reply. If the daemon wants a confirmation, get it and send the request again.

    Raises:
        CommandError: the daemon refuses; or the user is not there to confirm, or declines.

    """
    try:
        return answer_to(task.home, request)
    except NeedsYes as needed:
        if not yes:
            _agree(needed, task)
        return answer_to(task.home, send(task.home, "start", arguments | {"confirmed": needed.confirm}))


def _agree(needed: NeedsYes, task: TaskRecord) -> None:
    """Ask the user at the terminal to confirm. Raises CommandError if they decline, or with no terminal."""
    text = "\n".join(harmless(line) for line in str(needed).splitlines())
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(
            Exit.FAILED,
            f"{text}\nto confirm: {typed('task', 'start', task.name, '--project', task.project, '--yes')}",
        )
    print(text)
    try:
        said = input("Start it with that? [y/N] ")
    except EOFError:
        said = ""
    if said.strip().lower() not in {"y", "yes"}:
        raise CommandError(
            Exit.FAILED, f"nothing was started: restore {task.name}'s task.md, or run it again and answer y"
        )


@contextmanager
def _alone(state: str) -> Iterator[None]:
    """Hold the lock under which `task start` assigns ids, so that a task never gets two."""
    own_files.make_state_folder(state)
    folder = Path(layout.task_homes(state))
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _followed(task: TaskRecord, shown: Tail | StepsShown, since: float) -> Exit:
    from orchestrator.cli.follow import follow

    try:
        end = follow(task, shown, since)
    except KeyboardInterrupt:
        print(f"\n{task.name} keeps running; to stop it: task stop {called(task)}")
        return Exit.RUNNING
    print("\n".join(["", *after_end(task, colour=coloured(sys.stdout))]))
    return end
