"""The versions of a file that several write: which of them somebody edited, and that edit upon the newest one.

Agents write the whole file, from a copy that may be old. What the copy lacks of others was not taken back by its
writer: it was not there yet when the writer read. So an edit is merged from the version that it began with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from orchestrator.formats.workflow.merge import Loss, Merged, Version, merge_status

KEPT: Final = 256
"""How many versions are kept: a hundred agents may have read the same one, and write one after the other."""

_NAMED: Final = ("agents", "verification")
_Key = tuple[str, ...]


class StatusVersions:
    """What a status said, as far as is known. Entries that did not change are kept once.

    `newest` is what it is to say: the last version, with all edits. `number` counts the versions that lay in the file,
    where somebody may have read them. `growing` are fields with lists to which each writer adds. `dated` is a field
    that each writer changes, in a document of one writer's fields: it tells not with which version a writer began.
    """

    def __init__(self, most: int = KEPT, growing: Collection[str] = (), dated: str = "") -> None:
        self._versions = list[tuple[int, dict[_Key, Any]]]()
        self._most = most
        self._growing = growing
        self._dated = dated
        self.newest: Mapping[str, Any] | None = None
        self.number = 0

    def add(self, document: Mapping[str, Any]) -> None:
        """Note that the file says this now, with all edits."""
        self.number += 1
        self._note(document, self.number)
        self.newest = document

    def take(self, there: Mapping[str, Any], seen: int | None = None, *, earlier: bool = False) -> Merged:
        """Take in what somebody wrote, and return what the file is to say now.

        Where the writer and others changed one field since the version that the writer began with, the writer is the
        later, unless it is known to be the earlier. Nobody removes an entry, or puts something else in its place.

        Args:
            there: The document.
            seen: The last version that the writer can have read, if it wrote into a file that was replaced since.
            earlier: Others may have written since.

        """
        newest = self.newest
        base = self._began_with(dict(_entries(there)), self.number if seen is None else seen)
        if newest is None or base is None:
            self.add(there)
            return Merged(dict(there))
        sides = Version(newest, at=2 * earlier), Version(there, at=1)
        merged = merge_status(_document(base), *sides, self._growing)
        merged = _with_all_entries(merged, newest)
        if seen is None:
            self.number += 1
        self._note(there, self.number if seen is None else seen)  # the next writer may have read it
        self.newest = there if merged.document == there else merged.document
        return merged

    def clear(self) -> None:
        """Forget all versions."""
        self._versions.clear()
        self.newest = None

    def _note(self, document: Mapping[str, Any], number: int) -> None:
        """Keep a version of the file at its place among the others."""
        entries = dict(_entries(document))
        if self._versions:
            _, before = self._versions[-1]
            entries |= {key: old for key, old in before.items() if key in entries and entries[key] == old}
        place = len(self._versions)
        while place and self._versions[place - 1][0] > number:
            place -= 1
        self._versions.insert(place, (number, entries))
        del self._versions[: -self._most]

    def _undated(self, version: dict[_Key, Any]) -> dict[_Key, Any]:
        if not self._dated:
            return version
        return {key: value for key, value in version.items() if key != (self._dated,)}

    def _began_with(self, there: dict[_Key, Any], seen: int) -> dict[_Key, Any] | None:
        """Return the version that a writer began with: the one from which its text differs in the fewest fields.

        Of several the newest. An exact copy of an older version is no old copy: its writer took a change back, and
        that is an edit of the newest version. In a document of one writer's fields, whoever has something of the
        newest version that an older one does not say did not begin with that.
        """
        best, newest, fewest = None, None, 0
        there = self._undated(there)
        for number, known in reversed(self._versions):
            version = self._undated(known)
            if number > seen or (newest and self._dated and _has_of(newest, there, version)):
                continue
            newest = newest or version
            distance = _distance(version, there, fewest if best else None)
            if best is None or 0 < distance < fewest:
                best, fewest = version, distance
            if fewest <= 1:
                break
        return best or (self._versions[0][1] if self._versions else None)


def _has_of(newer: dict[_Key, Any], there: dict[_Key, Any], older: dict[_Key, Any]) -> bool:
    """Return whether something in a document is of a newer version: an older one says otherwise, or lacks an entry."""
    for key, value in there.items():
        one, other = newer.get(key), older.get(key)
        if one == other:
            continue
        if isinstance(value, list) and isinstance(one, list) and isinstance(other, list):
            if any(each in one and each not in other for each in value):
                return True
        elif value == one:
            return True
    return False


def _distance(one: dict[_Key, Any], other: dict[_Key, Any], most: int | None) -> int:
    """Return in how many fields two versions differ; not more than `most`, if given."""
    found = sum(_size(value) for key, value in other.items() if key not in one)
    for key, mine in one.items():
        if most is not None and found >= most:
            return most
        theirs = other.get(key, ...)
        if mine is theirs or mine == theirs:
            continue
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += sum(mine.get(name, ...) != theirs.get(name, ...) for name in mine.keys() | theirs.keys())
        else:
            found += max(_size(mine), _size(theirs))
    return found


def _size(value: object) -> int:
    return max(1, len(value)) if isinstance(value, Mapping) else 1


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[_Key, Any]]:
    """Yield what one writer changes at a time: the entry of an agent or of a verifier, and each other field."""
    for key, value in document.items():
        if key in _NAMED and isinstance(value, Mapping):
            yield (key,), {}
            yield from (((key, name), entry) for name, entry in value.items())
        else:
            yield (key,), value


def _document(entries: dict[_Key, Any]) -> dict[str, Any]:
    document = dict[str, Any]()
    for key, value in entries.items():
        if len(key) == 1:
            document[key[0]] = dict(value) if key[0] in _NAMED and isinstance(value, Mapping) else value
        else:
            document[key[0]][key[1]] = value
    return document


def _with_all_entries(merged: Merged, newest: Mapping[str, Any]) -> Merged:
    document, losses = dict(merged.document), list(merged.losses)
    for key in _NAMED:
        known, found = newest.get(key), document.get(key)
        if not isinstance(known, Mapping):
            continue
        entries = dict(found) if isinstance(found, Mapping) else {}
        for name, entry in known.items():
            if isinstance(entry, Mapping) and not isinstance(entries.get(name), Mapping):
                losses.append(Loss((key, name), "", entries.get(name), entry))
                entries[name] = entry
        document[key] = entries
    return Merged(document, tuple(losses))
