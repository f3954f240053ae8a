"""The spool: a folder of letters, by how far they are. What survives a kill is what lies there.

    new/      put there, and not yet tried on any channel
    sending/  tried, or about to be; the receipts in the letter say what on which channel
    told/     over: told, or nobody is to be told, or whether it was told cannot be known
    failed/   over: no channel took it

A letter is put by anybody, once; all else is done by one teller at a time. The folder is a name for people: what
was tried stands in the receipts, and a kill between two folders is mended by the next look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.names import beneath
from orchestrator.notifications.envelope import LARGEST, Envelope, decoded, encoded
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.ports.files import Files

NEW: Final = "new"
SENDING: Final = "sending"
TOLD: Final = "told"
FAILED: Final = "failed"
FOLDERS: Final = (NEW, SENDING, TOLD, FAILED)
_ENDING: Final = ".json"


@dataclass(frozen=True, slots=True)
class Spool:
    """The letters of one user. All methods raise OSError if the disk would not."""

    files: Files
    folder: Path

    def put(self, envelope: Envelope) -> bool:
        """Put a letter in; False, and nothing changed, if one of its id is or was here. May be repeated."""
        if any(self.files.entry(self._path(where, envelope.news.id)) for where in (SENDING, TOLD, FAILED)):
            return False
        self.files.make_folder(self.folder / NEW)
        return self.files.create(self._path(NEW, envelope.news.id), encoded(envelope))

    def waiting(self) -> list[Envelope]:
        """Return what is not over, the oldest news first.

        One that was put again while it was being taken is dropped: the elder has the receipts.
        """
        sending = list(self._read(SENDING))
        new = []
        for envelope in self._read(NEW):
            if any(
                self.files.entry(self._path(where, envelope.news.id)) for where in (SENDING, TOLD, FAILED)
            ):
                self.files.remove(self._path(NEW, envelope.news.id))
            else:
                new.append(envelope)
        return sorted([*sending, *new], key=lambda envelope: (envelope.news.at, envelope.news.id))

    def look(self) -> list[Envelope]:
        """Return what is not over, the oldest news first, and change nothing: for who only shows it."""
        found = {
            envelope.news.id: envelope
            for where in (NEW, SENDING)
            for envelope in self._read(where, tidy=False)
        }
        return sorted(found.values(), key=lambda envelope: (envelope.news.at, envelope.news.id))

    def keep(self, envelope: Envelope) -> None:
        """Write a letter down as it now stands, to be gone on with."""
        self.files.make_folder(self.folder / SENDING)
        self.files.write(self._path(SENDING, envelope.news.id), encoded(envelope))
        self.files.remove(self._path(NEW, envelope.news.id))

    def lay_aside(self, envelope: Envelope, where: str) -> None:
        """Be done with a letter: `where` is TOLD or FAILED."""
        self.keep(envelope)
        self.files.make_folder(self.folder / where)
        self.files.rename(self._path(SENDING, envelope.news.id), self._path(where, envelope.news.id))

    def over(self, where: str) -> list[Envelope]:
        """Return the letters that are over, the oldest news first."""
        return sorted(self._read(where), key=lambda envelope: (envelope.news.at, envelope.news.id))

    def prune(self, kept: int) -> None:
        """Remove of what is over all but the newest `kept`."""
        for where in (TOLD, FAILED):
            entries = sorted(self.files.entries(self.folder / where), key=lambda entry: entry.mtime_ns)
            for entry in entries[: max(len(entries) - kept, 0)]:
                self.files.remove(self.folder / where / entry.name)

    def _read(self, where: str, *, tidy: bool = True) -> Iterator[Envelope]:
        for entry in self.files.entries(self.folder / where):
            path = self.folder / where / entry.name
            try:
                envelope = decoded(self.files.read(path, LARGEST))
                if entry.name != f"{envelope.news.id}{_ENDING}":
                    raise ValueError(f"holds the news {envelope.news.id!r:.80}")  # noqa: TRY301 (one way out)
                yield envelope
            except (Unreadable, ValueError) as error:
                if tidy and where in {NEW, SENDING}:
                    import logging  # whoever only shows the spool has no need of it

                    log = logging.getLogger(__name__)
                    log.error("%s is not told: %s", path, error)  # noqa: TRY400 (it is no error of ours)
                    self.files.make_folder(self.folder / FAILED)
                    self.files.rename(path, self.folder / FAILED / entry.name)

    def _path(self, where: str, news: str) -> Path:
        return beneath(self.folder / where, f"{news}{_ENDING}")
