"""`task start`: makes a task's folder, and lets the PM begin, or go on, with it (HUB 10.1, H1)."""

from __future__ import annotations

import fcntl
import os
import secrets
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator import layout
from orchestrator.cli.brief import filled_brief, is_remote, lay_down
from orchestrator.cli.channels import channels_found
from orchestrator.cli.daemon_startup import ensure_running
from orchestrator.cli.exclude import exclude
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.findings import Severity, can_run
from orchestrator.cli.follow import follow
from orchestrator.cli.next_steps import after_end, after_start
from orchestrator.cli.requests import NeedsYes, answer_to, send, waiting
from orchestrator.cli.screen import coloured, columns, harmless, typed
from orchestrator.cli.steps_shown import StepsShown
from orchestrator.cli.tail import Tail
from orchestrator.cli.tasks import AT_WORK, TaskRecord, called, homes, project_here, tasks
from orchestrator.formats.settings import load_settings
from orchestrator.model.names import checked_name
from orchestrator.model.task import Brief
from orchestrator.notifications.terminals import remember


def run(options: Namespace) -> int:
    """Make what is missing, hand the task to the daemon, and say what was done."""
    name, project = _meant(options)
    folder, known = _folder(project, name), _known(layout.state_folder(os.environ), name, str(project))
    if options.check:
        from orchestrator.cli.start_check import check

        return check(options, name, project, known=known is not None)
    lay_down(folder, project, options.template)
    brief = filled_brief(folder)
    unfit = list[str]()
    if known is None or known.told.get("state") not in AT_WORK:
        unfit = _looked_at(name, project, brief, known=known is not None)
    exclude(project, name)

    asked_at = time.time()
    told = {"project": str(project), "name": name} | ({"unfit": "\n".join(unfit)} if unfit else {})
    task, request, log = _handed_over(told)
    before = task.told.get("steps", [])
    remember(layout.state_folder(os.environ))
    if ensure_running(layout.state_folder(os.environ)):
        print("the daemon was started")
    print(harmless(_reply(task, request, told, yes=options.yes)), flush=True)
    task.read()
    if options.follow:
        return _followed(task, log if options.verbose else StepsShown(before), asked_at)
    print("\n".join(after_start(task)))
    return Exit.DONE


def _meant(options: Namespace) -> tuple[str, Path]:
    """Return the name and the project of the task that is meant, which is there or is to be begun.

    Without --project: one that is named by its id; else that of the nearest project from here upwards which has a task
    of this name, as for all other verbs; else one that begins here.

    Raises:
        CommandError: other projects have a task of this name, and nothing says that another one is to begin here.

    """
    name, state = checked_name(options.name, "task name"), layout.state_folder(os.environ)
    if options.project is not None:
        return name, _project(options.project)
    for task in tasks(state, name):
        if task.id == name and task.project:
            return task.name, _project(task.project)
    if here := project_here(name):
        return name, Path(here)
    here = str(_project("."))
    elsewhere = [] if options.template else [task.project for task in tasks(state, name) if task.project]
    if elsewhere:
        begins = typed("task", "start", name, "--project", here)
        others = "".join(f"\n  {typed('task', 'start', name, '--project', each)}" for each in elsewhere)
        raise CommandError(
            Exit.USAGE,
            f"{harmless(here)} has no task {name}, and another project has. To go on with that:{others}\n"
            f"To begin one here:\n  {begins}",
        )
    return name, Path(here)


def _project(given: str) -> Path:
    project = Path(given).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(Exit.USAGE, f"{project} is no folder: give the project's by --project PATH")
    return project


def _folder(project: Path, name: str) -> Path:
    """Return the task's folder, which must be where it seems to be."""
    folder = layout.task_folder(project, name)
    if folder.resolve() != folder:
        raise CommandError(
            Exit.USAGE, f"{folder} leads elsewhere by a symbolic link: make it a folder of its own"
        )
    return folder


def _looked_at(name: str, project: Path, brief: Brief, *, known: bool) -> list[str]:
    """Look whether a task could start, say what may keep it from that, and return the boxes of pools that are unfit.

    One that is at work is not looked at: what it needs is the daemon's to look after, boxes that are away too.

    Raises:
        CommandError: it could not start.

    """
    from orchestrator.cli.precheck import Case, look

    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    found = look(Case(name, project, brief, settings, os.environ, known))
    found += channels_found(settings.notify, os.environ)
    width, colour = columns(), coloured(sys.stdout)
    for each in found:
        if each.severity is not Severity.OK:
            print("\n".join(each.lines(width, colour=colour)))
    if not can_run(found):
        raise CommandError(
            Exit.FAILED,
            f"{name} is not started: what is marked `missing` must be there first "
            f"(`{typed('task', 'start', name, '--project', project, '--check')}` looks again, and starts nothing)",
        )
    if not is_remote(brief):
        return []
    from orchestrator.cli.remote import check_boxes

    return check_boxes(name, brief, project)


def _handed_over(told: dict[str, str]) -> tuple[TaskRecord, str, Tail]:
    """Ask for the start of a task, under the id that it has or now gets.

    Args:
        told: what the request says: the project, the task's name, and boxes that are unfit.

    Returns the task, the request, and the PM's log from here on.
    """
    state, name = layout.state_folder(os.environ), told["name"]
    with _alone(state):
        task = _known(state, name, told["project"]) or TaskRecord(state, f"{name}-{secrets.token_hex(4)}")
        if os.path.lexists(layout.task_leaving(task.home)):
            task.believed()
        log = Tail(Path(layout.task_log(task.home)), from_end=True)
        request = waiting(task.home, "start")
        return task, request or send(task.home, "start", told), log


def _reply(task: TaskRecord, request: str, told: dict[str, str], *, yes: bool) -> str:
    """Return what the daemon replies. If it wants a person's yes, the request is sent once more with it.

    Raises:
        CommandError: it refuses; or nobody is there to say yes, or says no.

    """
    try:
        return answer_to(task.home, request)
    except NeedsYes as needed:
        if not yes:
            _agree(needed, task)
        return answer_to(task.home, send(task.home, "start", told | {"confirmed": needed.confirm}))


def _agree(needed: NeedsYes, task: TaskRecord) -> None:
    """Ask the person at the terminal; without one, say what to type. Raises CommandError unless it is a yes."""
    text = "\n".join(harmless(line) for line in str(needed).splitlines())
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(
            Exit.FAILED,
            f"{text}\nif that is as you want it: "
            f"{typed('task', 'start', task.name, '--project', task.project, '--yes')}",
        )
    print(text)
    try:
        said = input("Start it with that? [y/N] ")
    except EOFError:
        said = ""
    if said.strip().lower() not in {"y", "yes"}:
        raise CommandError(
            Exit.FAILED, f"nothing was started; put back what {task.name}'s task.md said, or say yes"
        )


@contextmanager
def _alone(state: str) -> Iterator[None]:
    """Let only one `task start` at a time give ids, so that a task never gets two."""
    layout.make_state_folder(state)
    folder = Path(layout.task_homes(state))
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _known(state: str, name: str, project: str) -> TaskRecord | None:
    """Return the task if it is known. One whose state does not read may be it, so that is an error."""
    namesakes = [task for task in homes(state, name) if task.name == name]
    for task in namesakes:
        if task.project == project:
            return task
    for task in namesakes:
        if not task.project and task.begun:
            task.believed()
    return next((task for task in namesakes if not task.wanted), None)


def _followed(task: TaskRecord, shown: Tail | StepsShown, since: float) -> Exit:
    try:
        end = follow(task, shown, since)
    except KeyboardInterrupt:
        print(f"\n{task.name} goes on without you looking; stop it by: task stop {called(task)}")
        return Exit.RUNNING
    print("\n".join(["", *after_end(task, colour=coloured(sys.stdout))]))
    return end
