"""Three-way merge of files that several write: the shared status of a workflow, statuses of role agents.

Per field, agents by name, and lists that grow by their entries. Sessions need none: nobody removes a note, so that
`session.render_kept` can tell what was added.

A field that only one side changed has that side's value. Where both changed it differently, the side of the field's
owner wins, else the later one, and the loser is reported. Fields that we do not know are merged like all others.
Nothing is judged here: whether a writer may make a change is for `pm.state.note_changes` and the table of transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from orchestrator.formats.workflow.status import GATE_KEY

DAEMON: Final = "daemon"
"""The author of what the daemon writes. Others are agents of the plan, or empty: unknown."""

Path: TypeAlias = tuple[str, ...]
Owner: TypeAlias = Callable[[Path], str]

_MISSING: Final = object()
_DERIVED: Final = frozenset({"status", "task_id", "session_start", "verification", GATE_KEY})
_BY_AGENT: Final = frozenset({"status"})


@dataclass(frozen=True, slots=True)
class Version:
    """One side of a merge: the document, who wrote it, and when."""

    document: Mapping[str, Any]
    author: str = ""
    at: float = 0


@dataclass(frozen=True, slots=True)
class Loss:
    """A change that was not taken over: what its author wrote where, and what stands there now."""

    path: Path
    author: str
    value: Any
    kept: Any


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged document, and what was lost."""

    document: dict[str, Any]
    losses: tuple[Loss, ...] = ()


def merge_status(
    base: Mapping[str, Any], one: Version, other: Version, growing: Collection[str] = ()
) -> Merged:
    """Return a status that has the changes of both sides since `base`.

    `growing` are fields with lists to which each side adds: what either took away is gone, what either added is there.
    """
    merge = _Merge(_status_owner, one, other, growing)
    return Merged(merge.objects((), base, one.document, other.document), tuple(merge.losses))


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
