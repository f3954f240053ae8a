"""Carries out `task observe`: gathers what the observer reads, and prints its report."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.data_folder import data_folders
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.journal import newest_first
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import AT_WORK, tasks
from orchestrator.formats.text import neutral_json
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import Transition, iso, moment
from orchestrator.records.archive import UnreadRecord
from orchestrator.records.daily_report import report
from orchestrator.records.handoff_facts import ArchiveFacts, HandoffFact, read_archive
from orchestrator.records.observer import DAY, Observation, observe
from orchestrator.records.observer_document import document_of
from orchestrator.records.passages import IssueSeen, Passage, TaskTimes, issues_of, of_roles, of_task
from orchestrator.reporting.history import NOTABLE, History

LOOK_BACK: Final = 30
"""Days before the period whose folders are read, too: for what is still open, and when work on the first began."""

_HANDOFFS: Final = "handoffs"
_MOST: Final = 3660


def run(options: Namespace) -> int:
    """Print the report; return 0."""
    now = time.time()
    since, until = _period(options, now)
    days = max(LOOK_BACK, round((until - since) / DAY))
    read_since = iso(max(since - days * DAY, 0.0))[:10]
    folders = data_folders(options, (_HANDOFFS, "memories"))
    last = iso(until - 1)[:10]
    archives = {
        str(each.parent): read_archive(DiskFiles(), each / _HANDOFFS, read_since, last) for each in folders
    }
    projects = None if options.all_projects else {os.path.realpath(each.parent) for each in folders}
    found = _observed(archives, list(_tasks(projects, since, now)), since, until, now)
    unread = [each for archive in archives.values() for each in archive.unread]
    if options.json:
        print(neutral_json(json.dumps(document_of(found, unread, read_since))))
        return Exit.DONE
    print(report(found, details=options.details), end="")
    _tell_unread(unread)
    return Exit.DONE


def _observed(
    archives: Mapping[str, ArchiveFacts],
    journals: Sequence[TaskTimes],
    since: float,
    until: float,
    now: float,
) -> Observation:
    """Return the figures of archives, by their projects, and of journals."""
    roles, issues, chains = list[Passage](), list[IssueSeen](), dict[str, float]()
    for project, archive in archives.items():
        # Two projects may have a task of one name.
        end = f" in {project}" if len(archives) > 1 else ""
        handoffs: Sequence[HandoffFact] = archive.handoffs
        if end:
            handoffs = [replace(each, task=f"{each.task}{end}") for each in handoffs]
        roles += of_roles(handoffs, {f"{task}{end}": at for task, at in archive.began.items()})
        issues += issues_of(handoffs)
        chains |= {each.task: each.at for each in handoffs if each.transition is Transition.COMPLETE}
    return observe(roles, issues, chains, journals, since=since, until=until, now=now)


def _tasks(projects: set[str] | None, since: float, now: float) -> Iterator[TaskTimes]:
    """Yield what the journals say of the tasks of some projects, or all, that changed since then."""
    for record in tasks(layout.state_folder(os.environ)):
        view = record.view
        if not view or (projects is not None and record.project not in projects):
            continue
        if view.get("state") not in AT_WORK and float(view.get("updated") or now) < since:
            continue
        history = History()
        for line in reversed(list(newest_first(Path(layout.task_journal(record.home)), NOTABLE))):
            history.take(line)
        yield of_task(view, history, now)


def _period(options: Namespace, now: float) -> tuple[float, float]:
    """Return the beginning and the end of the period, in seconds since the epoch."""
    text, days = options.date or iso(now)[:10], options.days
    last = moment(f"{text}T00:00:00Z")
    if last is None:
        raise CommandError(Exit.USAGE, f"--date is {text[:20]!a}: give a day, such as 2025-12-11")
    if not (days.isascii() and days.isdigit() and len(days) <= 4 and 0 < int(days) <= _MOST):  # noqa: PLR2004
        raise CommandError(Exit.USAGE, f"--days is {days[:20]!a}: give a number from 1 to {_MOST}")
    return last - (int(days) - 1) * DAY, last + DAY


def _tell_unread(unread: Sequence[UnreadRecord]) -> None:
    for each in unread[:20]:
        print(f"task: {harmless(each.path)} is not counted: {harmless(each.reason)}", file=sys.stderr)
    if len(unread) > 20:  # noqa: PLR2004 (as many as fit a screen)
        print(f"task: and {len(unread) - 20} more files", file=sys.stderr)
