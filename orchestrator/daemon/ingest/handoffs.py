"""Ingest of handoffs: files in `handoffs/` become facts, once each, when they are complete.

Hints only say where to look; a scan makes facts. The state records what was seen as (name, sha256); stat data is a
cache that saves reading.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.ingest.change_backoff import ChangeBackoff
from orchestrator.daemon.ingest.finished_writers import NOBODY, Done, Stopped
from orchestrator.daemon.ingest.foreign_files import ForeignFiles, Stamp
from orchestrator.daemon.ingest.handoff_files import (
    claimed_instance,
    saver_of,
    stamp_of,
    written_name,
)
from orchestrator.daemon.ingest.handoff_reader import HandoffReader, consulted_run
from orchestrator.daemon.ingest.reported_files import ReportedFiles
from orchestrator.formats.handoff import (
    is_being_saved,
    read_decision,
    run_named,
    split_handoff_name,
)
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import Fact, Intruded
from orchestrator.ports.files import Entry, Files, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.limits import Limits
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState

SOON: Final = 0.5
LATER: Final = 10.0
"""Seconds until a possibly incomplete file is looked at again: short at first, longer the longer it takes."""

ABANDONED: Final = 3600.0
"""Seconds after which a file with a temporary name counts as abandoned."""

LAST_WORDS: Final = 16
"""How many handoffs of an instance are checked for changes when its run is gone; rescans check all."""


@dataclass(slots=True)
class HandoffIngest:
    """Watches one task's `handoffs/`. `folder` is the task's folder; `keep` stores each report, with its hash.

    `trees` are the folders outside of it in which the work of a run may be; `withheld` returns what reports on boxes
    named that is not here, and why.

    `_changes` are those of handled files, `_foreign` the files that are nobody's handoff and not reported yet.
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
    _changes: ChangeBackoff = field(default_factory=ChangeBackoff)
    _foreign: ForeignFiles = field(default_factory=ForeignFiles)
    _reader: HandoffReader = field(init=False)

    def __post_init__(self) -> None:
        """Look for reported files where handoffs are looked for."""
        reported = ReportedFiles(self.files, self.folder, self.trees, self.withheld)
        self._reader = HandoffReader(self.files, self.folder, self.keep, self.limits, self.nonce, reported)

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
            self._reader.forget(name)
            self._foreign.forget(name)

    def _know(self, name: str, stamp: Stamp, state: PMState) -> None:
        self._forget({name})
        if name not in self._known:
            parts = split_handoff_name(name)
            instance = parts[0] if parts else claimed_instance(name, state)
            self._latest.setdefault(instance, deque(maxlen=LAST_WORDS)).append(name)
        self._known[name] = stamp

    def _is_news(self, entry: Entry) -> bool:
        return self._known.get(entry.name) != stamp_of(entry)

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
                self._saving[saver_of(entry.name, state)] = written_name(entry.name)
                continue
            if self._is_an_order(entry, state) or self._was_dealt_with(entry, state):
                self._know(entry.name, stamp_of(entry), state)
                continue
            waits = self._changes_too_often(entry.name, at, done)
            waits = waits or (not done and self._foreign.holds(entry.name, stamp_of(entry), at))
            fact = None if waits else self._reader.fact(entry, state, at, done)
            if isinstance(fact, Intruded):
                fact = self._gathered(fact, entry, state)
            if fact is None:
                since = self._reader.doubted_since(entry.name)
                self._unsettled[entry.name] = self._unsettled.get(entry.name, at) if since is None else since
                self._looked_at = at
            else:
                self._know(entry.name, stamp_of(entry), state)
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
        parts = split_handoff_name(written_name(name))
        if parts is not None and parts[0] in done:
            return False
        return self._changes.waits(name, at)

    def _gathered(self, fact: Intruded, entry: Entry, state: PMState) -> Intruded | None:
        """Return the fact for a foreign file and those that were withheld before, or None while it is withheld.

        The name of an order is never withheld: the next order must not get it.
        """
        if fact.name in state.seen or split_handoff_name(fact.name) is not None:
            return fact
        if self._foreign.withhold(fact, entry.name, stamp_of(entry)):
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
        return done.get(saver_of(entry.name, state), Stopped.TURN) is Stopped.TURN

    def _is_an_order(self, entry: Entry, state: PMState) -> bool:
        """Return whether a file is an order of ours, not a decision that a PM agent wrote over one of the same name."""
        if state.runs.with_order(entry.name) is None:
            return False
        asked = consulted_run(state)
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
        digest = state.seen.get(written_name(entry.name))
        if digest is None or not entry.is_file:
            return False
        try:
            data = self.files.read(layout.handoffs(self.folder) / entry.name, self.limits.max_handoff_bytes)
        except Unreadable:
            return False
        return sha256(data).hexdigest() == digest
