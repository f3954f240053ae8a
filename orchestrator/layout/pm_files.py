"""The PM's own folder of one task, and of each of its runs."""

from __future__ import annotations

import os

from orchestrator.layout.paths import one_level, under

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeVar

    P = TypeVar("P", str, Path)


EVENTS_NAME = "events"


def state_above(home: P) -> P:
    """Return the PM's own folder, in which the folder of a task lies."""
    return type(home)(os.path.dirname(os.path.dirname(home)))  # noqa: PTH120 (no pathlib here)


def task_journal(home: P) -> P:
    """Return the folder of a task's journal segments."""
    return under(home, "journal")


def task_state(home: P) -> P:
    """Return the projection of a task's state that `task status` reads."""
    return under(home, "state.json")


def task_pages(home: P) -> P:
    """Return the folder in which the steps of a large plan lie, for `state.json`."""
    return under(home, "pages")


def task_withheld(home: P) -> P:
    """Return the folder of the notes on what reports on boxes name and what is not here, one for each place."""
    return under(home, "withheld")


def task_boxes_left(home: P) -> P:
    """Return what tells on which boxes the windows of a task that ended were closed, each with its last run there."""
    return under(home, "boxes-left.json")


def task_passivated(home: P) -> P:
    """Return the mark of a task that is over and was passivated."""
    return under(home, "passivated.json")


def former_task_passivated(home: P) -> P:
    """Return the mark that versions before 1.0 wrote."""
    return under(home, "shelved.json")


def task_leaving(home: P) -> P:
    """Return the mark of a task that is being deleted or archived: no daemon opens it any more."""
    return under(home, "leaving.json")


def task_merged(home: P) -> P:
    """Return the note of what the user's branch stood at before the task was merged into it."""
    return under(home, "merged.json")


def task_log(home: P) -> P:
    """Return the PM's log of a task, which the first window of its session shows."""
    return under(home, "pm.log")


def task_requests(home: P) -> P:
    """Return the folder in which the user's requests to a task lie."""
    return under(home, "requests")


def task_events(home: P) -> P:
    """Return the folder in which runs leave what they tell of themselves: it is watched with `requests/`."""
    return under(home, "requests", EVENTS_NAME)


def task_reports(home: P) -> P:
    """Return the folder of accepted reports, each named by the hash of its bytes."""
    return under(home, "reports")


def task_runs(home: P) -> P:
    """Return the folder that holds one folder per run, named by its id."""
    return under(home, "runs")


def run_home(home: P, run: str) -> P:
    """Return the folder of one run: its launcher, claim files, events and pane log."""
    return under(home, "runs", one_level(run))


def run_answers(folder: P) -> P:
    """Return the folder of what a run was answered, by the event's name."""
    return under(folder, "answers")


def run_transcript(folder: P) -> P:
    """Return the copy of the transcript that the program of a run on a box keeps there."""
    return under(folder, "transcript.jsonl")


def run_transcript_partial(folder: P) -> P:
    """Return the mark that not all of a run's transcript was copied from its box, as it is too large."""
    return under(folder, "transcript.partial")


def run_transcript_there(folder: P) -> P:
    """Return the file that tells where a run's transcript lies on its box: it is copied from there."""
    return under(folder, "transcript.from")


def run_outstanding(folder: P) -> P:
    """Return the mark of a run on a box of which not all was brought yet that it leaves there."""
    return under(folder, "outstanding")


def run_order(folder: P) -> P:
    """Return the order of a run as its agent reads it: preamble and instructions."""
    return under(folder, "order.md")
