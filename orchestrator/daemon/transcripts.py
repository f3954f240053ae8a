"""The transcripts that agent programs keep: what one has grown by, when its lines were written, whether it is whole."""

from __future__ import annotations

import logging
import math
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.ports.files import Unreadable
from orchestrator.runtimes import Remembering

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.ports.files import Files
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


def remembered(files: Files, run: Run, runtime: Runtime) -> bool:
    """Tell whether the conversation of a run can be gone on with, as far as can be seen from here.

    Its program would exit at once where it cannot. In doubt it can: where its transcript is not known, lies on a box,
    or does not read.
    """
    if not run.transcript or run.far or not isinstance(runtime, Remembering):
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
