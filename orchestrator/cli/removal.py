"""Removes a task, for `task delete` and `task archive`: the daemon releases it, then all that belongs to it goes.

Each part can be repeated. The PM's own folder of the task goes last, moved aside in one step. An interrupted removal
finds the mark in it and goes on.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat
from orchestrator.cli.exclude import include
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.progress import doing
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_resources import TaskResources
from orchestrator.cli.tasks import AT_WORK, TaskRecord, called
from orchestrator.daemon.boxes.departed_tasks import boxes_shown, write_departed
from orchestrator.daemon.retention.task_removal import write_mark
from orchestrator.formats.settings import load_section
from orchestrator.hosts.disk import DiskFiles
from orchestrator.workspaces.task_refs import drop_folder, drop_refs, drop_trees

DELETE: Final = "delete"
ARCHIVE: Final = "archive"

_TMUX_SECONDS: Final = 5.0


def confirmed(question: str, *, yes: bool) -> bool:
    """Return whether the user agrees; asks on the terminal unless `yes`.

    Raises:
        CommandError: there is no terminal to ask on, and `yes` is not set.

    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(Exit.USAGE, "this needs your confirmation: add --yes, or run it on a terminal")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def begun(task: TaskRecord) -> str:
    """Return which removal was begun and interrupted: `delete`, `archive`, or an empty string."""
    try:
        mark: Any = own_files.own_json(layout.task_leaving(task.home))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, RecursionError):
        return DELETE
    return ARCHIVE if isinstance(mark, dict) and mark.get("why") == ARCHIVE else DELETE


def let_go(task: TaskRecord, why: str) -> None:
    """Make the daemon release a task; from then on no daemon opens it. Repeating it does no harm.

    Raises:
        CommandError: it is at work; or the daemon does not answer.

    """
    if begun(task):
        return
    state = layout.state_folder(os.environ)
    if not Beat(state).up:
        with _no_daemon(state) as nobody:
            if nobody:
                _refuse_at_work(task)
                disk = DiskFiles(Path(state))
                write_departed(disk, Path(state), task.id, boxes_shown(task.view))
                write_mark(disk, Path(task.home), why, time.time())
                return
    ask(task.home, "release", {"why": why})


def take_away(has: TaskResources) -> None:
    """Remove all that belongs to a task that the daemon has released.

    Raises:
        CommandError: tmux does not answer.
        Unavailable: git or the disk fails now. The next call removes what is left.

    """
    task, state = has.task, Path(layout.state_folder(os.environ))
    with doing(f"ending the windows of {task.name}"):
        _end_session(task.id)
    with doing(f"removing the worktrees of {task.name}"):
        drop_trees(has.repository, has.worktrees)
    with doing(f"removing the branches and the folder of {task.name}"):
        if has.repository is not None:
            drop_refs(has.repository, has.holdings.refs)
        if has.folder is not None:
            drop_folder(has.folder)
    if task.project and (project := Path(task.project)).is_dir():
        with suppress(OSError):  # other tasks of this project still use the folder
            layout.task_folder(project, task.name).parent.rmdir()
        include(project, task.name)
    caches = Path(layout.task_caches(state, task.id))
    with doing(f"removing what boxes sent and what {task.name} kept"):
        for mirror in (*has.mirrors, *((caches,) if caches.is_dir() else ())):
            drop_folder(mirror)
    aside = layout.leaving(state)
    DiskFiles(state).make_folder(aside)
    has.home.rename(aside / f"{task.id}.{time.time_ns()}")
    sweep(state)


def sweep(state: Path) -> None:
    """Remove folders that were moved aside, also by an interrupted command. Raises Unavailable."""
    aside = layout.leaving(state)
    with doing("removing what deleted tasks have left"):
        for folder in aside.iterdir() if aside.is_dir() else ():
            drop_folder(folder)


def _refuse_at_work(task: TaskRecord) -> None:
    """Refuse if a task was still at work by the last state that a daemon wrote."""
    lives = [agent for agent in task.view.get("agents", ()) if agent.get("state") != "gone"]
    if task.view and (task.view["state"] in AT_WORK or lives):
        raise CommandError(
            Exit.FAILED,
            f"{task.name} is {harmless(task.view['state'])}, and the daemon is down; first `task daemon start`, then "
            f"`{typed('task', 'stop', called(task))}`",
        )


@contextmanager
def _no_daemon(state: str) -> Iterator[bool]:
    """Hold the lock that keeps a daemon from starting; yield False if a daemon holds it already."""
    own_files.make_state_folder(state)
    descriptor = os.open(
        layout.daemon_lock(state),
        os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK,
        0o600,
    )
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _end_session(task: str) -> None:
    """Close the task's tmux session, if there is one: its windows show runs that no longer exist."""
    socket = load_section(Path(layout.config_file(os.environ)), os.environ, "tmux").socket
    words = ["tmux", "-S" if "/" in socket else "-L", socket, "kill-session", "-t", f"={task}"]
    try:
        subprocess.run(words, capture_output=True, timeout=_TMUX_SECONDS, check=False)
    except FileNotFoundError:
        return
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            Exit.FAILED, f"tmux did not answer within {_TMUX_SECONDS:.0f} s: try again"
        ) from error
