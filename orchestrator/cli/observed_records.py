"""Gathers what the observer reads: archives of handoffs, the journals of tasks, and archived tasks."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.archives import archives
from orchestrator.cli.data_folder import data_folders
from orchestrator.cli.journal import newest_first
from orchestrator.cli.state_file import read_state
from orchestrator.cli.tasks import AT_WORK, tasks
from orchestrator.formats.settings import load_section
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import iso
from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.records.archive_files import UnreadRecord
from orchestrator.records.handoff_facts import ArchiveFacts, HandoffFact, read_archive
from orchestrator.records.observed_sources import Reading, SourceKind, SourceRead
from orchestrator.records.observer import DAY
from orchestrator.records.passages import TaskTimes, of_report
from orchestrator.records.task_trace import OF_RUNS, TaskRuns, TaskTrace, trace_within
from orchestrator.reporting.build import report_of
from orchestrator.reporting.history import NOTABLE, History
from orchestrator.reporting.task_report import TaskReport

LOOK_BACK: Final = 30
"""Days before the period whose folders are read, too: for what is still open, and when work on the first began."""

HANDOFFS: Final = "handoffs"


@dataclass(frozen=True, slots=True)
class Period:
    """A period and the present moment, in seconds since the epoch. `until` does not belong to it."""

    since: float
    until: float
    now: float

    @property
    def before(self) -> float:
        """The beginning of as long a time before it."""
        return self.since - (self.until - self.since)

    @property
    def read_since(self) -> str:
        """The earliest day whose folder of an archive is read."""
        days = max(LOOK_BACK, round((self.until - self.since) / DAY))
        return iso(max(self.since - days * DAY, 0.0))[:10]

    @property
    def last(self) -> str:
        """The last day."""
        return iso(self.until - 1)[:10]


@dataclass(slots=True)
class Records:
    """What was found: handoffs, and what journals say. `projects` are those that count; None: all.

    `resting` has the ids of the tasks at which nobody is: what was handed on in them waits for nobody.
    """

    period: Period
    projects: frozenset[str] | None
    handoffs: list[HandoffFact] = field(default_factory=list)
    began: dict[str, float] = field(default_factory=dict)
    journals: list[TaskTimes] = field(default_factory=list)
    resting: set[str] = field(default_factory=set)
    sources: list[SourceRead] = field(default_factory=list)
    unread: list[UnreadRecord] = field(default_factory=list)
    traced: bool = False
    """Whether `traces` are wanted, of what ended in the period, and no handoffs."""

    traces: list[TaskTrace] = field(default_factory=list)
    unfinished: int = 0
    """How many tasks are at work: the spans of these and of their steps have not ended yet."""

    _counted: set[tuple[str, str]] = field(default_factory=set)
    _project_of: dict[str, str] = field(default_factory=dict)

    @property
    def reading(self) -> Reading:
        """What was read, and what could not be."""
        return Reading(self.period.read_since, tuple(self.sources), tuple(self.unread))

    # What is handed on ----------------------------------------------------------------------------

    def take_projects(self, folders: Iterable[Path]) -> None:
        """Take the archives in the folders of data of projects. Raises Refused: one is a link or a file."""
        every = list(folders)
        for data in every:
            # Two projects may have a task of one name.
            end = f" in {data.parent}" if len(every) > 1 else ""
            found = self._read(data / HANDOFFS)
            taken = self._take(found, end)
            left = len(found.handoffs) - taken
            self.sources.append(SourceRead(SourceKind.PROJECT, data / HANDOFFS, taken, left_out=left))

    def take_daemon_archive(self, root: Path) -> None:
        """Take the archive of all tasks of a daemon: what belongs to the projects that count.

        To which project a task belongs is known of tasks that there are, and of archived ones.
        """
        if any(os.path.realpath(each.path) == os.path.realpath(root) for each in self.sources):
            return
        try:
            found = self._read(root)
        except (OrchestratorError, OSError) as problem:
            self.unread.append(UnreadRecord(root, str(problem)))
            return
        ours = tuple(each for each in found.handoffs if self._counts(self._project_of.get(each.task)))
        taken = self._take(replace(found, handoffs=ours))
        left = len(found.handoffs) - taken
        self.sources.append(SourceRead(SourceKind.DAEMON, root, taken, left_out=left))

    def _read(self, root: Path) -> ArchiveFacts:
        found = read_archive(DiskFiles(), root, self.period.read_since, self.period.last)
        self.unread += found.unread
        return found

    def _take(self, found: ArchiveFacts, end: str = "") -> int:
        """Take handoffs that were not counted yet; return how many."""
        before = len(self.handoffs)
        for each in found.handoffs:
            fact = replace(each, task=f"{each.task}{end}") if end else each
            if (key := (fact.id, fact.task)) not in self._counted:
                self._counted.add(key)
                self.handoffs.append(fact)
        for task, at in found.began.items():
            self.began[f"{task}{end}"] = min(at, self.began.get(f"{task}{end}", at))
        return len(self.handoffs) - before

    # Tasks ----------------------------------------------------------------------------------------

    def take_tasks(self, state: str) -> None:
        """Take the tasks of this user that changed in the period."""
        read = handed = left = 0
        for record in tasks(state):
            if not record.begun:
                continue
            self._project_of[record.id] = record.project
            if not record.view and (not record.project or self._counts(record.project)):
                self.unread.append(UnreadRecord(Path(record.home), record.fault))
            elif record.view and self._counts(record.project):
                folder = layout.task_folder(Path(record.project), record.name)
                journal, handoffs = self._take_task(record.id, record.home, record.view, folder)
                read, handed, left = read + journal, handed + handoffs, left + (not journal)
            else:
                left += 1
        path = Path(layout.task_homes(state))
        self.sources.append(SourceRead(SourceKind.TASKS, path, handed, read, left))

    def take_archived(self, state: str) -> None:
        """Take the archived tasks that were archived in the period, or since."""
        found, faults = archives(state)
        if not found and not faults:
            return
        from orchestrator.cli.archived_records import unpacked_records  # it imports all of git's adapter

        self.unread += [UnreadRecord(path, reason) for path, reason in faults]
        read = handed = left = 0
        for each in found:
            manifest = each.manifest
            self._project_of.setdefault(manifest.id, manifest.project)
            self.resting.add(manifest.id)
            if not self._counts(manifest.project) or manifest.archived_at < self.period.before:
                left += 1
                continue
            try:
                with unpacked_records(each.file) as (home, folder):
                    view, fault = read_state(home)
                    if not view:
                        raise Refused(fault.replace(f"{home}/", ""))
                    journal, handoffs = self._take_task(manifest.id, home, view, folder)
            except (OrchestratorError, OSError) as problem:
                self.unread.append(UnreadRecord(each.file, str(problem)))
            else:
                read, handed, left = read + journal, handed + handoffs, left + (not journal)
        path = Path(layout.archive(state))
        self.sources.append(SourceRead(SourceKind.ARCHIVED, path, handed, read, left))

    def _take_task(self, task: str, home: str, view: Mapping[str, Any], folder: Path) -> tuple[bool, int]:
        """Take one task; return whether its journal was of the period, and how many handoffs were taken."""
        at_work = view.get("state") in AT_WORK and task not in self.resting
        updated = float(view.get("updated") or self.period.now)
        if not at_work:
            self.resting.add(task)
        late = at_work or updated >= self.period.before
        handed = self._take_own(task, folder) if late and not self.traced else 0
        if not at_work and updated < self.period.since:
            return False, handed
        history = History()
        for line in reversed(list(newest_first(Path(layout.task_journal(home)), NOTABLE))):
            history.take(line)
        report = report_of(view, history, made_at=self.period.now)
        self.journals.append(of_report(report))
        if self.traced:
            self.unfinished += at_work
            self._trace(report, home)
        return True, handed

    def _trace(self, report: TaskReport, home: str) -> None:
        """Keep what ended in the period for the task's trace."""
        runs = TaskRuns()
        for line in reversed(list(newest_first(Path(layout.task_journal(home)), OF_RUNS))):
            runs.take(line)
        trace = trace_within(report, runs.runs.values(), self.period.since, self.period.until)
        if trace is not None:
            self.traces.append(trace)

    def _take_own(self, task: str, folder: Path) -> int:
        """Take the archive in the folder of a task, which agents can write to: what it says of other tasks is left."""
        root = layout.role_handoffs(folder)
        try:
            data = DiskFiles().entry(layout.role_data(folder))
            if data is None:
                return 0
            if not data.is_folder:
                raise Refused(f"{layout.role_data(folder)} is a link or a file: put a folder in its place")
            found = self._read(root)
        except (OrchestratorError, OSError) as problem:
            self.unread.append(UnreadRecord(root, str(problem)))
            return 0
        ours = tuple(each for each in found.handoffs if each.task == task)
        if others := len(found.handoffs) - len(ours):
            self.unread.append(UnreadRecord(root, f"has {others} handoffs that name another task"))
        began = {name: at for name, at in found.began.items() if name == task}
        return self._take(replace(found, handoffs=ours, began=began))

    def _counts(self, project: str | None) -> bool:
        return self.projects is None or project in self.projects


def gathered_traces(options: Namespace, period: Period) -> Records:
    """Return the traces of what ended in a period in the project that is meant, or in all; no handoffs."""
    folders = data_folders(options, (HANDOFFS, layout.MEMORIES))
    made = Records(period, _projects(options, folders), traced=True)
    state = layout.state_folder(os.environ)
    made.take_tasks(state)
    made.take_archived(state)
    return made


def _projects(options: Namespace, folders: Iterable[Path]) -> frozenset[str] | None:
    """Return the real folders of the projects that count; None: all."""
    return None if options.all_projects else frozenset(os.path.realpath(each.parent) for each in folders)


def gathered(options: Namespace, period: Period) -> Records:
    """Return what there is of a period in the project that is meant, or in all.

    Raises:
        Refused: the project is no folder, or its archive is none.
        OSError: the disk fails.

    """
    folders = data_folders(options, (HANDOFFS, layout.MEMORIES))
    made, state = Records(period, _projects(options, folders)), layout.state_folder(os.environ)
    made.take_projects(folders)
    made.take_tasks(state)
    made.take_archived(state)
    config = Path(layout.config_file(os.environ))
    try:
        named = load_section(config, os.environ, "daemon").archive
    except (
        OrchestratorError
    ) as problem:  # that the settings are wrong is for the daemon to say; here it is a gap
        made.unread.append(UnreadRecord(config, f"says not where `daemon.archive` is: {problem}"))
    else:
        if named:
            made.take_daemon_archive(Path(named))
    made.handoffs.sort(key=lambda each: (each.at, each.id))
    return made
