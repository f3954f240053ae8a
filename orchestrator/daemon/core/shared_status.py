"""`shared_status.json` of a workflow: what the state says, over all that only the state may say (`shared_document`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from orchestrator.daemon.core.shared_document import TRIES, KnownDocument, SharedDocument
from orchestrator.formats.text import cut
from orchestrator.formats.workflow.json_text import json_text
from orchestrator.formats.workflow.status import render_status
from orchestrator.model.workflow import STATUS_FILE
from orchestrator.model.workflow_records import AgentEntry, AgentStatus, SharedStatus
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.workflow_status import shared_status_of
from orchestrator.pm.policies.turn_ends import hands_in_by_files, subjects_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from orchestrator.daemon.core.workflow_folder import WorkflowFolder
    from orchestrator.formats.workflow.merge import Loss
    from orchestrator.pm.state.task_state import PMState

_LONGEST: Final = 60


@dataclass(slots=True)
class _Known(KnownDocument):
    """What this process knows of one file.

    `state` is the newest that was written, by its number of runs: an older one may come later. `asked` are those that
    wait for the file to be written, each with its state and the agents whose runs are about to begin; `numbers` tells
    them apart. `opened` are the live runs of that state, `ahead` those of them that this process has yet to launch.
    `shown` are the entries as they were written last, and `spoken_for` the agents about which a run might
    write then. `reported` are refused edits that were reported since, `unreported` those that were not.
    """

    state: PMState | None = None
    asked: dict[int, tuple[PMState, frozenset[str]]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    opened: frozenset[str] = frozenset()
    ahead: frozenset[str] = frozenset()
    shown: dict[str, AgentEntry] = field(default_factory=dict)
    spoken_for: frozenset[str] = frozenset()
    reported: set[str] = field(default_factory=set)
    unreported: list[str] = field(default_factory=list)


_known: dict[Path, _Known] = {}
"""By the task's folder."""


@dataclass(frozen=True, slots=True)
class SharedStatusFile:
    """The shared status of the workflow in a folder."""

    folder: WorkflowFolder

    def publish(self, state: PMState, own: Collection[str] = ()) -> None:
        """Write the file from the state.

        Statuses that a live run may give stay as they are, until its turn ends: what it wrote there is a claim. `own`
        are agents whose status is written nevertheless, as a run of theirs is about to begin. A file that somebody is
        writing right now is left alone, unless such a run begins. Many launches at once are one write: who comes while
        another writes is written for along with all who came meanwhile.

        Raises Unreadable, OSError.
        """
        if state.brief.workflow is None:
            return
        known = self._remembered()
        number = next(known.numbers)
        known.asked[number] = state, frozenset(own)
        with known.lock:
            if number not in known.asked:
                return  # it was written along with what somebody else had asked for
            asked = dict(known.asked)
            try:
                self._write(known, asked.values())
            except BaseException:
                del known.asked[number]  # the others try it themselves, and learn what is wrong
                raise
            for each in asked:
                del known.asked[each]

    def _write(self, known: _Known, asked: Collection[tuple[PMState, frozenset[str]]]) -> None:
        """Write the file once for all who asked, from the newest state."""
        own = frozenset[str]().union(*(each for _, each in asked))
        newest = max(reversed([state for state, _ in asked]), key=lambda state: len(state.runs))
        if known.state is not None and len(newest.runs) < len(known.state.runs):
            if not own:
                return  # a run that it does not know may have claimed something
            newest = known.state
        plan = newest.brief.workflow
        if plan is None:
            return
        own |= _agents_ahead(known, newest, own)
        known.state = newest
        status, spoken_for = shared_status_of(newest, plan), frozenset(spoken_for_in(newest) - own)
        for _ in range(TRIES):
            there = self._take_in(known)
            if there is None and not own:
                return
            _note_refused(known, status, spoken_for | own)
            text = _text(known, status, spoken_for)
            if text == there or not self._document.put(known, text, there or b""):
                break
        known.shown, known.spoken_for = {each.name: each for each in status.agents}, spoken_for
        known.reported.clear()
        if newest.state not in ACTIVE and not (newest.live_runs or known.open):
            known.versions.clear()  # they may be large, and nobody writes there any more
            known.shown.clear()

    def claim(self, agent: str) -> AgentStatus | None:
        """Return the status in an agent's entry; None if it has none that there is.

        Raises:
            BadFile: the file is no JSON, and nobody is writing it right now.
            Unreadable: it cannot be read.

        """
        known = self._remembered()
        with known.lock:
            there = self._take_in(known)
            if there:
                self._document.content(there)
            return _claims(known.versions.newest or {}).get(agent)

    def refused(self, state: PMState) -> tuple[str, ...]:
        """Return, once, what was written there that nobody may write. It stays until the file is published.

        The file is expected to say what the state says, so that a difference is an edit. Raises Unreadable, OSError.
        """
        plan = state.brief.workflow
        if plan is None:
            return ()
        known = self._remembered()
        with known.lock:
            self._take_in(known)
            found = list(known.unreported)
            if known.versions.newest:
                status, spoken_for = shared_status_of(state, plan), spoken_for_in(state)
                found += _forbidden(known.versions.newest, status.agents, spoken_for)
            found = [each for each in dict.fromkeys(found) if each not in known.reported]
            known.reported.update(found)
            known.unreported.clear()
            return tuple(found)

    @property
    def _document(self) -> SharedDocument:
        return SharedDocument(self.folder, STATUS_FILE)

    @property
    def waits(self) -> bool:
        """Whether somebody has a file open that was replaced: what is written there is merged at the next look."""
        return bool(self._remembered().open)

    def _remembered(self) -> _Known:
        return _known.setdefault(self.folder.task, _Known())

    def _take_in(self, known: _Known) -> bytes | None:
        """Take in what was written since the last look, as the document does; note the changes that were not taken."""
        there = self._document.take_in(known)
        known.unreported += [_lost(each) for each in known.losses]
        known.losses.clear()
        return there


def forget() -> None:
    """Forget what this process knows of all files: for tests in which another process begins."""
    _known.clear()


def spoken_for_in(state: PMState) -> set[str]:
    """Return the agents about which a live run may write a status: its own, and that of the work which it judges."""
    return {agent for agents in _speaking(state).values() for agent in agents}


def _speaking(state: PMState) -> dict[str, frozenset[str]]:
    """Return the live runs that may write a status, each with the agents about which it may."""
    return {
        run.id: frozenset(subjects_of(state, state.steps[run.step]) or [run.agent])
        for run in state.live_runs
        if run.order in state.orders and hands_in_by_files(state.steps[run.step])
    }


def _agents_ahead(known: _Known, state: PMState, own: frozenset[str]) -> frozenset[str]:
    """Return the agents whose runs are opened and not launched yet: what stands there is the claim of an earlier run.

    Left there, it would be read by agents that begin meanwhile, and written back with what they write. Of a run that
    was opened before this process looked nobody knows whether it was launched.
    """
    speaking = _speaking(state)
    new = speaking.keys() - known.opened if known.state is not None else frozenset[str]()
    known.opened = frozenset(speaking)
    known.ahead = frozenset(run for run in known.ahead | new if run in speaking and not speaking[run] <= own)
    return frozenset().union(*(speaking[run] for run in known.ahead))


def _text(known: _Known, status: SharedStatus, spoken_for: Collection[str]) -> bytes:
    """Return the file as it is to be: what the state says, the claims, and all fields that nobody knows."""
    document = known.versions.newest or {}
    claims = _claims(document)
    agents = tuple(
        replace(each, status=claims[each.name]) if each.name in spoken_for and each.name in claims else each
        for each in status.agents
    )
    base = known.newest or (json_text(document) if document else b"")
    return render_status(replace(status, agents=agents), base)


def _note_refused(known: _Known, status: SharedStatus, spoken_for: Collection[str]) -> None:
    """Note what was written since the file was published, and nobody may write: it is about to be put back."""
    if not known.shown or not known.versions.newest:
        return
    shown = {name: each for name, each in known.shown.items() if name not in known.spoken_for}
    wanted = {each.name: each for each in status.agents}
    edits = _forbidden(known.versions.newest, tuple(shown.values()), spoken_for, wanted)
    known.unreported += [
        each for each in edits if each not in known.reported and each not in known.unreported
    ]


def _forbidden(
    document: Mapping[str, Any],
    entries: Collection[AgentEntry],
    spoken_for: Collection[str],
    wanted: Mapping[str, AgentEntry] | None = None,
) -> Iterator[str]:
    """Yield what a document says otherwise than these entries, where no live run may say it.

    `wanted` is what the state says now, if that is something else.
    """
    found = document.get("agents")
    written = found if isinstance(found, dict) else {}
    for entry in entries:
        there, now = written.get(entry.name), (wanted or {}).get(entry.name, entry)
        if not isinstance(there, dict):
            yield f"the entry of {entry.name} was removed"
            continue
        said = there.get("status")
        if said not in (entry.status.value, now.status.value) and entry.name not in spoken_for:
            yield f"{entry.name}.status was set to {cut(str(said), _LONGEST)}; it is {now.status.value}"
        if there.get("dependencies", []) not in (list(entry.dependencies), list(now.dependencies)):
            yield f"{entry.name}.dependencies were changed; they are those of the plan"


def _lost(loss: Loss) -> str:
    """Return a sentence about a change that was not taken over."""
    where = ".".join(loss.path[1:] if len(loss.path) > 1 else loss.path)
    if len(loss.path) == 2:  # noqa: PLR2004 (agents, name)
        return f"the entry of {loss.path[1]} was removed"
    return f"{where} was set to {cut(str(loss.value), _LONGEST)}; a later edit says {cut(str(loss.kept), _LONGEST)}"


def _claims(document: Mapping[str, Any]) -> dict[str, AgentStatus]:
    """Return the statuses in a shared status, whatever else stands there."""
    agents = document.get("agents")
    found = dict[str, AgentStatus]()
    for name, entry in agents.items() if isinstance(agents, dict) else ():
        status = entry.get("status") if isinstance(entry, dict) else None
        if isinstance(status, str) and status in set(AgentStatus):
            found[name] = AgentStatus(status)
    return found
