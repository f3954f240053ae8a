"""The tasks of this user, as the daemon's folder tells of them, and which one is meant by a name."""

from __future__ import annotations

import os
import sys
from itertools import zip_longest

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless, typed

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

REMEDY = "`task daemon stop` and `task daemon start` write it anew from the journal"
AT_WORK = frozenset({"running", "waiting"})
"""States of a task in which the PM goes on with it, or would if somebody answered; in all others it rests."""

_WHOLE, _PAGED = 1, 2  # versions: all in one file, or the steps in pages beside it
_TRIES = 20
_SUFFIX = len("-00000000")
_HEXADECIMAL = frozenset("0123456789abcdef")
_NAMING = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LISTS = ("steps", "agents", "questions", "criteria", "notices")
_WORDS = ("task", "project", "phase", "state")


class TaskRecord:
    """One task. `told` is what its `state.json` says; where that does not read, `fault` says why."""

    __slots__ = ("fault", "home", "id", "told")

    def __init__(self, state: str, task: str) -> None:
        self.id = task
        self.home = layout.task_home(state, task)
        self.read()

    def read(self) -> None:
        """Read `state.json`, or read it again."""
        self.told, self.fault = _read(self.home)

    @property
    def name(self) -> str:
        """The task's name, which its id begins with."""
        return self.id[:-_SUFFIX]

    @property
    def begun(self) -> bool:
        """True once the daemon has written something of this task, be it readable or not."""
        return os.path.lexists(layout.task_state(self.home))

    @property
    def project(self) -> str:
        """The project's folder; empty if nothing tells."""
        return str(self.told.get("project") or _asked_for(self.home).get("project") or "")

    @property
    def wanted(self) -> bool:
        """False for what is left of a start that was refused."""
        return self.begun or bool(_asked_for(self.home))

    def believed(self) -> dict[str, Any]:
        """Return what is told of this task.

        Raises:
            CommandError: nothing that could be shown; the message says what to do.

        """
        if os.path.lexists(layout.task_leaving(self.home)):
            command = typed("task", "delete", self.name)
            raise CommandError(
                Exit.FAILED, f"{self.name} is being deleted or archived, and is not done: `{command}` goes on"
            )
        if self.fault and not self.begun:
            raise CommandError(
                Exit.DOWN,
                f"{self.name} was asked for, but the daemon has not begun it: see `task daemon status`",
            )
        if self.fault:
            raise CommandError(Exit.FAILED, f"{self.fault}: {REMEDY}")
        return self.told


def tasks(state: str, name: str | None = None) -> list[TaskRecord]:
    """Return all tasks, or those that `name` may mean: its name or its id."""
    return [task for task in homes(state, name) if task.wanted]


def homes(state: str, name: str | None = None) -> list[TaskRecord]:
    """Return the same with those whose start was refused: their folders can be used again."""
    if not layout.check_state_folder(state):
        return []
    try:
        layout.check_own_folder(layout.task_homes(state))
        with os.scandir(layout.task_homes(state)) as entries:
            ids = sorted(entry.name for entry in entries if _is_id(entry.name))
    except FileNotFoundError:
        return []
    return [TaskRecord(state, each) for each in ids if name is None or name in {each, each[:-_SUFFIX]}]


def find(name: str, project: str | None = None) -> TaskRecord:
    """Return the task that `name` means in `project`, or else seen from the current folder.

    Names are a project's own; outside of any project a name is enough if only one task bears it.

    Raises:
        CommandError: there is none, or more than one.
        BadName: that cannot be the name of a task.

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
        f"{name} is a task of several projects, say which by --project or by id:\n"
        + "\n".join(f"  {task.id}  {harmless(task.project)}" for task in found),
    )


def called(task: TaskRecord) -> str:
    """Return what the user can call a task from where they are: its name if that is enough, else its id."""
    try:
        return task.name if find(task.name).id == task.id else task.id
    except CommandError:
        return task.id


def is_meant(word: str) -> bool:
    """Tell whether a word names a task: one that is known, or whose folder lies in the project here."""
    if not word or not _NAMING.issuperset(word):
        return False
    return bool(tasks(layout.state_folder(os.environ), word)) or bool(project_here(word))


def only_task(project: str | None = None) -> TaskRecord:
    """Return the task that is meant where none is named: the only one of the project, else the only one of all.

    Which one that is is said on standard error.

    Raises:
        CommandError: there is none, or more than one.

    """
    known = tasks(layout.state_folder(os.environ))
    folder = os.path.realpath(project) if project else _with_tasks({task.project for task in known})
    found = [task for task in known if task.project == folder] if folder else known
    if len(found) == 1:
        task = found[0]
        where = f" of {harmless(task.project)}" if task.project else ""
        print(f"task: no name was given: this is {task.name}{where}", file=sys.stderr)
        return task
    if not found:
        where = f"{harmless(folder)} has no task" if folder else "there is no task"
        raise CommandError(
            Exit.USAGE, f"{where}: `task start NAME` makes one, `task list` shows all there are"
        )
    raise CommandError(
        Exit.USAGE,
        "say which task is meant:\n"
        + "\n".join(
            f"  {task.id}  {harmless(task.told.get('state', 'asked_for'))}  {harmless(task.project)}"
            for task in found
        ),
    )


def about_task(parser: ArgumentParser) -> None:
    """Give a verb the arguments that say which task it is about; `chosen` reads them."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="the task, by name or id; not needed if there is only one here",
    )
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")


def chosen(options: Namespace, *further: str) -> TaskRecord:
    """Return the task that the arguments of `about_task` mean. Raises what `parted` raises.

    `further` names the optional words that may stand behind NAME, in order: if NAME was left out they move up by one.
    """
    words = [word for dest in ("name", *further) if (word := getattr(options, dest)) is not None]
    if len(words) > len(further):
        return find(options.name, options.project)
    task, rest = parted(words, options.project)
    for dest, word in zip_longest(further, rest):
        setattr(options, dest, word)
    return task


def parted(words: list[str], project: str | None) -> tuple[TaskRecord, list[str]]:
    """Return the task that the first of some words names, or else the only one that there is, and the other words.

    Raises:
        CommandError: no task is named and there is not exactly one.
        BadName: the first word cannot be the name of a task, and there is not exactly one.

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
    """Return the nearest of these folders, from the current one upwards; or nothing."""
    return next((folder for folder in _upwards() if folder in projects), "")


def _read(home: str) -> tuple[dict[str, Any], str]:
    """Return what `state.json` and its pages say. A page may be replaced meanwhile: then both are read again."""
    fault = ""
    try:
        layout.check_own_folder(home)
    except layout.Untrusted as error:
        return {}, error.reason
    except OSError as error:
        return {}, f"{home} cannot be read ({error.strerror})"
    for _ in range(_TRIES):
        told, fault = _read_head(layout.task_state(home))
        if fault or told["version"] != _PAGED:
            return told, fault
        try:
            told["steps"] = [step for page in told["pages"] for step in _read_page(home, page)]
            del told["pages"]
            told["version"] = _WHOLE  # what is told of a task does not show how it was kept
        except FileNotFoundError as error:
            fault = f"{error.filename} is not there"
        except layout.Untrusted as error:
            return {}, error.reason
        except (OSError, ValueError, TypeError, KeyError) as error:
            return {}, f"{layout.task_pages(home)} is damaged ({error})"
        else:
            return told, ""
    return {}, fault


def _read_page(home: str, page: str) -> list[dict[str, Any]]:
    steps = layout.own_json(f"{layout.task_pages(home)}/{page}")
    if not isinstance(steps, list):
        raise TypeError(f"{page} holds no list")
    return steps


def _read_head(path: str) -> tuple[dict[str, Any], str]:
    try:
        told = layout.own_json(path)
    except layout.Untrusted as error:
        return {}, error.reason
    except OSError as error:
        return {}, f"{path} cannot be read ({error.strerror})"
    except (ValueError, RecursionError) as error:
        return {}, f"{path} is damaged ({error})"
    if not isinstance(told, dict):
        return {}, f"{path} is damaged (it holds no object)"
    if told.get("version") not in {_WHOLE, _PAGED}:
        return {}, f"{path} was written by another version of this program"
    wrong = [key for key in _WORDS if not isinstance(told.get(key), str)]
    wrong += [key for key in _LISTS if not isinstance(told.setdefault(key, []), list)]
    return ({}, f"{path} is damaged ({', '.join(wrong)})") if wrong else (told, "")


def _is_id(entry: str) -> bool:
    name, dash, tail = entry[:-_SUFFIX], entry[-_SUFFIX : 1 - _SUFFIX], entry[1 - _SUFFIX :]
    return bool(name) and _NAMING.issuperset(name) and dash == "-" and _HEXADECIMAL.issuperset(tail)


def _asked_for(home: str) -> dict[str, Any]:
    """Return the arguments of a `start` request that still waits."""
    requests = layout.task_requests(home)
    try:
        with os.scandir(requests) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(".json")]
        for name in sorted(names):
            request = layout.own_json(f"{requests}/{name}")
            if request.get("verb") == "start":
                return dict(request["arguments"])
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return {}
    return {}


def project_here(name: str) -> str:
    """Return the nearest folder, from the current one upwards, that has a task of this name; or nothing."""
    return next(
        (folder for folder in _upwards() if os.path.lexists(layout.task_folder(folder, name))),
        "",
    )


def _upwards() -> Iterator[str]:
    """Yield the current folder and all above it; none if it is gone."""
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
        said = f"{where}/tasks/{name} was never started: `{command}`"
    else:
        kept = _archived(name, folder)
        said = f"{where} has no task {harmless(name)}" + (kept or ": `task list` shows all there are")
    others = "".join(f"\n  {task.id}  {harmless(task.project)}" for task in elsewhere)
    return CommandError(
        Exit.USAGE, said + (f"; by its id you reach that of another project:{others}" if others else "")
    )


def _unknown(name: str) -> Exception:
    from orchestrator.model.names import checked_name

    known = checked_name(name, "task name")
    if kept := _archived(known):
        return CommandError(Exit.USAGE, f"there is no task {known}{kept}")
    return CommandError(Exit.USAGE, f"there is no task {known}: `task list` shows all there are")


def _archived(name: str, project: str = "") -> str:
    """Return the commands that bring archived tasks of a name back, of one project or of all; or nothing."""
    from orchestrator.cli.archives import archives

    found = (each.manifest for each in archives(layout.state_folder(os.environ))[0])
    meant = [each.id for each in found if each.name == name and project in {"", each.project}]
    lines = "".join(f"\n  {typed('task', 'archive', each, '--restore')}" for each in meant)
    return f" any more: it is archived. Bring it back by:{lines}" if lines else ""
