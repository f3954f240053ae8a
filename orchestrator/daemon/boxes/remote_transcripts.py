"""Local copies of the transcripts that agent programs keep on boxes."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.hosts.ssh.growing_files import EACH, grown

if TYPE_CHECKING:
    from orchestrator.ports.box_link import BoxLink
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

LARGEST: Final = 67_108_864
"""The maximum number of bytes of a transcript that are copied."""

TOTAL: Final = 1_073_741_824
"""The maximum number of bytes of all transcripts of a task that are copied from one box."""

_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass
class RemoteTranscripts:
    """The copies of transcripts from one box. One thread at a time.

    `_sizes` are the bytes of a task's copies, by the folder of its runs; `_full` are the tasks of which no more is
    copied.
    """

    link: BoxLink
    files: Files
    total: int = TOTAL
    _sizes: dict[Path, int] = field(default_factory=dict)
    _full: set[Path] = field(default_factory=set)

    def copy(self, runs: Sequence[Path]) -> None:
        """Append to the local copies what was added to the transcripts of these runs, given by their folders here.

        Raises:
            Unavailable, OSError: they could not be copied.
            Unreachable, Cut, NotLetIn: as `Link.run` does.

        """
        wanted, full = [], []
        for folder in runs:
            note, path = layout.run_transcript_there(folder), layout.run_transcript(folder)
            if (
                self.files.entry(note) is None
                or self.files.entry(layout.run_transcript_partial(folder)) is not None
            ):
                continue
            copy = self.files.entry(path)
            there = self.files.read(note).decode(errors="surrogateescape")
            if folder.parent not in self._full:
                wanted.append((path, there, copy.size if copy else 0))
            else:
                full.append((path, there, copy.size if copy else 0))
        for (path, _, size), more in zip(wanted, self._grown(wanted, EACH), strict=True):
            if more:
                with suppress(FileNotFoundError):  # the task was deleted meanwhile
                    self._add(path, size, more)
        for (path, _, _), more in zip(full, self._grown(full, 1), strict=True):
            if more:
                with suppress(FileNotFoundError):
                    self._mark_partial(path.parent)

    def _add(self, path: Path, size: int, more: bytes) -> None:
        """Append to a copy of so many bytes, unless it is too much."""
        if size + len(more) > LARGEST or not self._has_room(path.parent.parent, len(more)):
            self._mark_partial(path.parent)
            return
        # No port for this: a copy that is cut off is continued, and nobody else writes there.
        with os.fdopen(os.open(path, _APPEND, 0o600), "ab") as file:
            file.write(more)

    def _grown(self, files: Sequence[tuple[Path, str, int]], each: int) -> list[bytes]:
        return grown(self.link, [(there, size) for _, there, size in files], each)

    def _mark_partial(self, run: Path) -> None:
        """Note that not all that a run used can be counted, for those who show it [daemon/ingest/usage.py]."""
        mark = layout.run_transcript_partial(run)
        if self.files.entry(mark) is None:
            self.files.write(mark, b"")

    def _has_room(self, runs: Path, size: int) -> bool:
        """Count what is added to the copies of a task, unless it is too much; return whether it was counted."""
        if runs not in self._sizes:
            folders = [runs / entry.name for entry in self.files.entries(runs) if entry.is_folder]
            copies = [self.files.entry(layout.run_transcript(folder)) for folder in folders]
            self._sizes[runs] = sum(copy.size for copy in copies if copy is not None)
        if self._sizes[runs] + size > self.total:
            self._full.add(runs)
            log.warning(
                "task %s: %d bytes of transcripts were copied from %s; the tokens of what follows are not counted",
                runs.parent.name,
                self._sizes[runs],
                self.link.address,
            )
            return False
        self._sizes[runs] += size
        return True
