"""The transcripts that agent programs keep: what one has grown by, and when its lines say that they were written."""

from __future__ import annotations

import logging
import math
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.ports.files import Files

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


def told_at(line: bytes) -> float:
    """Return when a line says that it was written, in seconds since the epoch; for ever, where it does not say."""
    found = _STAMP.search(line)
    try:
        return datetime.fromisoformat(found[1].decode()).timestamp() if found else math.inf
    except ValueError:
        return math.inf
