"""Outboxes: where each agent hands in through a folder of its own, and the PM publishes from there (`outboxes: yes`).

A sandbox can let an agent write one folder, but not some of the names in it. So `handoffs/` is read-only to the agents,
and what lies in an outbox speaks for the instance whose outbox it is, and for nobody else. What may not be published is
asked for again if the instance owes a report, and is reported otherwise.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.ingest.change_backoff import ChangeBackoff
from orchestrator.daemon.ingest.finished_writers import CUT_OFF, NOBODY, Done, Stopped
from orchestrator.daemon.ingest.handoff_files import digest_of_unreadable, stamp_of, written_name
from orchestrator.daemon.ingest.handoffs import LATER, SOON
from orchestrator.daemon.ingest.task_folder import is_right
from orchestrator.formats.handoff import is_being_saved, read_any_report, split_handoff_name
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.facts import Intruded, ReportLanded
from orchestrator.model.run import Purpose
from orchestrator.ports.files import Entry, Files, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from orchestrator.daemon.ingest.foreign_files import Stamp
    from orchestrator.model.limits import Limits
    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)

MODE: Final = 0o644


@dataclass(slots=True)
class Outboxes:
    """The outboxes of one task's instances. `folder` is the task's folder.

    `_known` are the files that were published or refused, by instance and name; `_partial` those that were seen while
    somebody wrote them; `_refusals` bound how often an agent that writes one bad file after the other costs a journal
    line. `_waiting` says since when each file waits that is to be looked at again.
    """

    files: Files
    folder: Path
    limits: Limits
    nonce: Callable[[], str]
    _known: dict[tuple[str, str], Stamp] = field(default_factory=dict)
    _refusals: ChangeBackoff = field(default_factory=ChangeBackoff)
    _partial: set[tuple[str, str]] = field(default_factory=set)
    _waiting: dict[tuple[str, str], float] = field(default_factory=dict)
    _looked_at: float = 0.0

    def look_again(self, at: float) -> float | None:
        """Return when to look again, seen from a moment; None if no file waits. The longer one waits, the later."""
        if not self._waiting:
            return None
        pause = min(max(SOON, (self._looked_at - max(self._waiting.values())) / 2), LATER)
        return min(self._looked_at, at) + pause

    def publish(self, state: PMState, at: float, done: Done = NOBODY) -> list[ReportLanded | Intruded]:
        """Copy what is new in the outboxes into `handoffs/`; return a fact for each file that may not be published.

        `done` are instances that have finished writing, and why.

        Raises:
            OSError: the disk cannot do it now.

        """
        right = state.brief.config.outboxes and is_right(self.files, self.folder, "handoffs", state.links)
        if not right:  # what is wrong with the folder is repaired elsewhere
            return []
        before, self._looked_at = self._waiting, at
        self._waiting = dict[tuple[str, str], float]()
        refused = [self._look(instance, entry, state, at, done) for instance, entry in self._there(state)]
        self._waiting = {key: min(before.get(key, at), at) for key in self._waiting}
        return [fact for fact in refused if fact is not None]

    def _there(self, state: PMState) -> Iterator[tuple[str, Entry]]:
        """Yield the files in the outboxes of living runs that are not known as they are, the oldest first."""
        for run in state.live_runs:
            outbox = layout.outbox(self.folder, run.instance)
            found = self.files.entry(outbox)
            if run.on_box or run.purpose is not Purpose.WORK or found is None or not found.is_folder:
                continue
            for entry in sorted(self.files.entries(outbox), key=lambda each: (each.mtime_ns, each.name)):
                if self._known.get((run.instance, entry.name)) != stamp_of(entry):
                    yield run.instance, entry

    def _look(
        self, instance: str, entry: Entry, state: PMState, at: float, done: Done
    ) -> ReportLanded | Intruded | None:
        if is_being_saved(entry.name):
            return None
        path = layout.outbox(self.folder, instance) / entry.name
        try:
            if entry.is_file and instance not in done and self.files.being_written(path):
                self._waiting[instance, entry.name] = at
                self._partial.add((instance, entry.name))
                return None
            data = self.files.read(path, self.limits.max_handoff_bytes)
        except Unreadable as error:
            reason = written_name(str(error))
            return self._refused(instance, entry, digest_of_unreadable(entry, reason), reason, state, at)
        cut_off = done.get(instance) is Stopped.KILLED and (instance, entry.name) in self._partial
        if reason := CUT_OFF if cut_off else _why_not(instance, entry.name, data, state):
            return self._refused(instance, entry, sha256(data).hexdigest(), reason, state, at)
        self._publish(entry, data)
        self._known[instance, entry.name] = stamp_of(entry)
        return None

    def _publish(self, entry: Entry, data: bytes) -> None:
        """Copy a file into `handoffs/`, with its time: one that was corrected there since stays as it is."""
        public = layout.handoffs(self.folder) / entry.name
        there = self.files.entry(public)
        if there is None or there.mtime_ns < entry.mtime_ns:
            self.files.write(public, data, MODE, durable=False, mtime_ns=entry.mtime_ns)

    def _refused(
        self, instance: str, entry: Entry, digest: str, reason: str, state: PMState, at: float
    ) -> ReportLanded | Intruded | None:
        """Return the fact for a file that is not published; None while too many others were refused just now."""
        if self._refusals.waits(instance, at):
            self._waiting[instance, entry.name] = at
            return None
        self._refusals.count(instance, at)
        self._known[instance, entry.name] = stamp_of(entry)
        name = f"scratchpad/{instance}/{layout.OUTBOX}/{written_name(entry.name)}"
        if state.seen.get(name) == digest:
            return None
        log.warning("%s is not published: %s", name, reason)
        if _owes(instance, state):
            return ReportLanded(at, self.nonce(), name, digest, instance, faults=(Fault(0, reason),))
        return Intruded(at, name, digest, reason)


def _why_not(instance: str, name: str, data: bytes, state: PMState) -> str:
    """Return why a file in an instance's outbox may not be published; empty if it may.

    A report may be named after an agent's definition, and name no run, where nobody else could have written it. Here
    somebody else could: `dev` beside `dev-2`.
    """
    parts = split_handoff_name(name)
    if parts is None or parts[0] != instance:
        return f"handoffs of {instance} are named {instance}-YYYYMMDD-HHMMSS.md"
    try:
        named = read_any_report(data, name).run
    except BadFile:  # if it is published, it is asked for again with its faults; a PM's decision is no report
        named = ""
    run = state.runs.get(named) if named else None
    if named and (run is None or run.instance != instance):
        return f"it names the run {named}, which is no run of {instance}"
    if not named and not _owes(instance, state):
        return f"it names no run, and {instance} has no open order"
    return ""


def _owes(instance: str, state: PMState) -> bool:
    """Return whether an order of an instance is open."""
    return any(state.runs[order.run].instance == instance for order in state.orders.values())
