"""Three-way merge of files that several write: the shared status of a workflow, sessions, statuses of role agents.

Per field, agents by name, notes by id, and lists that grow by their entries.

A field that only one side changed has that side's value. Where both changed it differently, the side of the field's
owner wins, else the later one, and the loser is reported. Fields that we do not know are merged like all others.
Nothing is judged here: whether a writer may make a change is for `pm.state.note_changes` and the table of transitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from orchestrator.formats.workflow.status import GATE_KEY
from orchestrator.model.workflow_records import NoteStatus

DAEMON: Final = "daemon"
"""The author of what the daemon writes. Others are agents of the plan, or empty: unknown."""

Path: TypeAlias = tuple[str, ...]
Owner: TypeAlias = Callable[[Path], str]

_MISSING: Final = object()
_DERIVED: Final = frozenset({"status", "task_id", "session_start", "verification", GATE_KEY})
_BY_AGENT: Final = frozenset({"status"})
_NOTE_ID: Final = re.compile(r"(.*?)([0-9]+)")
_ANSWER: Final = frozenset({"status", "resolution", "resolved_by", "resolution_timestamp"})


@dataclass(frozen=True, slots=True)
class Version:
    """One side of a merge: the document, who wrote it, and when."""

    document: Mapping[str, Any]
    author: str = ""
    at: float = 0


@dataclass(frozen=True, slots=True)
class Loss:
    """A change that was not taken over: what its author wrote where, and what stands there now.

    A note that got another number is no loss.
    """

    path: Path
    author: str
    value: Any
    kept: Any


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged document, what was lost, and which new notes got another id: old and new one."""

    document: dict[str, Any]
    losses: tuple[Loss, ...] = ()
    renumbered: tuple[tuple[str, str], ...] = ()


def merge_status(
    base: Mapping[str, Any], one: Version, other: Version, growing: Collection[str] = ()
) -> Merged:
    """Return a status that has the changes of both sides since `base`.

    `growing` are fields with lists to which each side adds: what either took away is gone, what either added is there.
    """
    merge = _Merge(_status_owner, one, other, growing)
    return Merged(merge.objects((), base, one.document, other.document), tuple(merge.losses))


def merge_session(base: Mapping[str, Any], one: Version, other: Version, agent: str) -> Merged:
    """Return a session of `agent` that has the changes of both sides since `base`.

    Both sides' new notes are kept. Where both made a different one of the same id, the loser's gets the next number.
    """
    before = _by_id(base)
    escalated = {name for name, note in before.items() if note.get("status") == NoteStatus.ESCALATED.value}

    def owner(path: Path) -> str:
        if len(path) > 1 and path[0] == "notes":
            return DAEMON if path[1] in escalated and path[-1] in _ANSWER else agent
        return agent if path[0] == "notes" else DAEMON

    merge = _Merge(owner, one, other)
    mine, theirs = _by_id(one.document), _by_id(other.document)
    renumbered = list[tuple[str, str]]()
    taken = mine.keys() | theirs.keys() | before.keys()
    for name in sorted((mine.keys() & theirs.keys()) - before.keys(), key=_note_order):
        if mine[name] != theirs[name]:
            loser = theirs if merge.first_wins(("notes", name)) else mine
            fresh = _next_id(name, taken)
            taken = taken | {fresh}
            loser[fresh] = {**loser.pop(name), "note_id": fresh}
            renumbered.append((name, fresh))
    documents = (
        {**each, "notes": notes}
        for each, notes in ((base, before), (one.document, mine), (other.document, theirs))
    )
    document = merge.objects((), *documents)
    notes: Mapping[str, Any] = document.get("notes", {})
    order = [name for name in before if name in notes]
    order += sorted(notes.keys() - before.keys(), key=_note_order)
    document["notes"] = [notes[name] for name in order]
    return Merged(document, tuple(merge.losses), tuple(renumbered))


def _status_owner(path: Path) -> str:
    """Return whose field it is. What is derived from other files is the daemon's."""
    if path[0] == "agents" and len(path) > 2 and path[2] in _BY_AGENT:  # noqa: PLR2004 (agents, name, field)
        return path[1]
    if path[0] == "agents" or path[0] in _DERIVED:
        return DAEMON
    return ""


class _Merge:
    def __init__(self, owner: Owner, one: Version, other: Version, growing: Collection[str] = ()) -> None:
        self.losses = list[Loss]()
        self._owner, self._one, self._other = owner, one, other
        self._growing = growing

    def objects(self, path: Path, base: object, one: object, other: object) -> dict[str, Any]:
        """Return two changed objects as one: each key by itself, in the order of the base, then of the alphabet."""
        was, mine, theirs = _mapping(base), _mapping(one), _mapping(other)
        merged: dict[str, Any] = {}
        keys = (*was, *sorted((mine.keys() | theirs.keys()) - was.keys()))
        for key in keys:
            value = self._value(
                (*path, key), was.get(key, _MISSING), mine.get(key, _MISSING), theirs.get(key, _MISSING)
            )
            if value is not _MISSING:
                merged[key] = value
        return merged

    def first_wins(self, path: Path) -> bool:
        """Return whether the first side wins a conflict: the owner's, else the later; last by name, to be sure."""
        owner = self._owner(path)
        one, other = self._one, self._other
        return (one.author == owner, one.at, one.author) >= (other.author == owner, other.at, other.author)

    def _value(self, path: Path, base: object, one: object, other: object) -> object:
        if _same(one, other) or _same(other, base):
            return one
        if _same(one, base):
            return other
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return self.objects(path, base, one, other)
        if path[-1] in self._growing and isinstance(one, list) and isinstance(other, list):
            return _grown(base if isinstance(base, list) else [], one, other)
        first = self.first_wins(path)
        kept, lost = (one, other) if first else (other, one)
        author = (self._other if first else self._one).author
        self.losses.append(Loss(path, author, _shown(lost), _shown(kept)))
        return kept


def _grown(base: list[Any], one: list[Any], other: list[Any]) -> list[Any]:
    """Return the entries that neither side took away, and then those that either added; one that both added once."""
    kept = _minus(base, _minus(base, one))
    added = _minus(one, base)
    return [*_minus(kept, _minus(base, other)), *added, *_minus(_minus(other, base), added)]


def _minus(entries: list[Any], others: list[Any]) -> list[Any]:
    """Return the entries that are left when each of the others is taken away once."""
    left = list(entries)
    for each in others:
        if each in left:
            left.remove(each)
    return left


def _by_id(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes of a session by id; of two with one id the last."""
    notes = document.get("notes")
    entries: Iterable[Any] = notes if isinstance(notes, list) else ()
    return {str(note.get("note_id")): dict(note) for note in entries if isinstance(note, Mapping)}


def _next_id(name: str, taken: Iterable[str]) -> str:
    """Return the next free id: the same word, and the number after the highest."""
    found = _NOTE_ID.fullmatch(name)
    stem, width = (found[1], len(found[2])) if found else (f"{name}_", 3)
    numbers = [int(other[2]) for each in taken if (other := _NOTE_ID.fullmatch(each)) and other[1] == stem]
    return f"{stem}{max(numbers, default=0) + 1:0{width}}"


def _note_order(name: str) -> tuple[str, int, str]:
    found = _NOTE_ID.fullmatch(name)
    return (found[1], int(found[2]), name) if found else (name, 0, name)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _same(one: object, other: object) -> bool:
    """Return whether two JSON values are equal; 1, 1.0 and true are three of them."""
    if one is other:
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def _shown(value: object) -> object:
    return None if value is _MISSING else value
