"""The status files of a task's role agents: `data/agent-status/AGENT.json` (C4).

The agent of a role writes its own while it works, and what it says there is taken. Whatever else is written there is
put back and reported: nobody speaks for an agent that does not work.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.shared_document import TRIES, KnownDocument, SharedDocument
from orchestrator.formats.coordination.fields import unnamed
from orchestrator.formats.coordination.status import SHAPE, read_role_status, render_role_status
from orchestrator.formats.coordination.status_edits import GROWING, foreign, merged, same, taken
from orchestrator.formats.workflow.status_versions import StatusVersions
from orchestrator.model.coordination import iso
from orchestrator.model.errors import BadFile
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.role_statuses import standings
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.workflow_folder import DataFolder
    from orchestrator.model.coordination import RoleStatus
    from orchestrator.pm.plan.role_statuses import AgentStanding
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Entry

SUFFIX: Final = ".json"

PAUSE: Final = 10.0
"""Seconds between two journal lines about one agent's status."""

UNREADABLE: Final = b"\0"
"""Stands for a file that cannot be read: a link, a folder, or one that is too large."""


@dataclass(slots=True)
class _Known(KnownDocument):
    """What this process knows of one file.

    `runs` is how many runs the newest state had that was written: an older state may come later. `expected` is what
    that state says, `shown` what the file said then, and what was taken of it since. `reported` are refused edits that
    were reported since; `taken_at` is when something was last taken. `judged` is the file, by `lstat`, and what the
    state said, when nothing was left to take or to refuse: nothing is read again that is as it was then.
    """

    versions: StatusVersions = field(
        default_factory=lambda: StatusVersions(growing=GROWING, dated="lastUpdate")
    )
    runs: int = 0
    expected: RoleStatus | None = None
    shown: RoleStatus | None = None
    reported: set[str] = field(default_factory=set)
    taken_at: float = 0.0
    judged: tuple[Entry, RoleStatus] | None = None


@dataclass(frozen=True, slots=True)
class StatusEdit:
    """What somebody wrote into the status of an agent: `said` is taken, if it is the agent's; `refused` is put back.

    `waits`: what it says is taken at a later look.
    """

    agent: str
    run: str = ""
    said: RoleStatus | None = None
    refused: tuple[str, ...] = ()
    waits: bool = False


_known: dict[Path, _Known] = {}
"""By the file."""


@dataclass(frozen=True, slots=True)
class RoleStatusFiles:
    """The statuses of one task's role agents; none for a task of another family."""

    folder: DataFolder

    def publish(self, state: PMState, at: float) -> None:
        """Write the files from the state.

        A file that somebody is writing right now is left alone, and so is one with an edit that `look` is to tell of.

        Raises Unreadable, OSError.
        """
        for standing in standings(state):
            known = self._remembered(standing)
            with known.lock:
                if len(state.runs) >= known.runs:  # else it is older than what a launch wrote
                    known.runs = len(state.runs)
                    self._publish(standing, known, at, waits=state.state in ACTIVE)
            if state.state not in ACTIVE and not (state.live_runs or known.open):
                _known.pop(self._path(standing), None)  # nobody writes there any more

    def look(self, state: PMState, at: float, *, last: bool = False) -> list[StatusEdit]:
        """Return, once, what was written there since the last look.

        What an agent says often is taken every `PAUSE` seconds, unless this is the `last` look before its run ends.

        Raises Unreadable, OSError.
        """
        found = list[StatusEdit]()
        for standing in standings(state):
            known = self._remembered(standing)
            with known.lock:
                seen = self._seen(standing)
                if known.judged is not None and not known.open and known.judged == (seen, standing.status):
                    continue
                edit = self._edit(standing, known, at, last=last)
                known.judged = (seen, standing.status) if seen and edit == StatusEdit(edit.agent) else None
            if edit.said is not None or edit.refused:
                found.append(edit)
        return found

    def _publish(self, standing: AgentStanding, known: _Known, at: float, *, waits: bool) -> None:
        document = self._document(standing)
        for _ in range(TRIES):
            there, refused = self._refused(standing, known)
            if there is None or (waits and any(each not in known.reported for each in refused)):
                return
            known.fault = ""
            if there == UNREADABLE:
                self.folder.move(document.path, f"records/refused/{standing.status.agent}{SUFFIX}")
                there = b""
            wanted = _wanted(standing, known)
            before = _read(there, document.path)
            updated = before.updated if before and same(before, wanted) else iso(at)
            text = render_role_status(replace(wanted, updated=updated), there)
            known.expected, known.shown = standing.status, wanted
            if text == there or not document.put(known, text, there):
                break
        known.reported.clear()

    def _edit(self, standing: AgentStanding, known: _Known, at: float, *, last: bool) -> StatusEdit:
        there, refused = self._refused(standing, known)
        fresh = tuple(each for each in refused if each not in known.reported)
        known.reported.update(fresh)
        if standing.run is None or there is None:
            return StatusEdit(standing.status.agent, refused=fresh, waits=there is None)
        wanted = _wanted(standing, known)
        if same(wanted, standing.status):
            return StatusEdit(standing.status.agent, refused=fresh)
        if not last and at - known.taken_at < PAUSE:
            return StatusEdit(standing.status.agent, refused=fresh, waits=True)
        known.shown, known.taken_at = wanted, at
        return StatusEdit(standing.status.agent, standing.run.id, wanted, fresh)

    def _refused(self, standing: AgentStanding, known: _Known) -> tuple[bytes | None, list[str]]:
        """Return the file as it is, None if it is half written, and what stands there that nobody may write."""
        try:
            there = self._document(standing).take_in(known)
        except Unreadable as error:
            return UNREADABLE, [f"it cannot be read: {error}"]
        known.losses.clear()  # of two edits of one field the later one stays
        refused = [f"it does not read: {known.fault}"] if known.fault else []
        written = known.versions.newest
        if written is not None and standing.run is not None:
            refused += taken(written, standing.status)[1]
        elif written is not None and known.shown is not None:
            refused += foreign(written, known.shown, standing.status)
        return there, refused

    def _seen(self, standing: AgentStanding) -> Entry | None:
        place = self.folder.place(f"{layout.STATUSES}/{standing.status.agent}{SUFFIX}")
        return self.folder.files.entry(place) if place else None

    def _document(self, standing: AgentStanding) -> SharedDocument:
        return SharedDocument(self.folder, f"{layout.STATUSES}/{standing.status.agent}{SUFFIX}")

    def _remembered(self, standing: AgentStanding) -> _Known:
        return _known.setdefault(self._path(standing), _Known())

    def _path(self, standing: AgentStanding) -> Path:
        return self.folder.root / standing.status.agent


def forget() -> None:
    """Forget what this process knows of all files: for tests in which another process begins."""
    _known.clear()


def _wanted(standing: AgentStanding, known: _Known) -> RoleStatus:
    """Return what the file is to say: what the state says, and upon that what its own agent wrote since."""
    expected, written = standing.status, known.versions.newest
    if written is None:
        return expected
    if standing.run is None:
        return replace(expected, others=unnamed(written, SHAPE))
    said, _ = taken(written, expected)
    # A daemon that begins does not know what it wrote last: what the PM knows better than the agent is the PM's.
    left = standing.before or expected
    base = known.expected or replace(
        expected,
        progress=left.progress,
        findings=left.findings,
        activity=said.activity,
        handoff=said.handoff,
        next_role=said.next_role,
        current_task=said.current_task,
    )
    return merged(base, expected, said)


def _read(data: bytes, path: str) -> RoleStatus | None:
    try:
        return read_role_status(data, path) if data else None
    except BadFile:
        return None
