"""One file in `handoffs/` becomes a fact, as soon as it is certain that the file is complete."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.ingest.finished_writers import CUT_OFF, Done, Stopped
from orchestrator.daemon.ingest.handoff_files import PM, claimed_instance, digest_of_unreadable, written_name
from orchestrator.formats.handoff import (
    is_being_saved,
    read_any_report,
    read_decision,
    run_named,
    split_handoff_name,
)
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.facts import DecisionLanded, Intruded, ReportLanded
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.run import Purpose
from orchestrator.pm.policies.gates import sections_read
from orchestrator.ports.files import Entry, Files, Unreadable

if TYPE_CHECKING:
    from orchestrator.daemon.ingest.reported_files import ReportedFiles
    from orchestrator.model.limits import Limits
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState

DOUBT: Final = 0.5
"""Seconds until it is known that a writer did not end in the middle: ends of processes are reported at once."""


@dataclass(slots=True)
class HandoffReader:
    """Reads the files in one task's `handoffs/`. Its fields are those of `HandoffIngest`.

    `_maybe_partial` says since when a file that can be parsed may be incomplete: infinity while it has a writer.
    """

    files: Files
    folder: Path
    keep: Callable[[str, bytes], None]
    limits: Limits
    nonce: Callable[[], str]
    reported: ReportedFiles
    _maybe_partial: dict[str, float] = field(default_factory=dict)

    def forget(self, name: str) -> None:
        """Forget a file that is settled or gone."""
        self._maybe_partial.pop(name, None)

    def doubted_since(self, name: str) -> float | None:
        """Return since when a file without a writer may be incomplete; None if that is not in doubt."""
        since = self._maybe_partial.get(name, math.inf)
        return None if since == math.inf else since

    def fact(
        self, entry: Entry, state: PMState, at: float, done: Done
    ) -> ReportLanded | DecisionLanded | Intruded | None:
        """Return the fact for a file, or None while it may still be incomplete."""
        path, name = layout.handoffs(self.folder) / entry.name, written_name(entry.name)
        parts = split_handoff_name(name)
        instance = parts[0] if parts else claimed_instance(name, state)
        quiet = instance in done or at - entry.mtime_ns / 1e9 >= self.limits.settle_time
        try:
            if entry.is_file and self.files.being_written(path) and instance not in done:
                self._maybe_partial[entry.name] = math.inf
                return None
            data = self.files.read(path, self.limits.max_handoff_bytes)
        except Unreadable as error:
            if not quiet and entry.is_file:
                return None
            return self._refused(entry, instance, at, written_name(str(error)))
        digest = sha256(data).hexdigest()
        if instance == PM:
            return self._by_pm(entry, data, state, at, done, quiet=quiet)
        if is_being_saved(name):
            return Intruded(at, name, digest, "it has a temporary name, and was never renamed to a handoff")
        if parts is None:
            return self._misnamed(name, data, instance, state, at) if quiet else None
        try:
            report = read_any_report(data, name, sections=_sections_wanted(instance, state))
        except BadFile as error:
            faults = error.faults
            return ReportLanded(at, self.nonce(), name, digest, instance, faults=faults) if quiet else None
        self.keep(digest, data)
        if self._is_doubtful(entry, data):
            if done.get(instance) is Stopped.KILLED:
                return ReportLanded(at, self.nonce(), name, digest, instance, faults=(Fault(0, CUT_OFF),))
            if self._may_go_on(entry, at) and instance not in done:
                return None
        report = self.reported.as_seen_here(report, instance, state)
        missing, withheld = self.reported.missing(report, instance, state)
        return ReportLanded(
            at, self.nonce(), name, digest, instance, report, missing=missing, withheld=withheld
        )

    def _is_doubtful(self, entry: Entry, data: bytes) -> bool:
        """Return whether a file that can be parsed may still be incomplete because its writer may have been killed."""
        return entry.name in self._maybe_partial or not data.endswith(b"\n")

    def _may_go_on(self, entry: Entry, at: float) -> bool:
        """Return whether to look at such a file again soon, however long it took to write: its writer may be alive."""
        since = min(self._maybe_partial.get(entry.name, at), at)
        self._maybe_partial[entry.name] = since
        return at - since < min(DOUBT, self.limits.settle_time)

    def _by_pm(
        self,
        entry: Entry,
        data: bytes,
        state: PMState,
        at: float,
        done: Done,
        *,
        quiet: bool,
    ) -> DecisionLanded | Intruded | None:
        """Return the fact for a `pm-….md` that the daemon did not write.

        It is a decision exactly if it names the live run of an open consultation; anything else is shown and ignored.
        """
        name, digest, asked = written_name(entry.name), sha256(data).hexdigest(), consulted_run(state)
        stranger = Intruded(at, name, digest, "only the PM writes pm-….md, and it did not write this one")
        if asked is None:
            return stranger
        try:
            run = run_named(data, name)
        except BadFile:
            run = ""
        if run != asked.id:
            return stranger if run or quiet else None
        try:
            decision = read_decision(data, name)
        except BadFile as error:
            faults = error.faults
            return DecisionLanded(at, self.nonce(), name, digest, run, faults=faults) if quiet else None
        self.keep(digest, data)
        if self._is_doubtful(entry, data):
            if done.get(asked.instance) is Stopped.KILLED:
                return DecisionLanded(at, self.nonce(), name, digest, run, faults=(Fault(0, CUT_OFF),))
            if self._may_go_on(entry, at) and asked.instance not in done:
                return None
        return DecisionLanded(at, self.nonce(), name, digest, run, decision)

    def _misnamed(
        self, name: str, data: bytes, claimed: str, state: PMState, at: float
    ) -> ReportLanded | Intruded:
        """Return the fact for a file whose name is no handoff's: it is reported, and its content is ignored (H6).

        If it is a report of a run that owes one, its agent is asked to write it again.
        """
        digest, reason = sha256(data).hexdigest(), "handoffs are named AGENT-YYYYMMDD-HHMMSS.md"
        try:
            report = read_any_report(data, name)
        except BadFile:
            return Intruded(at, name, digest, reason)
        run = state.runs.get(report.run) if report.run else None
        writer = run.instance if run else claimed
        owes = any(each.order in state.orders for each in state.live_runs if each.instance == writer)
        if report.status is ReportStatus.IN_PROGRESS or not owes or claimed not in {"", writer}:
            return Intruded(at, name, digest, reason)
        return ReportLanded(at, self.nonce(), name, digest, writer, faults=(Fault(0, reason),))

    def _refused(self, entry: Entry, instance: str, at: float, reason: str) -> ReportLanded | Intruded:
        digest, name = digest_of_unreadable(entry, reason), written_name(entry.name)
        if instance in {"", PM} or split_handoff_name(name) is None:
            return Intruded(at, name, digest, reason)
        return ReportLanded(at, self.nonce(), name, digest, instance, faults=(Fault(0, reason),))


def consulted_run(state: PMState) -> Run | None:
    """Return the live run of the open consultation, or None."""
    live = (
        run for run in state.live_runs if run.step == state.consultation.step and run.purpose is Purpose.WORK
    )
    return next(live, None)


def _sections_wanted(instance: str, state: PMState) -> tuple[str, ...]:
    """Return the titles of the sections that the gates of an instance's step read."""
    run = state.runs.get(state.runs.latest.get(instance, ""))
    step = state.steps.get(run.step) if run is not None else None
    return sections_read(step.gates) if step is not None else ()
