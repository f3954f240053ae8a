"""The transcripts that agent programs keep: what one has grown by, when its lines were written, whether it is whole."""

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
"""Seconds by which a transcript's clock may be behind ours: of a conversation gone on with, older lines are known."""

_STAMP: Final = re.compile(rb'"timestamp": ?"([0-9T:.+-]{19,32}Z?)"')


def grown(files: Files, transcript: str, place: int) -> bytes:
    """Return what stands in a transcript from a place on. One that has not grown costs a look at its entry."""
    path = Path(transcript)
    entry = files.entry(path)
    if entry is None or not entry.is_file or entry.size <= place:
        return b""
    try:
        return files.read(path, start=place)
    except Unreadable as error:
        log.warning("a transcript does not read: %s", error)
        return b""


@dataclass(frozen=True, slots=True)
class Line:
    """A whole line of a run's transcript: where it ends there, and when it was written, as far as it says so."""

    place: int
    at: float
    data: bytes


@dataclass(slots=True)
class Tails:
    """Reads on in the transcripts of one task's runs, each line once. After a restart all is read again."""

    files: Files
    _read: dict[str, tuple[str, int]] = field(default_factory=dict)

    def new(self, run: Run, at: float) -> list[Line]:
        """Return the whole lines that came since the last look, but for those from before the run was opened.

        A transcript that has not grown costs one look at its entry. Of a line that says no moment, or one to come, the
        moment is `at`; on a box clocks may differ, and it is `at` for all that is new.
        """
        known, place = self._read.get(run.id, ("", 0))
        place = place if known == run.transcript else 0
        data = grown(self.files, run.transcript, place)
        lines = []
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            place += len(line)
            told = told_at(line)
            if told >= run.opened_at - CLOCKS:
                lines.append(Line(place, at if run.on_box else min(told, at), line))
        self._read[run.id] = run.transcript, place
        return lines

    def keep(self, runs: Collection[str]) -> None:
        """Let go of all runs but these."""
        for gone in self._read.keys() - set(runs):
            del self._read[gone]

    def forget(self) -> None:
        """Read all from the beginning again: what was read came to nothing."""
        self._read.clear()


def remembered(files: Files, run: Run, runtime: Runtime) -> bool:
    """Return whether the conversation of a run can be gone on with, as far as can be seen from here.

    Its program would exit at once where it cannot. In doubt it can: where its transcript is not known, lies on a box,
    or does not read.
    """
    if not run.transcript or run.on_box or not isinstance(runtime, Remembering):
        return True
    path = Path(run.transcript)
    if files.entry(path) is None:
        return False
    try:
        return runtime.remembers(files.read(path))
    except Unreadable as error:
        log.warning("a transcript does not read: %s", error)
        return True


def told_at(line: bytes) -> float:
    """Return when a line says that it was written, in seconds since the epoch; for ever, where it does not say."""
    found = _STAMP.search(line)
    try:
        return datetime.fromisoformat(found[1].decode()).timestamp() if found else math.inf
    except ValueError:
        return math.inf
