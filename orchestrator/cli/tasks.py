"""The tasks of this user, as the state folder records them, and which task a name means."""

from __future__ import annotations

import os
import sys
from itertools import zip_longest

from orchestrator import layout, own_files
from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.state_file import read_state

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

REMEDY = "to rebuild it from the journal: `task daemon stop`, then `task daemon start`"
AT_WORK = frozenset({"running", "waiting"})
"""States in which the PM works on a task or waits for an answer; in all others the task rests."""

_SUFFIX = len("-00000000")
_HEXADECIMAL = frozenset("0123456789abcdef")
_NAMING = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


class TaskRecord:
    """One task. `view` is the content of its `state.json`; if that cannot be read, `fault` says why.

    `moved` is where its branch is, in two words and in a sentence, if that was looked for and is not where `view` says.
    `lost` says so if its folder in its project is missing while it is at rest, and that was looked for.
    """

    __slots__ = ("fault", "home", "id", "lost", "moved", "view")

    def __init__(self, state: str, task: str) -> None:
        self.id = task
        self.home = layout.task_home(state, task)
        self.moved = ("", "")
        self.lost = ""
        self.read()

    def read(self) -> None:
        """Read `state.json`, or read it again."""
        self.view, self.fault = read_state(self.home)

    def look_at_branch(self) -> None:
        """Look where branch and folder of a task at rest are now: its user may have moved or deleted them."""
        from orchestrator.cli.branch_now import branch_moved, folder_missing  # other verbs do not ask

        self.moved = branch_moved(self.view) if self.view else ("", "")
        known = not self.view or self.moved[0] == "project missing"
        self.lost = "" if known else folder_missing(self.view)

    @property
    def name(self) -> str:
        """The task's name: its id without the suffix."""
        return self.id[:-_SUFFIX]

    @property
    def begun(self) -> bool:
        """True once the daemon has written the task's `state.json`, readable or not."""
        return os.path.lexists(layout.task_state(self.home))

    @property
    def leaving(self) -> str:
        """What is said of a task that is being deleted or archived, and how to finish that; empty of any other."""
        if not os.path.lexists(layout.task_leaving(self.home)):
            return ""
        command = typed("task", "delete", self.id)
        return f"{self.name} is being deleted or archived, and that did not finish; to continue: `{command}`"

    @property
    def project(self) -> str:
        """The project's folder; empty if no file names it."""
        return str(self.view.get("project") or _start_request(self.home).get("project") or "")

    @property
    def wanted(self) -> bool:
        """False for the remains of a start that the daemon refused."""
        return self.begun or bool(_start_request(self.home))

    def readable_view(self) -> dict[str, Any]:
        """Return the task's view.

        Raises:
            CommandError: there is no readable view; the message says what to do.

        """
        if leaving := self.leaving:
            raise CommandError(Exit.FAILED, leaving)
        if self.fault and not self.begun:
            raise CommandError(
                Exit.DOWN,
                f"{self.name} was requested, but the daemon has not begun it yet: see `task daemon status`",
            )
        if self.fault:
            raise CommandError(Exit.FAILED, f"{self.fault}: {REMEDY}")
        return self.view


def tasks(state: str, name: str | None = None) -> list[TaskRecord]:
    """Return all tasks, or those whose name or id is `name`."""
    return [task for task in homes(state, name) if task.wanted]


def homes(state: str, name: str | None = None) -> list[TaskRecord]:
    """Return the same, including tasks whose start was refused: their folders can be reused."""
    return [TaskRecord(state, each) for each in ids(state) if name is None or name in {each, each[:-_SUFFIX]}]


def ids(state: str) -> list[str]:
    """Return the ids of all tasks that have a folder here, sorted; reads none of their files."""
    if not own_files.check_state_folder(state):
        return []
    try:
        own_files.check_own_folder(layout.task_homes(state))
        with os.scandir(layout.task_homes(state)) as entries:
            return sorted(entry.name for entry in entries if _is_id(entry.name))
    except FileNotFoundError:
        return []


def find(name: str, project: str | None = None) -> TaskRecord:
    """Return the task that `name` means in `project`, or as seen from the current folder.

    Names are unique within a project; outside of any project a name is enough if only one task has it.

    Raises:
        CommandError: there is none, or more than one.
        BadName: `name` is not a valid task name.

    """
    found = tasks(layout.state_folder(os.environ), name)
    if exact := [task for task in found if task.id == name]:
        return exact[0]
    folder = os.path.realpath(project) if project else project_here(name)
    if folder:
        inside = [task for task in found if task.project == folder]
        if inside := inside or [task for task in found if not task.project]:  # damaged: it may be this one
            return inside[0]
        raise _not_in(folder, name, found)
    if len(found) == 1:
        return found[0]
    if not found:
        raise _unknown(name)
    raise CommandError(
        Exit.USAGE,
        f"several projects have a task {name}; choose one by --project or by id:\n"
        + "\n".join(f"  {task.id}  {harmless(task.project)}" for task in found),
    )


def called(task: TaskRecord) -> str:
    """Return how the user can call a task from here: by its name if that is unambiguous, else by its id."""
    try:
        return task.name if find(task.name).id == task.id else task.id
    except CommandError:
        return task.id


def is_meant(word: str) -> bool:
    """Return whether a word names a task: a known one, or one whose folder lies in the project here."""
    if not word or not _NAMING.issuperset(word):
        return False
    return bool(tasks(layout.state_folder(os.environ), word)) or bool(project_here(word))


def only_task(project: str | None = None) -> TaskRecord:
    """Return the task that is meant if the user named none: the project's only task, else the only one of all.

    Prints on standard error which task that is.

    Raises:
        CommandError: there is none, or more than one.

    """
    known = tasks(layout.state_folder(os.environ))
    folder = os.path.realpath(project) if project else _with_tasks({task.project for task in known})
    found = [task for task in known if task.project == folder] if folder else known
    if len(found) == 1:
        task = found[0]
        where = f" of {harmless(task.project)}" if task.project else ""
        print(f"task: no name given; using {task.name}{where}", file=sys.stderr)
        return task
    if not found:
        where = f"{harmless(folder)} has no task" if folder else "there is no task"
        raise CommandError(Exit.USAGE, f"{where}: `task start NAME` makes one, `task list` shows all tasks")
    raise CommandError(
        Exit.USAGE,
        "several tasks exist; name one:\n"
        + "\n".join(
            f"  {task.id}  {harmless(SAID.get(state := task.view.get('state', 'requested'), state))}  "
            f"{harmless(task.project)}"
            for task in found
        ),
    )


def about_task(parser: ArgumentParser) -> None:
    """Add the arguments by which a verb names its task; `chosen` reads them."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="the task, by name or id; not needed if there is only one here",
    )
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")


def chosen(options: Namespace, *further: str) -> TaskRecord:
    """Return the task that the arguments of `about_task` name. Raises what `parted` raises.

    `further` names the optional words after NAME, in order. If the user left out NAME, they move up by one.
    """
    words = [word for dest in ("name", *further) if (word := getattr(options, dest)) is not None]
    if len(words) > len(further):
        return find(options.name, options.project)
    task, rest = parted(words, options.project)
    for dest, word in zip_longest(further, rest):
        setattr(options, dest, word)
    return task


def parted(words: list[str], project: str | None) -> tuple[TaskRecord, list[str]]:
    """Split words into the task that the first one names, or else the only task there is, and the other words.

    Raises:
        CommandError: no word names a task and there is not exactly one.
        BadName: the first word is not a valid task name, and there is not exactly one task.

    """
    if not words:
        return only_task(project), []
    if is_meant(words[0]):
        return find(words[0], project), words[1:]
    try:
        return only_task(project), words
    except CommandError:
        return find(words[0], project), words[1:]


def _with_tasks(projects: set[str]) -> str:
    """Return the nearest of these folders, from the current one upwards; empty if there is none."""
    return next((folder for folder in _upwards() if folder in projects), "")


def _is_id(entry: str) -> bool:
    name, dash, tail = entry[:-_SUFFIX], entry[-_SUFFIX : 1 - _SUFFIX], entry[1 - _SUFFIX :]
    return bool(name) and _NAMING.issuperset(name) and dash == "-" and _HEXADECIMAL.issuperset(tail)


def _start_request(home: str) -> dict[str, Any]:
    """Return the arguments of a pending `start` request; empty if there is none."""
    requests = layout.task_requests(home)
    try:
        with os.scandir(requests) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(".json")]
        for name in sorted(names):
            request = own_files.own_json(f"{requests}/{name}")
            if request.get("verb") == "start":
                return dict(request["arguments"])
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return {}
    return {}


def project_here(name: str) -> str:
    """Return the nearest folder, from the current one upwards, that has a task of this name; else empty."""
    return next(
        (folder for folder in _upwards() if os.path.lexists(layout.task_folder(folder, name))),
        "",
    )


def _upwards() -> Iterator[str]:
    """Yield the current folder and all its parents; none if the current folder was removed."""
    try:
        folder = os.getcwd()  # noqa: PTH109 (no pathlib here)
    except FileNotFoundError:
        return
    while folder != "/":
        yield folder
        folder = folder.rpartition("/")[0] or "/"
    yield folder


def _not_in(folder: str, name: str, elsewhere: list[TaskRecord]) -> CommandError:
    where = harmless(folder)
    if os.path.lexists(layout.task_folder(folder, name)):
        command = typed("task", "start", name, "--project", folder)
        said = f"{where}/tasks/{name} was never started; to start it: `{command}`"
    else:
        kept = _archived(name, folder)
        said = f"{where} has no task {harmless(name)}" + (kept or ": `task list` shows all tasks")
    others = "".join(f"\n  {task.id}  {harmless(task.project)}" for task in elsewhere)
    return CommandError(
        Exit.USAGE, said + (f"; other projects have one, reach it by its id:{others}" if others else "")
    )


def _unknown(name: str) -> Exception:
    from orchestrator.model.names import checked_name

    known = checked_name(name, "task name")
    if kept := _archived(known):
        return CommandError(Exit.USAGE, f"there is no task {known}{kept}")
    return CommandError(Exit.USAGE, f"there is no task {known}: `task list` shows all tasks")


def _archived(name: str, project: str = "") -> str:
    """Return the commands that restore archived tasks of this name, in one project or in all; else empty."""
    from orchestrator.cli.archives import archives

    found = (each.manifest for each in archives(layout.state_folder(os.environ))[0])
    meant = [each.id for each in found if each.name == name and project in {"", each.project}]
    lines = "".join(f"\n  {typed('task', 'archive', each, '--restore')}" for each in meant)
    return f" any more: it is archived; to restore it:{lines}" if lines else ""
