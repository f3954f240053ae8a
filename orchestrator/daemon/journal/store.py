"""The journal of one task: what happened and what was decided, in order, durable before anything is done (law 3).

A folder of segments [segments.py]. The first line of a segment is a snapshot of the state before it; every further
line is one fact with its changes and actions. Lines are numbered and carry a CRC-32 of what follows it::

    {"crc":"8c736521","n":12,"at":1764254100.5,"by":"0.1.0","fact":{…},"changes":[…],"actions":[…]}

The lines of a segment take up at least twice the bytes of its snapshot, so that the cost per line does not grow with
the state. The number of lines is bounded too, so that the cost of a restart does not grow either.

If somebody replaced or changed a segment's file, the daemon writes its state as a snapshot into the next segment: its
actions must never follow from lines that a later reader cannot find.

A torn last line (the daemon was killed while writing it) is cut off and kept in a file of its own. A segment with
damage further up is set aside as a whole, and the lines before the damage are kept: see `Opened.damage`.
"""

from __future__ import annotations

import errno
import json
import zlib
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from orchestrator import __version__
from orchestrator.daemon.journal import codec
from orchestrator.daemon.journal.old_names import renewed
from orchestrator.daemon.journal.segments import COMPRESSED, MOST, PLAIN, segments, unpacked
from orchestrator.model.errors import Damaged, JournalFailed
from orchestrator.pm.state.fold import fold, with_action
from orchestrator.pm.state.task_state import PMState
from orchestrator.pm.state.transitions import IllegalMove
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.actions import Action
    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.changes import Change
    from orchestrator.pm.state.draft import Decision
    from orchestrator.ports.files import Files, Log

SEGMENT_LINES: Final = 1000
SEGMENT_LINES_AT_MOST: Final = 8000
"""Replayed in half a second (60 µs each, measured)."""
PER_SNAPSHOT: Final = 2
"""Bytes of lines for each byte of their segment's snapshot."""

PASSING_TROUBLE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
)
"""System errors that pass by themselves or by the user's action. A failed fsync (EIO) is not one of them."""
_CRC_END: Final = len('{"crc":"00000000",')


@dataclass(frozen=True, slots=True)
class Damage:
    """What could not be read: after how many lines of the task's life, and under which name it is kept."""

    kept: int
    where: str


class Journal:
    """The journal, opened for writing. `state` is what its lines fold to.

    `replaced` is the segment that did not lie there as it was written, until that has been reported; `failed`: a write
    to it had failed, which may have left part of a line.
    """

    def __init__(self, files: Files, folder: Path) -> None:
        """Read the journal in `folder`, or begin one; cut off a torn tail; set damage aside."""
        self._files = files
        self._folder = folder
        self._log: Log | None = None
        self._segment = folder
        self._in_segment = 0
        self._bytes = self._snapshot_bytes = 0
        self.state = PMState()
        self.lines = 0
        self._lies: tuple[int, int] | None = None
        self.damage: Damage | None = None
        self.replaced = ""
        self.failed = False
        self._write_failed = False
        files.make_folder(folder)
        self._open()

    def append(self, fact: Fact, decision: Decision) -> str:
        """Write one line, durably, and return it.

        Raises:
            OSError: there is no room just now; nothing was written, and it may be tried again later.
            Damaged: somebody removed the journal; the decision is not carried out.
            JournalFailed: it is unknown whether it was written; nothing more may be decided.

        """
        line = sealed(
            {
                "n": self.lines + 1,
                "at": fact.at,
                "by": __version__,
                "fact": codec.encoded_fact(fact),
                "changes": codec.encoded_changes(decision.changes),
                "actions": codec.encoded_actions(decision.actions),
            }
        )
        try:
            if self._log is None or self._is_full:
                self._log = self._begun_segment()
            written = line.encode() + b"\n"
            self._write(self._log, written)
            if not self._is_whole():
                self._write(self._begun_again(), written)
                if not self._is_whole():
                    raise Damaged(
                        f"{self._segment} is replaced again and again: nothing more is done for its task"
                    )
        except OSError as error:
            self._write_failed = True
            if error.errno in PASSING_TROUBLE:
                raise
            raise JournalFailed(f"the journal {self._folder} could not be written: {error}") from error
        self.lines += 1
        self._in_segment += 1
        self._bytes += len(written)
        self.state = decision.state
        return line

    def keep(self) -> None:
        """Restore the segment on disk if others replaced or deleted it.

        There may be no other write for a long time. If the whole state folder is gone, the daemon ends and writes
        nothing.

        Raises OSError: there is no room just now; it may be tried again later.
        """
        if self._log is None or (there := self._place_of_segment()) == self._lies:
            return
        if there is not None:
            self._begun_again()
        elif self._files.entry(self._folder.parents[2]) is not None:
            self.replaced, self.failed = self._segment.name, False
            self._files.make_folder(self._folder)
            self._log = self._begun_segment()

    def close(self) -> None:
        """Close the open segment."""
        if self._log is not None:
            self._log.close()
            self._log = None

    @property
    def written_at(self) -> float:
        """Return when the last line was written, or the empty journal made, in seconds since the epoch by the disk."""
        entry = self._files.entry(self._segment)
        return entry.mtime_ns / 1e9 if entry is not None else 0.0

    @property
    def _is_full(self) -> bool:
        if self._in_segment >= SEGMENT_LINES_AT_MOST:
            return True
        return self._in_segment >= SEGMENT_LINES and self._bytes >= PER_SNAPSHOT * self._snapshot_bytes

    def _write(self, log: Log, written: bytes) -> None:
        log.append(written)
        if self._lies is not None:
            inode, size = self._lies
            self._lies = inode, size + len(written)

    def _is_whole(self) -> bool:
        """Return whether the open file is the one on disk. Raises Damaged if there is none on disk."""
        there = self._place_of_segment()
        if there is None:
            raise Damaged(f"{self._segment} was deleted: nothing more is done for its task")
        return there == self._lies

    def _place_of_segment(self) -> tuple[int, int] | None:
        """Return the inode and size of the segment's file on disk; None if there is none."""
        entry = self._files.entry(self._segment)
        return None if entry is None else (entry.inode, entry.size)

    def _begun_again(self) -> Log:
        """Begin the next segment with the known state; the file in the place of the last one is kept."""
        self.replaced, self.failed = self._segment.name, self._write_failed
        if self._segment == self._next_segment:
            self._files.rename(self._segment, self._segment.with_name(f"{self._segment.name}.replaced"))
        self._log = self._begun_segment()
        return self._log

    def _open(self) -> None:
        there = [
            entry for entry in self._files.entries(self._folder) if entry.name.endswith((PLAIN, COMPRESSED))
        ]
        for entry in there:
            if not entry.is_file:  # if it were skipped, its lines would be missing from the task's life
                raise Unreadable(f"{self._folder / entry.name} is not a plain file: remove it")
        names = segments(entry.name for entry in there)
        while names:
            name = names.pop()
            if self._read_segment(name):
                return

    def _read_segment(self, name: str) -> bool:
        """Read a segment as the newest one. If not even its snapshot can be read, set it aside and return False."""
        raw = self._files.read(self._folder / name, MOST)
        try:
            data = unpacked(name, raw)
        except ValueError:
            data = raw  # no line of it can be read
        lines = data.split(b"\n")
        good: list[bytes] = []
        state, number = PMState(), 0
        for position, line in enumerate(lines):
            try:
                state, number = _folded(state, number, line, first=position == 0)
            except (ValueError, KeyError, TypeError, IllegalMove):
                if line or position < len(lines) - 1:
                    self._set_aside(name, raw, good, torn=position == len(lines) - 1, at=number)
                break
            good.append(line)
        if not good:
            return False
        path = self._folder / name.removesuffix(".gz")
        if len(good) == len(lines) or name.endswith(COMPRESSED):
            # Torn just before its line break: the next line must not continue this one. Or older than an unreadable
            # segment,
            # and compressed: lines must be appended to it.
            self._files.write(path, b"\n".join([*good, b""]))
        self.state, self.lines, self._in_segment = state, number, len(good) - 1
        self._snapshot_bytes, self._bytes = len(good[0]), sum(map(len, good[1:]))
        self._log, self._segment = self._files.open_log(path), path
        self._lies = self._place_of_segment()
        return True

    def _set_aside(self, name: str, data: bytes, good: list[bytes], *, torn: bool, at: int) -> None:
        kept = f"{name}.{'torn' if torn else 'damaged'}-{zlib.crc32(data):08x}"
        self._files.create(self._folder / kept, data)
        if good:
            self._files.write(self._folder / name.removesuffix(".gz"), b"\n".join([*good, b""]))
        else:
            self._files.remove(self._folder / name)
        if not torn or not good:
            self.damage = Damage(at, kept)

    def _begun_segment(self) -> Log:
        self.close()
        path = self._next_segment
        snapshot = _sealed(f'"n":{self.lines},"snapshot":{codec.dumped_state(self.state)}}}').encode()
        self._files.write(path, snapshot + b"\n")
        self._in_segment, self._bytes, self._snapshot_bytes = 0, 0, len(snapshot)
        self._segment, self._write_failed = path, False
        log = self._files.open_log(path)
        self._lies = self._place_of_segment()
        return log

    @property
    def _next_segment(self) -> Path:
        return self._folder / f"{self.lines + 1:010}{PLAIN}"


def sealed(content: dict[str, Any]) -> str:
    """Return a journal line: the content as JSON, after the checksum of everything that follows the checksum."""
    return _sealed(codec.dumped(content)[1:])


def _sealed(rest: str) -> str:
    return f'{{"crc":"{zlib.crc32(rest.encode()):08x}",{rest}'


def unsealed(line: bytes) -> dict[str, Any]:
    """Return the content of a journal line, under today's names. Raises ValueError if it is damaged."""
    rest = line[_CRC_END:]
    if line[:_CRC_END] != f'{{"crc":"{zlib.crc32(rest):08x}",'.encode():
        raise ValueError("the checksum does not fit")
    content = json.loads(b"{" + rest)
    if not isinstance(content, dict):
        raise TypeError("no object")
    return renewed(rest, content)


def replayed(state: PMState, changes: tuple[Change, ...], actions: tuple[Action, ...]) -> PMState:
    """Return the state after one journal line. Replay folds; it never decides again."""
    return reduce(with_action, actions, reduce(fold, changes, state))


def _folded(state: PMState, number: int, line: bytes, *, first: bool) -> tuple[PMState, int]:
    content = unsealed(line)
    if first:
        return codec.decoded_state(content["snapshot"]), content["n"]
    if content["n"] != number + 1:
        raise ValueError(f"line {content['n']} follows line {number}")
    changes = codec.decoded_changes(content["changes"])
    return replayed(state, changes, codec.decoded_actions(content["actions"])), number + 1
