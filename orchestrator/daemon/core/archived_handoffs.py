"""The archived files of a task's handoffs: what a receiver writes there is heard, anything else is put back (C3).

::

    look (the thread that decides): a file that is not as it was written last ─▶ an edit, told once
    publish (the thread that shows): what the state says, unless the file has an edit that was not told yet

Which of the two comes first makes no difference: what nobody has told of yet is not overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.workflow_folder import FILE
from orchestrator.formats.coordination.handoff import SUFFIX, read_handoff, render_handoff
from orchestrator.formats.coordination.handoff_edits import OVER, HandoffEdit, edit_of
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.coordination import iso, moment
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.names import beneath
from orchestrator.pm.plan.handing_on import receiver_of
from orchestrator.ports.files import Unreadable
from orchestrator.records.archive_files import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from orchestrator.model.coordination import HandoffRecord, RoleHandoff
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Entry, Files

SETTLE: Final = 1.0
"""Seconds for which a file that rejects has to rest: the reasons may come as further edits."""

PAUSE: Final = 10.0
"""Seconds between two journal lines about issues that are added to one handoff."""

UNREADABLE: Final = b"\0"
"""Stands for a file that cannot be read: a link, a folder, or one that is too large."""

_TRIES: Final = 20
_NOBODY: Final = "nobody works on it to whom it was handed on"
_NO_REASON: Final = "it is rejected, and `issues` says nothing new: say what is wrong"


@dataclass(slots=True)
class _Known:
    """What this process knows of one file.

    `text` is the file as it was written last, or as what it said was taken. `refused` is what it says that was told to
    be refused, and is to be put back. `judged` is the file, by `lstat`, as it was when nothing was left to tell of.
    `changed` is an edit that may go on, and since when it is so; `taken_at` is when issues were last taken. `due` is
    when to look again. `waits`: it could not be written for an edit that was not told; `free`: now it can.
    """

    lock: Lock = field(default_factory=Lock)
    text: bytes = b""
    refused: bytes | None = None
    judged: Entry | None = None
    changed: tuple[Entry, float] | None = None
    taken_at: float = 0.0
    due: float | None = None
    waits: bool = False
    free: bool = False


@dataclass(frozen=True, slots=True)
class ArchivedEdit:
    """What somebody wrote into the archived file of a handoff: `edit`, by the run `run`; or it is refused."""

    handoff: str
    file: str
    edit: HandoffEdit
    run: str = ""


_known: dict[Path, _Known] = {}
"""By the file."""


@dataclass(frozen=True, slots=True)
class ArchivedHandoffs:
    """The archived handoffs of one task. `root` is the archive: the task's own, or that of all tasks."""

    files: Files
    root: Path

    def look(
        self, state: PMState, at: float, names: Collection[str] | None = (), *, last: bool = False
    ) -> list[ArchivedEdit]:
        """Return, once, what was written since the last look.

        Of a file that is as it was, only its entry is read.

        Args:
            state: The task's state.
            at: Seconds since the epoch.
            names: The handoffs to look at beside the open ones; None for all of the task.
            last: A run is about to be recorded as gone: nothing is waited for any more.

        Raises:
            OSError: the disk fails.

        """
        found = list[ArchivedEdit]()
        for key, record in state.handoffs.items():
            if record.handoff.head.status in OVER and names is not None and key not in names:
                continue
            known = self._remembered(record)
            with known.lock:
                edit = self._seen(state, record, known, at, last=last)
            if edit is not None:
                found.append(edit)
        return found

    def due(self, state: PMState) -> float | None:
        """Return when to look again at edits that may go on, by the wall clock; None if there are none."""
        known = [_known.get(self._path(each.handoff)) for each in state.handoffs.values()]
        return min((each.due for each in known if each is not None and each.due is not None), default=None)

    def is_free(self, state: PMState) -> bool:
        """Return whether a file can be written now that could not be before."""
        known = [_known.get(self._path(each.handoff)) for each in state.handoffs.values()]
        return any(each is not None and each.free for each in known)

    def is_refused(self, record: HandoffRecord) -> bool:
        """Return whether the file of a handoff is to be put back."""
        return self._remembered(record).refused is not None

    def publish(self, record: HandoffRecord) -> bool:
        """Write a handoff. Return False if its file has an edit that was not told yet: then it stays as it is.

        What does not read is kept beside it, under a name that begins with `damaged_`.

        Raises:
            Refused: a link or something else lies where a folder has to be.
            OSError: the disk fails.

        """
        known = self._remembered(record)
        with known.lock:
            known.waits, known.free = not self._publish(record.handoff, known), False
            return not known.waits

    def let_go(self, record: HandoffRecord) -> None:
        """Forget the file of a handoff whose task is over."""
        _known.pop(self._path(record.handoff), None)

    # Parts --------------------------------------------------------------------------------------------

    def _seen(
        self, state: PMState, record: HandoffRecord, known: _Known, at: float, *, last: bool
    ) -> ArchivedEdit | None:
        """Return what a file says that was not told yet; None if there is nothing, or it may go on."""
        path, key = self._path(record.handoff), record.handoff.head.id or ""
        entry = self.files.entry(path)
        if entry is not None and entry == known.judged:
            return None
        there = self._read(path, entry)
        known.due = None
        if there == known.text:
            known.judged, known.changed, known.free = entry, None, known.waits
            return None
        if known.refused == (there or b"") or (there is None and not known.text):
            return None  # told already; or it is not written yet
        if there not in {None, UNREADABLE} and not last and self.files.being_written(path):
            known.due = at + SETTLE
            return None
        edit = self._judged(record.handoff, known, there)
        receiver = receiver_of(state, key)
        if edit.is_empty:
            known.text, known.changed, known.free = there or b"", None, known.waits
            return None
        if not edit.refused and receiver is None:
            edit = HandoffEdit(refused=(_NOBODY,))
        elif edit.lacks_reason and last:
            edit = HandoffEdit(refused=(_NO_REASON,))
        if not edit.refused and not last and self._goes_on(edit, entry, known, at):
            return None
        known.changed = None
        if edit.refused:
            known.refused = there or b""
        else:
            known.text, known.taken_at = there or b"", at
        run = receiver.run.id if receiver is not None else ""
        return ArchivedEdit(key, self._shown_path(path), edit, run)

    def _judged(self, handoff: RoleHandoff, known: _Known, there: bytes | None) -> HandoffEdit:
        if there is None:
            return HandoffEdit(refused=("it was removed",))
        try:
            said = self._parsed(there, handoff)
        except Refused as error:
            return HandoffEdit(refused=(f"it does not read: {error}",))
        return edit_of(said, handoff, self._parsed(known.text, handoff) if known.text else None)

    def _goes_on(self, edit: HandoffEdit, entry: Entry | None, known: _Known, at: float) -> bool:
        """Return whether more of an edit may come: reasons of a rejection, further issues."""
        if edit.lacks_reason:
            return True  # the next edit is a hint, and the end of the run is the last look
        if edit.status is None:
            known.due = known.taken_at + PAUSE if at < known.taken_at + PAUSE else None
            return known.due is not None
        if not edit.issues or entry is None:
            return False
        if known.changed is None or known.changed[0] != entry:
            known.changed = entry, at
        known.due = known.changed[1] + SETTLE if at < known.changed[1] + SETTLE else None
        return known.due is not None

    def _publish(self, handoff: RoleHandoff, known: _Known) -> bool:
        path = self._path(handoff)
        for _ in range(_TRIES):
            there = self._read(path, self.files.entry(path))
            if not self._may_write(there, known, handoff):
                return False
            wanted = render_handoff(handoff, known.text)  # as it was before, if that says the same
            if there != wanted and not self._put(path, wanted, there):
                continue
            if there != wanted and handoff.head.status in OVER:
                self.files.write(path, wanted, FILE)  # an exchange is not durable, and this is its last state
            known.text, known.refused, known.judged = wanted, None, None
            return True
        return False

    def _may_write(self, there: bytes | None, known: _Known, handoff: RoleHandoff) -> bool:
        if known.refused == (there or b""):
            return True
        if there is None:
            return not known.text
        return there == known.text or self._judged(handoff, known, there).is_empty

    def _put(self, path: Path, data: bytes, there: bytes | None) -> bool:
        """Write a file; return False, and leave it, if somebody has written it since it was read."""
        folder = self.files.entry(path.parent)
        if folder is not None and not folder.is_folder:
            raise Refused(f"{path.parent} is a link or a file: move it away")
        self.files.make_folder(path.parent)
        if there == UNREADABLE or (there is not None and not _is_json(there)):
            entry = self.files.entry(path)
            name = f"{DAMAGED}{entry.mtime_ns if entry else 0}_{path.name}"
            self.files.rename(path, path.with_name(name))
            there = None
        if there is None:
            return self.files.create(path, data, FILE)
        beside = self.files.exchange(path, data, FILE)
        if beside is None:
            return True
        late = self._read(beside, self.files.entry(beside))
        if late not in {there, UNREADABLE, None}:
            self.files.rename(beside, path)
            return False
        self.files.remove(beside, durable=False)
        return True

    def _read(self, path: Path, entry: Entry | None) -> bytes | None:
        """Return a file; None if there is none, and `UNREADABLE` if it cannot be read."""
        if entry is None:
            return None
        try:
            return self.files.read(path, FILE_BYTES)
        except Unreadable:
            return UNREADABLE

    def _parsed(self, data: bytes, handoff: RoleHandoff) -> RoleHandoff:
        if data == UNREADABLE:
            raise Refused("it is a link, no plain file, or too large")
        return read_handoff(data, f"{handoff.head.id}{SUFFIX}")

    def _remembered(self, record: HandoffRecord) -> _Known:
        return _known.setdefault(self._path(record.handoff), _Known())

    def _path(self, handoff: RoleHandoff) -> Path:
        date = iso(moment(handoff.head.timestamp or "") or 0.0)[:10]
        return beneath(self.root, date, f"{handoff.head.id}{SUFFIX}")

    def _shown_path(self, path: Path) -> str:
        """Return a file as a person finds it: in the task's folder, or else from the root of the file system on."""
        own = (layout.DATA, "handoffs")
        return "/".join((*own, *path.parts[-2:])) if self.root.parts[-2:] == own else str(path)


def _is_json(data: bytes) -> bool:
    try:
        load_json(data, "", FILE_BYTES)
    except BadFile:
        return False
    return True


def forget() -> None:
    """Forget what this process knows of all files: for tests in which another process begins."""
    _known.clear()
