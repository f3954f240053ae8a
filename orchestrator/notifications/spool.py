"""The spool: folders of envelopes, by how far they are. What lies there survives a kill.

    new/        put there, not tried on any channel yet
    sending/    tried, or about to be; the receipts in the envelope say what happened on which channel
    delivered/  done: delivered, or no channel wanted it, or nobody can know whether it was delivered
    failed/     done: no channel took it

Any process may put an envelope, once. Everything else is done by one sender at a time. The folders are for people: the
receipts say what was tried, and the next look repairs a move between two folders that a kill interrupted.
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
DELIVERED: Final = "delivered"
FAILED: Final = "failed"
FOLDERS: Final = (NEW, SENDING, DELIVERED, FAILED)
_FORMER: Final = {NEW: NEW, SENDING: SENDING, "told": DELIVERED, FAILED: FAILED}
"""The folders of a spool of a version before 1.0, and those of today."""
_ENDING: Final = ".json"


@dataclass(frozen=True, slots=True)
class Spool:
    """The envelopes of one user. All methods raise OSError if the disk fails."""

    files: Files
    folder: Path

    def put(self, envelope: Envelope) -> bool:
        """Put an envelope in. Return False, and change nothing, if one with its id is or was here. May be repeated."""
        if any(
            self.files.entry(self._path(where, envelope.notification.id))
            for where in (SENDING, DELIVERED, FAILED)
        ):
            return False
        self.files.make_folder(self.folder / NEW)
        return self.files.create(self._path(NEW, envelope.notification.id), encoded(envelope))

    def adopt(self, former: Path) -> None:
        """Move the envelopes of a spool here that an earlier version kept at `former`. May be repeated."""
        for old, where in _FORMER.items():
            for entry in self.files.entries(former / old):
                self.files.make_folder(self.folder / where)
                self.files.rename(former / old / entry.name, self.folder / where / entry.name)

    def waiting(self) -> list[Envelope]:
        """Return the envelopes that are not done, the oldest notification first.

        One that was put again while it was being sent is dropped: the older one has the receipts.
        """
        sending = list(self._read(SENDING))
        new = []
        for envelope in self._read(NEW):
            if any(
                self.files.entry(self._path(where, envelope.notification.id))
                for where in (SENDING, DELIVERED, FAILED)
            ):
                self.files.remove(self._path(NEW, envelope.notification.id))
            else:
                new.append(envelope)
        return sorted(
            [*sending, *new], key=lambda envelope: (envelope.notification.at, envelope.notification.id)
        )

    def look(self) -> list[Envelope]:
        """Return the envelopes that are not done, the oldest notification first. Changes nothing: for display only."""
        found = {
            envelope.notification.id: envelope
            for where in (NEW, SENDING)
            for envelope in self._read(where, tidy=False)
        }
        return sorted(
            found.values(), key=lambda envelope: (envelope.notification.at, envelope.notification.id)
        )

    def keep(self, envelope: Envelope) -> None:
        """Record an envelope as it stands now; its delivery goes on."""
        self.files.make_folder(self.folder / SENDING)
        self.files.write(self._path(SENDING, envelope.notification.id), encoded(envelope))
        self.files.remove(self._path(NEW, envelope.notification.id))

    def lay_aside(self, envelope: Envelope, where: str) -> None:
        """Put an envelope away: `where` is DELIVERED or FAILED."""
        self.keep(envelope)
        self.files.make_folder(self.folder / where)
        self.files.rename(
            self._path(SENDING, envelope.notification.id), self._path(where, envelope.notification.id)
        )

    def over(self, where: str) -> list[Envelope]:
        """Return the envelopes in a folder of done ones, the oldest notification first."""
        return sorted(
            self._read(where), key=lambda envelope: (envelope.notification.at, envelope.notification.id)
        )

    def prune(self, kept: int) -> None:
        """Remove done envelopes, all but the newest `kept`."""
        for where in (DELIVERED, FAILED):
            entries = sorted(self.files.entries(self.folder / where), key=lambda entry: entry.mtime_ns)
            for entry in entries[: max(len(entries) - kept, 0)]:
                self.files.remove(self.folder / where / entry.name)

    def _read(self, where: str, *, tidy: bool = True) -> Iterator[Envelope]:
        for entry in self.files.entries(self.folder / where):
            path = self.folder / where / entry.name
            try:
                envelope = decoded(self.files.read(path, LARGEST))
                if entry.name != f"{envelope.notification.id}{_ENDING}":
                    raise ValueError(f"holds the notification {envelope.notification.id!r:.80}")  # noqa: TRY301 (one way out)
                yield envelope
            except (Unreadable, ValueError) as error:
                if tidy and where in {NEW, SENDING}:
                    import logging  # a verb that only shows the spool need not import it

                    log = logging.getLogger(__name__)
                    log.error("%s is not sent: %s", path, error)  # noqa: TRY400 (the file is at fault, not we)
                    self.files.make_folder(self.folder / FAILED)
                    self.files.rename(path, self.folder / FAILED / entry.name)

    def _path(self, where: str, notification: str) -> Path:
        return beneath(self.folder / where, f"{notification}{_ENDING}")
