"""`task start`: makes a task's folder, and lets the PM begin, or go on, with it (HUB 10.1, H1)."""

from __future__ import annotations

import fcntl
import os
import secrets
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator import places
from orchestrator.cli.brief import filled_brief, is_remote, lay_down
from orchestrator.cli.directions import after_end, after_start, called
from orchestrator.cli.exclude import exclude
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.follow import follow
from orchestrator.cli.requests import NeedsYes, answer_to, send, waiting
from orchestrator.cli.screen import coloured, harmless
from orchestrator.cli.startup import ensure_running
from orchestrator.cli.tail import Tail
from orchestrator.cli.tasks import Task, homes
from orchestrator.model.names import checked_name

EXAMPLE = "task start tidy --project ~/src/shop --template tidy --follow"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task start` understands."""
    parser.add_argument("name", metavar="NAME", help="the task: a-z, 0-9, '_' and '-'")
    parser.add_argument(
        "--project", metavar="PATH", default=".", help="the project's folder, if you are not in it"
    )
    parser.add_argument("--template", metavar="T", help="what task.md is made from (`task templates`)")
    parser.add_argument(
        "--yes", action="store_true", help="take over a changed Agent Config without being asked about it"
    )
    parser.add_argument("--follow", action="store_true", help="show what happens until it ends or asks")


def run(options: Namespace) -> int:
    """Make what is missing, hand the task to the daemon, and say what was done."""
    name, project = checked_name(options.name, "task name"), _project(options.project)
    folder = _folder(project, name)
    lay_down(folder, project, options.template)
    brief = filled_brief(folder)
    unfit = list[str]()
    if is_remote(brief) and not _at_work(name, project):
        from orchestrator.cli.remote import check_boxes

        unfit = check_boxes(name, brief, project)
    exclude(project, name)

    asked_at = time.time()
    told = {"project": str(project), "name": name} | ({"unfit": "\n".join(unfit)} if unfit else {})
    task, request, log = _handed_over(told)
    if ensure_running(places.state_folder(os.environ)):
        print("the daemon was started")
    print(harmless(_reply(task, request, told, yes=options.yes)), flush=True)
    task.read()
    if options.follow:
        return _followed(task, log, asked_at)
    print("\n".join(after_start(task)))
    return Exit.DONE


def _project(given: str) -> Path:
    project = Path(given).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(Exit.USAGE, f"{project} is no folder: give the project's by --project PATH")
    return project


def _folder(project: Path, name: str) -> Path:
    """Return the task's folder, which must be where it seems to be."""
    folder = places.task_folder(project, name)
    if folder.resolve() != folder:
        raise CommandError(
            Exit.USAGE, f"{folder} leads elsewhere by a symbolic link: make it a folder of its own"
        )
    return folder


def _at_work(name: str, project: Path) -> bool:
    """Tell whether a task is under way: then its boxes are the daemon's to look after, reachable or not."""
    task = _known(places.state_folder(os.environ), name, str(project))
    return task is not None and task.told.get("state") in {"running", "waiting"}


def _handed_over(told: dict[str, str]) -> tuple[Task, str, Tail]:
    """Ask for the start of a task, under the id that it has or now gets.

    Args:
        told: what the request says: the project, the task's name, and boxes that are unfit.

    Returns the task, the request, and the PM's log from here on.
    """
    state, name = places.state_folder(os.environ), told["name"]
    with _alone(state):
        task = _known(state, name, told["project"]) or Task(state, f"{name}-{secrets.token_hex(4)}")
        log = Tail(Path(places.task_log(task.home)), from_end=True)
        request = waiting(task.home, "start")
        return task, request or send(task.home, "start", told), log


def _reply(task: Task, request: str, told: dict[str, str], *, yes: bool) -> str:
    """Return what the daemon replies. If it wants a person's yes, the request is sent once more with it.

    Raises:
        CommandError: it refuses; or nobody is there to say yes, or says no.

    """
    try:
        return answer_to(task.home, request)
    except NeedsYes as needed:
        if not yes:
            _agree(needed, task.name)
        return answer_to(task.home, send(task.home, "start", told | {"confirmed": needed.confirm}))


def _agree(needed: NeedsYes, name: str) -> None:
    """Ask the person at the terminal; without one, say what to type. Raises CommandError unless it is a yes."""
    text = "\n".join(harmless(line) for line in str(needed).splitlines())
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(Exit.FAILED, f"{text}\nif that is as you want it: task start {name} --yes")
    print(text)
    try:
        said = input("Start it with that? [y/N] ")
    except EOFError:
        said = ""
    if said.strip().lower() not in {"y", "yes"}:
        raise CommandError(
            Exit.FAILED, f"nothing was started; put back what {name}'s task.md said, or say yes"
        )


@contextmanager
def _alone(state: str) -> Iterator[None]:
    """Let only one `task start` at a time give ids, so that a task never gets two."""
    places.make_state_folder(state)
    folder = Path(places.task_homes(state))
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _known(state: str, name: str, project: str) -> Task | None:
    """Return the task if it is known. One whose state does not read may be it, so that is an error."""
    namesakes = [task for task in homes(state, name) if task.name == name]
    for task in namesakes:
        if task.project == project:
            return task
    for task in namesakes:
        if not task.project and task.begun:
            task.believed()
    return next((task for task in namesakes if not task.wanted), None)


def _followed(task: Task, log: Tail, since: float) -> Exit:
    try:
        end = follow(task, log, since)
    except KeyboardInterrupt:
        print(f"\n{task.name} goes on without you looking; stop it by: task stop {called(task)}")
        return Exit.RUNNING
    print("\n".join(["", *after_end(task, colour=coloured(sys.stdout))]))
    return end
