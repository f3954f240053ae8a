"""The PM's own folder: the daemon's files, boxes, notifications, reports, and where its tasks lie."""

from __future__ import annotations

from orchestrator.layout.paths import one_level, under

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeVar

    P = TypeVar("P", str, Path)


def daemon_lock(state: P) -> P:
    """Return the file whose lock is held by the one daemon of this user."""
    return under(state, "daemon.lock")


def daemon_beat(state: P) -> P:
    """Return the file that the daemon touches to show that its loop turns."""
    return under(state, "daemon.beat")


def daemon_stopped(state: P) -> P:
    """Return the mark that a user stopped the daemon on purpose: nobody starts it again unasked."""
    return under(state, "daemon.stopped")


def daemon_restarted(state: P) -> P:
    """Return the file whose time says when an alarm last tried to start a dead daemon again."""
    return under(state, "daemon.restarted")


def daemon_log(state: P) -> P:
    """Return the daemon's log."""
    return under(state, "daemon.log")


def daemon_ended(state: P) -> P:
    """Return the daemon's last word: it ended as it was told to, and was not killed."""
    return under(state, "daemon.ended")


def terminals(state: P) -> P:
    """Return the folder that names the terminals from which the user started tasks."""
    return under(state, "terminals")


def notifications(state: P) -> P:
    """Return the spool of notifications: those to be sent, and those that were."""
    return under(state, "notifications")


def former_notifications(state: P) -> P:
    """Return where versions before 1.0 had the spool."""
    return under(state, "news")


def tmux_config(state: P) -> P:
    """Return the configuration that our tmux server is started with."""
    return under(state, "tmux.conf")


def boxes(state: P) -> P:
    """Return the folder of what is known and brought of boxes."""
    return under(state, "boxes")


def boxes_departed(state: P) -> P:
    """Return the folder of the notes on boxes that deleted and archived tasks have left unclean, one for each task."""
    return under(state, "boxes", "departed")


def boxes_status(state: P) -> P:
    """Return what the daemon tells of the boxes in use, for `task hosts`."""
    return under(state, "boxes", "boxes.json")


def box_checks(state: P) -> P:
    """Return the folder for the sockets of commands that look at a box: short, as a socket's path must be."""
    return under(state, "boxes", "look")


def box_links(state: P) -> P:
    """Return the folder for the sockets of the daemon's connections."""
    return under(state, "boxes", "link")


def box_fetches(state: P) -> P:
    """Return the folder for commits that are being brought from boxes."""
    return under(state, "boxes", "fetch")


def box_mirror(state: P, place: str, task: str) -> P:
    """Return the folder for what is brought of one task from one place on a box."""
    return under(state, "boxes", one_level(place), one_level(task))


def night_report(state: P) -> P:
    """Return the page that `task report --all` writes."""
    return under(state, "report.html")


def report_template(state: P) -> P:
    """Return the compiled template of reports: to compile it costs a third of a report."""
    return under(state, "report-template.bin")


def memory_index(state: P, data: str) -> P:
    """Return the index of the memories in a folder of data, named by the hash of that folder's path."""
    return under(state, "memories", f"{one_level(data)}.sqlite")


def leaving(state: P) -> P:
    """Return the folder into which the folders of deleted tasks are moved, to be removed there."""
    return under(state, "leaving")


def daily_reports(state: P) -> P:
    """Return the folder of the observer's daily reports, unless `observer.folder` names another one."""
    return under(state, "observer")


def daily_report(folder: P, day: str) -> P:
    """Return the observer's report of a day in the folder of these reports."""
    return under(folder, f"{one_level(day)}.md")


def traces_sent(state: P) -> P:
    """Return what says up to when traces were sent, and to which collector."""
    return under(state, "observer", "traces.json")


def archive(state: P) -> P:
    """Return the folder of archived tasks, a file each."""
    return under(state, "archive")


def archive_part(state: P, task: str, what: str) -> P:
    """Return where something lies that an archive is being made of, or brought back from."""
    return under(state, "archive", f".{one_level(task)}.{one_level(what)}")


def archive_file(state: P, task: str) -> P:
    """Return the file that holds the archived task with this id."""
    return under(state, "archive", f"{one_level(task)}.tar.gz")


def task_homes(state: P) -> P:
    """Return the folder that holds one folder per task, named by its id."""
    return under(state, "tasks")


def task_home(state: P, task: str) -> P:
    """Return the PM's own folder of the task with this id."""
    return under(state, "tasks", one_level(task))


def ports(state: P) -> P:
    """Return what tells which worktree was given which port."""
    return under(state, "ports.json")


def task_worktrees(state: P, task: str) -> P:
    """Return the folder of a task's worktrees. It lies apart from the task's home, which is watched whole."""
    return under(state, "worktrees", one_level(task))


def skill_key(state: P) -> P:
    """Return the key by which the state files of composite skills are sealed, in the PM's own folder."""
    return under(state, ".credentials-skill-sessions")


def task_caches(state: P, task: str) -> P:
    """Return the folder of the caches that all worktrees of a task share, one for each variable that names it."""
    return under(state, "caches", one_level(task))
