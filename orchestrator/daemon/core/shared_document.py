"""A JSON document that agents and people write at any time, and the daemon does. No edit is lost.

::

    read ─▶ what was written meanwhile, upon the newest version (formats.workflow.status_versions)
         ─▶ what the state says, over all that only the state may say ─▶ exchange
         ─▶ what was replaced is read again: something later in it is merged, and the circle begins again

A file that somebody has open while it is replaced is kept aside until it is closed, and then merged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from orchestrator.daemon.core.workflow_folder import FILE
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.status_versions import StatusVersions
from orchestrator.model.errors import BadFile, Fault
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.workflow_folder import WorkflowFolder
    from orchestrator.formats.workflow.merge import Loss

TRIES: Final = 20
"""How often the file is written again because somebody wrote it meanwhile. What comes later is merged the next time."""

OPEN: Final = 8
"""How many replaced files are kept because somebody has them open."""


@dataclass(slots=True)
class KnownDocument:
    """What this process knows of one document.

    `lock` is held while it is read and written: the thread that decides, the one that shows, and those that launch do.
    `text` is the file as it was seen or written last, `versions` what it said, and `newest` the text of the last of
    them, empty if that was merged. `losses` are changes that were not taken over. `fault` says why a text did not read
    that was kept aside. `open` are replaced files, with their content as it was read last, and the last version that
    their writers can have read.
    """

    lock: Lock = field(default_factory=Lock)
    text: bytes = b""
    newest: bytes = b""
    versions: StatusVersions = field(default_factory=StatusVersions)
    losses: list[Loss] = field(default_factory=list)
    fault: str = ""
    open: dict[Path, tuple[bytes, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SharedDocument:
    """The document at a path in a folder. Whoever calls holds the lock of what is known of it."""

    folder: WorkflowFolder
    path: str

    def take_in(self, known: KnownDocument) -> bytes | None:
        """Take in what was written since the last look. Return the file as it is; None if it is half written."""
        there, half = self.folder.read(self.path), False
        if there != known.text or known.versions.newest is None:
            half = not self._take(known, there, self.folder.place(self.path))
            known.text = known.text if half else there
        for path, (last, seen) in list(known.open.items()):
            try:
                is_open = self.folder.files.being_written(path)  # first: nobody can open it any more
                data = self.folder.files.read(path, FILE_BYTES)
            except Unreadable:  # somebody removed it
                del known.open[path]
                continue
            if data != last and self._take(known, data, path, seen, earlier=True):
                known.open[path] = data, seen
            if not is_open:
                self._let_go(known, path)
        return None if half else there

    def _take(
        self,
        known: KnownDocument,
        data: bytes,
        path: Path | None,
        seen: int | None = None,
        *,
        earlier: bool = False,
    ) -> bool:
        """Take in a text that somebody wrote; return False if it may be half written. What is no JSON is kept aside.

        `seen` is the last version that its writer can have read, if it lies in a file that was replaced; `earlier`
        says that others may have written since.
        """
        try:
            document = self.content(data) if data else {}
        except BadFile as error:
            files = self.folder.files
            if path is not None and (files.being_written(path) or files.read(path, FILE_BYTES) != data):
                return False
            self.folder.set_aside(self.path, data)
            known.fault = error.faults[0].reason
            return True
        if data:
            merged = known.versions.take(document, seen, earlier=earlier)
            known.losses += merged.losses
            known.newest = data if merged.document == document else b""
        elif path is not None and self.folder.files.entry(path) is not None:
            return not self.folder.files.being_written(path)
        return True

    def put(self, known: KnownDocument, text: bytes, there: bytes) -> bool:
        """Write the file; return whether somebody had written it since `there` was read."""
        files = self.folder.files
        place = self.folder.place(self.path, make=True)
        if place is None:
            return False
        beside, seen = files.exchange(place, text, FILE), known.versions.number
        known.text = known.newest = text
        known.versions.add(self.content(text))
        if beside is None:
            return False
        try:
            is_open = files.being_written(beside)  # first: nobody can open it any more
            replaced = files.read(beside, FILE_BYTES)
        except Unreadable:  # such as a link
            files.remove(beside, durable=False)
            return False
        late = replaced != there
        if late and not self._take(known, replaced, beside, seen):
            replaced = there
        known.open[beside] = replaced, seen
        if not is_open:
            self._let_go(known, beside)
        elif len(known.open) > OPEN:
            self._let_go(known, next(iter(known.open)))
        return late

    def _let_go(self, known: KnownDocument, path: Path) -> None:
        del known.open[path]
        self.folder.files.remove(path, durable=False)

    def content(self, data: bytes) -> dict[str, Any]:
        """Return what the document says. Raises BadFile."""
        document: Any = load_json(data, self.path, FILE_BYTES)
        if not isinstance(document, dict):
            raise BadFile(self.path, [Fault(0, "is no object")])
        return document
