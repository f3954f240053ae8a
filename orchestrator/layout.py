"""Where everything lies: the PM's own folder, the settings, and the name of each file.

One place for all these names. A path goes out as it came in, `str` or `Path`: `task status` stays with `str`
and so needs no `pathlib`, which costs more than half an interpreter's start. For the same reason this module
imports `os` and what that has imported, until it is asked for a folder that only `platformdirs` knows.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import TypeVar

    P = TypeVar("P", str, Path)

APPLICATION = "agent-orchestrator"

FOR_AGENTS = ("artifacts", "handoffs", "scratchpad")
"""The folders of a task in which its agents write."""

OUTBOX = "outbox"
"""The folder in an agent's own that it hands in through, where `handoffs/` is not its to write."""

DATA = "data"
"""The folder of a project with its memories, and with the handoffs and statuses of roles."""

STATUSES = "agent-status"
"""The folder of statuses in it."""

MEMORIES = "memories"
"""The folder of memories in it."""

HOME_VARIABLE = "ORCHESTRATOR_HOME"
CONFIG_VARIABLE = "ORCHESTRATOR_CONFIG"

_XDG = {
    "user_config_dir": ("XDG_CONFIG_HOME", ".config"),
    "user_state_dir": ("XDG_STATE_HOME", ".local/state"),
}


# Folders of the user ------------------------------------------------------------------------------


def state_folder(environ: Mapping[str, str]) -> str:
    """Return the PM's own folder: `$ORCHESTRATOR_HOME`, or the platform's place for a program's state.

    Only names it; `own_files` makes it and looks at what is there.

    Raises:
        Refused: `$ORCHESTRATOR_HOME` is not absolute.

    """
    return _absolute(environ, HOME_VARIABLE) or _platform("user_state_dir")


def config_file(environ: Mapping[str, str]) -> str:
    """Return the settings file: `$ORCHESTRATOR_CONFIG`, or `config.toml` in the user's configuration folder.

    Raises:
        Refused: `$ORCHESTRATOR_CONFIG` is not absolute.

    """
    return _absolute(environ, CONFIG_VARIABLE) or f"{_platform('user_config_dir')}/config.toml"


def templates_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's own task templates: `templates` beside the settings file."""
    return f"{os.path.dirname(config_file(environ))}/templates"  # noqa: PTH120 (no pathlib here)


# The PM's own folder ------------------------------------------------------------------------------


def daemon_lock(state: P) -> P:
    """Return the file whose lock is held by the one daemon of this user."""
    return _under(state, "daemon.lock")


def daemon_beat(state: P) -> P:
    """Return the file that the daemon touches to show that its loop turns."""
    return _under(state, "daemon.beat")


def daemon_stopped(state: P) -> P:
    """Return the mark that a user stopped the daemon on purpose: nobody starts it again unasked."""
    return _under(state, "daemon.stopped")


def daemon_restarted(state: P) -> P:
    """Return the file whose time says when an alarm last tried to start a dead daemon again."""
    return _under(state, "daemon.restarted")


def daemon_log(state: P) -> P:
    """Return the daemon's log."""
    return _under(state, "daemon.log")


def daemon_ended(state: P) -> P:
    """Return the daemon's last word: it ended as it was told to, and was not killed."""
    return _under(state, "daemon.ended")


def terminals(state: P) -> P:
    """Return the folder that names the terminals from which the user started tasks."""
    return _under(state, "terminals")


def notifications(state: P) -> P:
    """Return the spool of notifications: those to be sent, and those that were."""
    return _under(state, "notifications")


def former_notifications(state: P) -> P:
    """Return where versions before 1.0 had the spool."""
    return _under(state, "news")


def tmux_config(state: P) -> P:
    """Return the configuration that our tmux server is started with."""
    return _under(state, "tmux.conf")


def boxes(state: P) -> P:
    """Return the folder of what is known and brought of boxes."""
    return _under(state, "boxes")


def boxes_departed(state: P) -> P:
    """Return the folder of the notes on boxes that deleted and archived tasks have left unclean, one for each task."""
    return _under(state, "boxes", "departed")


def boxes_status(state: P) -> P:
    """Return what the daemon tells of the boxes in use, for `task hosts`."""
    return _under(state, "boxes", "boxes.json")


def box_checks(state: P) -> P:
    """Return the folder for the sockets of commands that look at a box: short, as a socket's path must be."""
    return _under(state, "boxes", "look")


def box_links(state: P) -> P:
    """Return the folder for the sockets of the daemon's connections."""
    return _under(state, "boxes", "link")


def box_fetches(state: P) -> P:
    """Return the folder for commits that are being brought from boxes."""
    return _under(state, "boxes", "fetch")


def box_mirror(state: P, place: str, task: str) -> P:
    """Return the folder for what is brought of one task from one place on a box."""
    return _under(state, "boxes", _name(place), _name(task))


def night_report(state: P) -> P:
    """Return the page that `task report --all` writes."""
    return _under(state, "report.html")


def report_template(state: P) -> P:
    """Return the compiled template of reports: to compile it costs a third of a report."""
    return _under(state, "report-template.bin")


def memory_index(state: P, data: str) -> P:
    """Return the index of the memories in a folder of data, named by the hash of that folder's path."""
    return _under(state, "memories", f"{_name(data)}.sqlite")


def leaving(state: P) -> P:
    """Return the folder into which the folders of deleted tasks are moved, to be removed there."""
    return _under(state, "leaving")


def daily_reports(state: P) -> P:
    """Return the folder of the observer's daily reports, unless `observer.folder` names another one."""
    return _under(state, "observer")


def daily_report(folder: P, day: str) -> P:
    """Return the observer's report of a day in the folder of these reports."""
    return _under(folder, f"{_name(day)}.md")


def archive(state: P) -> P:
    """Return the folder of archived tasks, a file each."""
    return _under(state, "archive")


def archive_part(state: P, task: str, what: str) -> P:
    """Return where something lies that an archive is being made of, or brought back from."""
    return _under(state, "archive", f".{_name(task)}.{_name(what)}")


def archive_file(state: P, task: str) -> P:
    """Return the file that holds the archived task with this id."""
    return _under(state, "archive", f"{_name(task)}.tar.gz")


def task_homes(state: P) -> P:
    """Return the folder that holds one folder per task, named by its id."""
    return _under(state, "tasks")


def task_home(state: P, task: str) -> P:
    """Return the PM's own folder of the task with this id."""
    return _under(state, "tasks", _name(task))


def state_above(home: P) -> P:
    """Return the PM's own folder, in which the folder of a task lies."""
    return type(home)(os.path.dirname(os.path.dirname(home)))  # noqa: PTH120 (no pathlib here)


def ports(state: P) -> P:
    """Return what tells which worktree was given which port."""
    return _under(state, "ports.json")


def task_journal(home: P) -> P:
    """Return the folder of a task's journal segments."""
    return _under(home, "journal")


def task_state(home: P) -> P:
    """Return the projection of a task's state that `task status` reads."""
    return _under(home, "state.json")


def task_pages(home: P) -> P:
    """Return the folder in which the steps of a large plan lie, for `state.json`."""
    return _under(home, "pages")


def task_withheld(home: P) -> P:
    """Return the folder of the notes on what reports on boxes name and what is not here, one for each place."""
    return _under(home, "withheld")


def task_boxes_left(home: P) -> P:
    """Return what tells on which boxes the windows of a task that ended were closed, each with its last run there."""
    return _under(home, "boxes-left.json")


def task_passivated(home: P) -> P:
    """Return the mark of a task that is over and was passivated."""
    return _under(home, "passivated.json")


def former_task_passivated(home: P) -> P:
    """Return the mark that versions before 1.0 wrote."""
    return _under(home, "shelved.json")


def task_leaving(home: P) -> P:
    """Return the mark of a task that is being deleted or archived: no daemon opens it any more."""
    return _under(home, "leaving.json")


def task_merged(home: P) -> P:
    """Return the note of what the user's branch stood at before the task was merged into it."""
    return _under(home, "merged.json")


def task_log(home: P) -> P:
    """Return the PM's log of a task, which the first window of its session shows."""
    return _under(home, "pm.log")


def task_requests(home: P) -> P:
    """Return the folder in which the user's requests to a task lie."""
    return _under(home, "requests")


EVENTS_NAME = "events"


def task_events(home: P) -> P:
    """Return the folder in which runs leave what they tell of themselves: it is watched with `requests/`."""
    return _under(home, "requests", EVENTS_NAME)


def task_reports(home: P) -> P:
    """Return the folder of accepted reports, each named by the hash of its bytes."""
    return _under(home, "reports")


def task_worktrees(state: P, task: str) -> P:
    """Return the folder of a task's worktrees. It lies apart from the task's home, which is watched whole."""
    return _under(state, "worktrees", _name(task))


def task_caches(state: P, task: str) -> P:
    """Return the folder of the caches that all worktrees of a task share, one for each variable that names it."""
    return _under(state, "caches", _name(task))


def task_runs(home: P) -> P:
    """Return the folder that holds one folder per run, named by its id."""
    return _under(home, "runs")


def run_home(home: P, run: str) -> P:
    """Return the folder of one run: its launcher, claim files, events and pane log."""
    return _under(home, "runs", _name(run))


def run_answers(folder: P) -> P:
    """Return the folder of what a run was answered, by the event's name."""
    return _under(folder, "answers")


def run_transcript(folder: P) -> P:
    """Return the copy of the transcript that the program of a run on a box keeps there."""
    return _under(folder, "transcript.jsonl")


def run_transcript_partial(folder: P) -> P:
    """Return the mark that not all of a run's transcript was copied from its box, as it is too large."""
    return _under(folder, "transcript.partial")


def run_transcript_there(folder: P) -> P:
    """Return the file that tells where a run's transcript lies on its box: it is copied from there."""
    return _under(folder, "transcript.from")


def run_outstanding(folder: P) -> P:
    """Return the mark of a run on a box of which not all was brought yet that it leaves there."""
    return _under(folder, "outstanding")


def run_order(folder: P) -> P:
    """Return the order of a run as its agent reads it: preamble and instructions."""
    return _under(folder, "order.md")


# The folder shared with the agents ----------------------------------------------------------------


def task_folder(project: P, name: str) -> P:
    """Return the folder of a task in its project (H1)."""
    return _under(project, "tasks", _name(name))


def in_task_folder(path: str, folder: str) -> str:
    """Return a path, as a report names it, as one in the task's folder, if it leads to what agents made there.

    `folder` is that folder on the reporter's machine. Along a link it may have another name there, so its last two
    parts are enough.
    """
    if path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]
    parts, tail = path.split("/"), folder.split("/")[-2:]
    if path.startswith("/"):
        for at in range(len(parts) - 3, 0, -1):
            if parts[at : at + 2] == tail and parts[at + 2] in FOR_AGENTS:
                return "/".join(parts[at + 2 :])
    return path


def task_brief(folder: P) -> P:
    """Return what the user asks for."""
    return _under(folder, "task.md")


def task_progress(folder: P) -> P:
    """Return the scribe's page."""
    return _under(folder, "progress.md")


def task_report(folder: P) -> P:
    """Return the page that `task report` writes."""
    return _under(folder, "report.html")


def pm_state(folder: P) -> P:
    """Return the PM's state as agents read it (H1)."""
    return _under(folder, "pm_state.json")


def handoffs(folder: P) -> P:
    """Return the folder of orders and reports."""
    return _under(folder, "handoffs")


def artifacts(folder: P, kind: str = "", subtask: str = "") -> P:
    """Return the folder of artifacts, or the one of `kind` in it (`analysis`, `code`, …), perhaps of one subtask."""
    names = [_name(each) for each in (kind, subtask) if each]
    return _under(folder, "artifacts", *names)


def scratchpad(folder: P, instance: str = "") -> P:
    """Return the folder of scratchpads, or that of one agent's instance."""
    return _under(folder, "scratchpad", _name(instance)) if instance else _under(folder, "scratchpad")


def outbox(folder: P, instance: str) -> P:
    """Return the folder in which an instance hands in, where each has one of its own."""
    return _under(folder, "scratchpad", _name(instance), OUTBOX)


def role_data(folder: P) -> P:
    """Return the folder of a task's records: what roles handed on, and the statuses of their agents."""
    return _under(folder, DATA)


def role_handoffs(folder: P) -> P:
    """Return the archive of what roles handed on in a task."""
    return _under(folder, DATA, "handoffs")


def role_statuses(folder: P) -> P:
    """Return the folder of the statuses of a task's role agents."""
    return _under(folder, DATA, STATUSES)


def orchestration(folder: P) -> P:
    """Return the folder of a workflow's files."""
    return _under(folder, "orchestration")


def workflow_agent(folder: P, agent: str) -> P:
    """Return the folder of one agent of a workflow."""
    return _under(folder, "orchestration", "agents", _name(agent))


# -------------------------------------------------------------------------------------------------


def _under(root: P, *names: str) -> P:
    if isinstance(root, str):
        return "/".join((root.rstrip("/"), *names))
    return root.joinpath(*names)


def _name(text: str) -> str:
    """Return `text` if it is one level of a path; what a name is, `model.names` knows, and imports `re`."""
    if text in {"", ".", ".."} or text.startswith("-") or not text.isprintable() or "/" in text:
        from orchestrator.model.errors import BadName

        raise BadName(f"{text[:40]!a} cannot name a folder")
    return text


def _absolute(environ: Mapping[str, str], variable: str) -> str:
    path = environ.get(variable, "")
    if path and not path.startswith("/"):
        raise _refused(f"{variable} is {path!a}: give an absolute path")
    return os.path.normpath(path) if path else ""


def _platform(folder: str) -> str:
    """Return what `platformdirs` says; where that is plain, without its import (16 ms)."""
    variable, usual = _XDG[folder]
    home, given = os.environ.get("HOME", ""), os.environ.get(variable, "")
    if sys.platform == "linux" and home.startswith("/") and "ANDROID_ROOT" not in os.environ:
        base = given if given.startswith("/") else f"{home.rstrip('/')}/{usual}"
        return f"{base.rstrip('/')}/{APPLICATION}"
    import platformdirs

    return str(getattr(platformdirs, folder)(APPLICATION, appauthor=False))


def _refused(message: str) -> Exception:
    from orchestrator.model.errors import Refused

    return Refused(message)
