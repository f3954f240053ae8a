"""The versions of one handoff that two archives have, and which of them stay when the archives merge. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator.formats.coordination.completeness import follows
from orchestrator.formats.coordination.handoff import SUFFIX, read_handoff
from orchestrator.records.filed_handoffs import FiledHandoff, filed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.model.coordination import RoleHandoff

CONFLICT: Final = "conflict_"
"""How the names of handoffs begin that another archive has under an id of ours, with other content."""

_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class HandoffVersion:
    """A handoff as a file says it, and what the archive remembers of it."""

    handoff: RoleHandoff
    data: bytes
    kept: FiledHandoff

    @property
    def digest(self) -> str:
        """The hash of its bytes: by it versions are put in order."""
        return sha256(self.data).hexdigest()

    @property
    def place_aside(self) -> tuple[str, str]:
        """The date and the name under which it lies beside another version of its id."""
        return self.kept.date, f"{CONFLICT}{self.handoff.head.id}_{self.digest[:_DIGITS]}{SUFFIX}"


class ReadHandoffs:
    """Handoffs as they were read, by name and content: a merge comes to the same file several times.

    Of files of more than `most` bytes together none is kept.
    """

    def __init__(self, most: int = 0) -> None:
        self._left = most
        self._read: dict[tuple[str, bytes], RoleHandoff] = {}

    def read(self, data: bytes, name: str) -> RoleHandoff:
        """Return the handoff in a file. Raises BadFile, as `read_handoff`."""
        key = name, sha256(data).digest()
        found = self._read.get(key)
        if found is None:
            found = read_handoff(data, name)
            if len(data) <= self._left:
                self._left -= len(data)
                self._read[key] = found
        return found


def read_version(data: bytes, identifier: str, known: ReadHandoffs | None = None) -> HandoffVersion:
    """Return what a file says of the handoff of an id. Raises Refused: it is no such handoff."""
    handoff = (known or ReadHandoffs()).read(data, f"{identifier}{SUFFIX}")
    return HandoffVersion(handoff, data, filed(handoff))


def latest(versions: Iterable[HandoffVersion]) -> list[HandoffVersion]:
    """Return the versions that stay: those from which no other one goes on, the same content once, by their hashes.

    The first of them has the id. Whatever was merged before, and in which order, the same versions stay.
    """
    every = sorted({each.digest: each for each in versions}.items())
    return [
        one
        for digest, one in every
        if not any(
            _goes_on(one, other) and (other_digest < digest or not _goes_on(other, one))
            for other_digest, other in every
            if other_digest != digest
        )
    ]


def _goes_on(old: HandoffVersion, new: HandoffVersion) -> bool:
    return not follows(old.handoff, new.handoff)
