"""Ingest of handoffs: files in `handoffs/` become facts, once each, when they are complete.

Hints only say where to look; a scan makes facts. The state records what was seen as (name, sha256); stat data is a
cache that saves reading.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from hashlib import sha256
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from orchestrator import layout
from orchestrator.daemon.core.task_paths import task_folder_of
from orchestrator.daemon.ingest.change_backoff import ChangeBackoff
from orchestrator.daemon.ingest.foreign_files import ForeignFiles, Stamp
from orchestrator.formats.handoff import (
    is_being_saved,
    read_any_report,
    read_decision,
    run_named,
    split_handoff_name,
)
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.facts import DecisionLanded, Fact, Intruded, ReportLanded
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.run import Purpose
from orchestrator.pm.policies.gates import sections_read
from orchestrator.ports.files import Entry, Files, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.handoff import Report
    from orchestrator.model.limits import Limits
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState

PM: Final = "pm"
PATH_MAX: Final = 4096
YEAR: Final = 4  # digits; fewer of them are an instance's number
SOON: Final = 0.5
LATER: Final = 10.0
"""Seconds until a possibly incomplete file is looked at again: short at first, longer the longer it takes."""

ABANDONED: Final = 3600.0
"""Seconds after which a file with a temporary name counts as abandoned."""

DOUBT: Final = 0.5
"""Seconds until it is known that a writer did not end in the middle: ends of processes are reported at once."""

CUT_OFF: Final = "it may be cut off: its writer was ended before it was seen whole"
LAST_WORDS: Final = 16
"""How many handoffs of an instance are checked for changes when its run is gone; rescans check all."""


class Stopped(Enum):
    """Why an instance has finished writing."""

    TURN = "turn"
    """Its turn is over. A background process of it may still rename a saved file."""

    RUN = "run"
    """Its run is gone."""

    KILLED = "killed"
    """Its run was ended by others: it may have been in the middle of writing."""


Done: TypeAlias = Mapping[str, Stopped]
"""Instances that have finished writing, and why."""

NOBODY: Final[Done] = {}


@dataclass(slots=True)
class HandoffIngest:
    """Watches one task's `handoffs/`. `folder` is the task's folder; `keep` stores each report, with its hash.

    `trees` are the folders outside of it in which the work of a run may be; `withheld` returns what reports on boxes
    named that is not here, and why.

    `_changes` are those of handled files, `_foreign` the files that are nobody's handoff and not reported yet.
    `_maybe_partial` says since when a file that can be parsed may be incomplete: infinity while it has a writer.
    """

    files: Files
    folder: Path
    keep: Callable[[str, bytes], None]
    limits: Limits
    nonce: Callable[[], str]
    trees: Callable[[Run], tuple[Path, ...]] = lambda _: ()
    withheld: Callable[[], Mapping[str, str]] = dict
    _known: dict[str, Stamp] = field(default_factory=dict)
    _unsettled: dict[str, float] = field(default_factory=dict)
    _saving: dict[str, str] = field(default_factory=dict)
    _looked_at: float = 0.0
    _latest: dict[str, deque[str]] = field(default_factory=dict)
    _maybe_partial: dict[str, float] = field(default_factory=dict)
    _changes: ChangeBackoff = field(default_factory=ChangeBackoff)
    _foreign: ForeignFiles = field(default_factory=ForeignFiles)

    def scan(self, state: PMState, at: float, done: Done = NOBODY) -> list[Fact]:
        """Return a fact for every handoff that is new or changed, and complete.

        `done` are instances that have finished writing: their files will not get any more complete.
        """
        there = self._there(done)
        self._saving.clear()
        if self._unsettled:
            self._forget(set(self._unsettled).difference(entry.name for entry in there))
        names = [entry for entry in there if self._is_news(entry)]
        names.sort(key=lambda entry: (entry.mtime_ns, entry.name))
        return self._looked(names, state, at, done)

    def saving(self, instance: str) -> str:
        """Return the file that an instance had under a temporary name at the last scan; empty if none."""
        return self._saving.get(instance, "")

    def _there(self, done: Done) -> list[Entry]:
        """Return the files to look at; for a run's last words only new, unsettled, and that instance's latest files.

        A look at each of 6,000 files takes 25 ms, and at their names 1 ms: older changes are left to the next rescan.
        """
        folder = layout.handoffs(self.folder)
        if not done:
            return self.files.entries(folder)
        known = self._known
        wanted = {name for name in self.files.names(folder) if name not in known}
        wanted.update(self._unsettled, *(self._latest.get(instance, ()) for instance in done))
        found = [self.files.entry(folder / name) for name in wanted]
        return [entry for entry in found if entry is not None]

    def look(self, name: str, state: PMState, at: float) -> list[Fact]:
        """Like `scan`, for one name that a hint gave; the cost does not grow with the folder."""
        entry = self.files.entry(layout.handoffs(self.folder) / name)
        if entry is None:
            self._forget({name})
            return []
        return self._looked([entry], state, at) if self._is_news(entry) else []

    @property
    def unsettled(self) -> list[str]:
        """Return the names of files that may still be incomplete."""
        return sorted(self._unsettled)

    def look_again(self, at: float) -> float | None:
        """Return when to look at these again, seen from a moment; None if there are none.

        A file that is held open for half an hour is not looked at 3,600 times. A changed clock must not prolong the
        wait.
        """
        if not self._unsettled:
            return None
        youngest = max(self._unsettled.values())
        pause = min(max(SOON, (self._looked_at - youngest) / 2), LATER)
        return min(self._looked_at, at) + pause

    def _forget(self, names: set[str]) -> None:
        for name in names:
            self._unsettled.pop(name, None)
            self._maybe_partial.pop(name, None)
            self._foreign.forget(name)

    def _know(self, name: str, stamp: Stamp, state: PMState) -> None:
        self._forget({name})
        if name not in self._known:
            parts = split_handoff_name(name)
            instance = parts[0] if parts else claimed_instance(name, state)
            self._latest.setdefault(instance, deque(maxlen=LAST_WORDS)).append(name)
        self._known[name] = stamp

    def _is_news(self, entry: Entry) -> bool:
        return self._known.get(entry.name) != _stamp(entry)

    def _looked(
        self,
        entries: list[Entry],
        state: PMState,
        at: float,
        done: Done = NOBODY,
    ) -> list[Fact]:
        facts: list[Fact] = []
        for entry in entries:
            if not self._is_news(entry):
                continue  # it was handled with one before it
            if entry.name.startswith(".") and not entry.is_file:
                continue  # a sandbox puts it there while a command runs (Codex: .git, .aws; measured)
            if self._is_being_saved(entry, state, at, done):
                self._saving[_saver(entry.name, state)] = _written(entry.name)
                continue
            if self._is_an_order(entry, state) or self._was_dealt_with(entry, state):
                self._know(entry.name, _stamp(entry), state)
                continue
            waits = self._changes_too_often(entry.name, at, done)
            waits = waits or (not done and self._foreign.holds(entry.name, _stamp(entry), at))
            fact = None if waits else self._fact(entry, state, at, done)
            if isinstance(fact, Intruded):
                fact = self._gathered(fact, entry, state)
            if fact is None:
                self._unsettled.setdefault(entry.name, at)
                self._looked_at = at
            else:
                self._know(entry.name, _stamp(entry), state)
                if state.seen.get(fact.name) != fact.sha256:
                    facts.append(fact)
                    if fact.name in state.seen:
                        self._changes.count(entry.name, at)
        # A name that a foreign file took must be known before the next order is named.
        return sorted(facts, key=lambda fact: not isinstance(fact, Intruded))

    def _changes_too_often(self, name: str, at: float, done: Done) -> bool:
        """Return whether a handled file that changed again has to wait: each change costs a journal line for good.

        The last words of a run never wait.
        """
        parts = split_handoff_name(_written(name))
        if parts is not None and parts[0] in done:
            return False
        return self._changes.waits(name, at)

    def _gathered(self, fact: Intruded, entry: Entry, state: PMState) -> Intruded | None:
        """Return the fact for a foreign file and those that were withheld before, or None while it is withheld.

        The name of an order is never withheld: the next order must not get it.
        """
        if fact.name in state.seen or split_handoff_name(fact.name) is not None:
            return fact
        if self._foreign.withhold(fact, entry.name, _stamp(entry)):
            return None
        fact, withheld = self._foreign.together(fact, entry.name)
        for name, stamp in withheld.items():
            self._know(name, stamp, state)
        return fact

    def _is_being_saved(self, entry: Entry, state: PMState, at: float, done: Done) -> bool:
        """Return whether a file is about to be renamed or removed: then it is waited for, at no cost.

        A turn may end before a background process renames its handoff. A file that is still there when its run is
        gone, or after long, is reported like any file that is no handoff.
        """
        if not is_being_saved(entry.name) or at - entry.mtime_ns / 1e9 >= ABANDONED:
            return False
        return done.get(_saver(entry.name, state), Stopped.TURN) is Stopped.TURN

    def _is_an_order(self, entry: Entry, state: PMState) -> bool:
        """Return whether a file is an order of ours, not a decision that a PM agent wrote over one of the same name."""
        if state.runs.with_order(entry.name) is None:
            return False
        asked = _asked(state)
        if asked is None:
            return True
        try:
            data = self.files.read(layout.handoffs(self.folder) / entry.name, self.limits.max_handoff_bytes)
            read_decision(data, entry.name)
            return run_named(data, entry.name) != asked.id
        except (BadFile, Unreadable):
            return True

    def _was_dealt_with(self, entry: Entry, state: PMState) -> bool:
        """Return whether these bytes were handled before, as nearly all were after a restart; that costs a read."""
        digest = state.seen.get(_written(entry.name))
        if digest is None or not entry.is_file:
            return False
        try:
            data = self.files.read(layout.handoffs(self.folder) / entry.name, self.limits.max_handoff_bytes)
        except Unreadable:
            return False
        return sha256(data).hexdigest() == digest

    def _fact(
        self, entry: Entry, state: PMState, at: float, done: Done
    ) -> ReportLanded | DecisionLanded | Intruded | None:
        """Return the fact for a file, or None while it may still be incomplete."""
        path, name = layout.handoffs(self.folder) / entry.name, _written(entry.name)
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
            return self._refused(entry, instance, at, _written(str(error)))
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
        report = self._as_seen_here(report, instance, state)
        missing, withheld = self._missing(report, instance, state)
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
        if at - since < min(DOUBT, self.limits.settle_time):
            self._unsettled[entry.name] = since
            return True
        return False

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
        name, digest, asked = _written(entry.name), sha256(data).hexdigest(), _asked(state)
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
        digest, name = _digest_of_unreadable(entry, reason), _written(entry.name)
        if instance in {"", PM} or split_handoff_name(name) is None:
            return Intruded(at, name, digest, reason)
        return ReportLanded(at, self.nonce(), name, digest, instance, faults=(Fault(0, reason),))

    def _as_seen_here(self, report: Report, instance: str, state: PMState) -> Report:
        """Return a report from a box with paths in the task's folder there as paths in the one here.

        What it names was fetched to here, and its readers, agents on this machine or on another box, look for it here.
        """
        run = state.runs.get(state.runs.latest.get(instance, ""))
        if run is None or not run.on_box:
            return report
        there = str(task_folder_of(state, run, self.folder))

        def here(paths: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(layout.in_task_folder(path, there) for path in paths)

        marks = report.criteria
        if marks is not None:
            marks = tuple(replace(mark, evidence=here(mark.evidence)) for mark in marks)
        return replace(report, artifacts=here(report.artifacts), criteria=marks)

    def _missing(
        self, report: Report, instance: str, state: PMState
    ) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Return the named artifacts that are not on disk (law 6), and those that stay on a box, with the reason.

        Evidence is looked up when it is judged. Absolute paths that are left in a report from a box are of other
        folders there: what is in them stays there, and is believed.
        """
        named = dict.fromkeys(report.artifacts)
        run = state.runs.get(state.runs.latest.get(instance, ""))
        trees = self.trees(run) if run is not None else ()
        known = self.withheld() if run is not None and run.on_box else {}
        if run is not None and run.on_box:
            named = {name: None for name in named if not name.startswith("/")}
        away = {name: why for name in named if (why := known.get(normpath(name)))}
        lacking = (name for name in named if name not in away and not self._is_there(name, trees))
        return tuple(lacking), tuple(away.items())

    def _is_there(self, name: str, trees: tuple[Path, ...]) -> bool:
        """Return whether a path names a file, or a folder that is not empty, where an agent's work may be.

        That is in the task's folders for agents, in the tree that the run works in, or in the project. A relative path
        may start at the task's folder or at the tree.
        """
        path = Path(name)
        if ".." in path.parts or "\0" in name or len(name) > PATH_MAX:
            return False
        roots = [*(self.folder / each for each in layout.FOR_AGENTS), *trees]
        starts = (Path("/"),) if path.is_absolute() else (self.folder, *trees)
        return any(self._holds(start / path, roots) for start in starts)

    def _holds(self, path: Path, roots: list[Path]) -> bool:
        files = self.files
        entry = files.entry(path)
        if entry is None or not (entry.is_file or entry.is_folder):
            return False
        real = files.real(path)
        within = [root for root in roots if real.is_relative_to(files.real(root))]
        if not within or self._is_ours(real):
            return False
        return entry.is_file or (bool(files.names(path)) and path not in within)

    def _is_ours(self, path: Path) -> bool:
        """Return whether a file of the task's folder is the user's or the PM's own, and so no agent's work."""
        real = self.files.real(self.folder)
        return path.is_relative_to(real) and path.relative_to(real).parts[:1] not in {
            (each,) for each in layout.FOR_AGENTS
        }


def _asked(state: PMState) -> Run | None:
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


def history(files: Files, folder: Path, limits: Limits) -> dict[str, str]:
    """Return the files in a task's `handoffs/` before its first start, by name and hash: none of them is news."""
    found = {}
    for entry in files.entries(layout.handoffs(folder)):
        try:
            data = files.read(layout.handoffs(folder) / entry.name, limits.max_handoff_bytes)
            digest = sha256(data).hexdigest()
        except Unreadable as error:
            digest = _digest_of_unreadable(entry, _written(str(error)))
        found[_written(entry.name)] = digest
    return found


def _digest_of_unreadable(entry: Entry, reason: str) -> str:
    """Return a substitute for the content hash of a file that cannot be read: it changes when the file does."""
    stamp = entry.inode, entry.mtime_ns, entry.size
    return sha256(f"{stamp}{reason}".encode()).hexdigest()


def _stamp(entry: Entry) -> Stamp:
    """Return one number that distinguishes files of the same name; it is kept for each file."""
    return hash((entry.inode, entry.mtime_ns, entry.size))


def _written(text: str) -> str:
    """Return a file's name as valid text: a name may contain bytes that are no UTF-8."""
    if text.isascii():
        return text
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _saver(name: str, state: PMState) -> str:
    """Return the instance that a file with a temporary name claims; empty if none."""
    return claimed_instance(name.lstrip(".#"), state)


def claimed_instance(name: str, state: PMState) -> str:
    """Return the instance that a misnamed file claims: the longest known instance that its name begins with.

    The rest must not continue the word, or be the number of a second instance: `developer.md` and `dev-2-report.md` do
    not belong to `dev`.
    """
    known = {*state.runs.latest, PM}
    claimed = [
        each for each in known if _goes_on_otherwise(name.removeprefix(each)) and name.startswith(each)
    ]
    return max(claimed, key=len, default="")


def _goes_on_otherwise(rest: str) -> bool:
    number = rest[1:].partition("-")[0].partition(".")[0] if rest.startswith("-") else ""
    return not rest[:1].isalnum() and not (number.isdigit() and len(number) < YEAR)
