"""The transcripts of agent programs: what was added to one, when its lines were written, whether it is complete."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.model.run import Run
from orchestrator.ports.files import Files, Unreadable
from orchestrator.runtimes import Remembering

if TYPE_CHECKING:
    from orchestrator.runtimes import Runtime

log = logging.getLogger(__name__)

CLOCKS: Final = 1.0
"""Seconds by which a transcript's clock may be behind ours; older lines belong to an earlier run."""

_STAMP: Final = re.compile(rb'"timestamp": ?"([0-9T:.+-]{19,32}Z?)"')


def grown(files: Files, transcript: str, place: int) -> bytes:
    """Return the content of a transcript from an offset on. If it has not grown, that costs one stat."""
    path = Path(transcript)
    entry = files.entry(path)
    if entry is None or not entry.is_file or entry.size <= place:
        return b""
    try:
        return files.read(path, start=place)
    except Unreadable as error:
        log.warning("a transcript cannot be read: %s", error)
        return b""


@dataclass(frozen=True, slots=True)
class Line:
    """A whole line of a run's transcript: its end offset, and when it was written, as far as it says so."""

    place: int
    at: float
    data: bytes


@dataclass(slots=True)
class Tails:
    """Reads new lines in the transcripts of one task's runs, each line once. After a restart all is read again."""

    files: Files
    _read: dict[str, tuple[str, int]] = field(default_factory=dict)

    def new(self, run: Run, at: float) -> list[Line]:
        """Return the whole lines added since the last look, without those from before the run was opened.

        If a transcript has not grown, that costs one stat. A line without a time, or with one in the future, gets the
        time `at`; so do all new lines on a box, where clocks may differ.
        """
        known, place = self._read.get(run.id, ("", 0))
        place = place if known == run.transcript else 0
        data = grown(self.files, run.transcript, place)
        lines = []
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            place += len(line)
            written_at = time_of_line(line)
            if written_at >= run.opened_at - CLOCKS:
                lines.append(Line(place, at if run.on_box else min(written_at, at), line))
        self._read[run.id] = run.transcript, place
        return lines

    def keep(self, runs: Collection[str]) -> None:
        """Forget all runs but these."""
        for gone in self._read.keys() - set(runs):
            del self._read[gone]

    def forget(self) -> None:
        """Read everything from the beginning again: what was read was not used."""
        self._read.clear()


def remembered(files: Files, run: Run, runtime: Runtime) -> bool:
    """Return whether the conversation of a run can be resumed, as far as that is known here.

    Otherwise its program would exit at once. In doubt the answer is yes: if its transcript is not known, is on a box,
    or cannot be read.
    """
    if not run.transcript or run.on_box or not isinstance(runtime, Remembering):
        return True
    path = Path(run.transcript)
    if files.entry(path) is None:
        return False
    try:
        return runtime.remembers(files.read(path))
    except Unreadable as error:
        log.warning("a transcript cannot be read: %s", error)
        return True


def time_of_line(line: bytes) -> float:
    """Return when a line was written by its own account, in seconds since the epoch; infinity if it does not say."""
    found = _STAMP.search(line)
    try:
        return datetime.fromisoformat(found[1].decode()).timestamp() if found else math.inf
    except ValueError:
        return math.inf
