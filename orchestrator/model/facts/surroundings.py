"""What happened around a task: time, clock, boxes, its folder, its journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A moment came that the state had named (`pm.deadlines.wake_at`)."""

    at: float
    nonce: str
    kind: Literal["time_passed"] = "time_passed"


@dataclass(frozen=True, slots=True)
class ClockMoved:
    """The machine slept for `slept` seconds, or its wall clock was set by `put` (back: below 0)."""

    at: float
    nonce: str
    slept: float = 0.0
    put: float = 0.0
    kind: Literal["clock_moved"] = "clock_moved"


@dataclass(frozen=True, slots=True)
class ZoneChanged:
    """Local time is ahead of UTC by another number of seconds than it was: daylight saving, or another time zone."""

    at: float
    utc_offset: int
    kind: Literal["zone_changed"] = "zone_changed"


@dataclass(frozen=True, slots=True)
class BoxLost:
    """A box cannot be spoken to, on which runs of the task live or are to live. Nothing is known of them meanwhile.

    `refused`: it, or our own ssh, will not without a person's help; `why` then says what that is.
    """

    at: float
    nonce: str
    box: str
    why: str
    refused: bool = False
    kind: Literal["box_lost"] = "box_lost"


@dataclass(frozen=True, slots=True)
class BoxBack:
    """A box that was lost answers again."""

    at: float
    nonce: str
    box: str
    kind: Literal["box_back"] = "box_back"


@dataclass(frozen=True, slots=True)
class FolderLost:
    """The task's folder in its project, `path`, cannot be used: `why`. Copies of the reports taken are in `kept`."""

    at: float
    nonce: str
    path: str
    why: str
    kept: str
    kind: Literal["folder_lost"] = "folder_lost"


@dataclass(frozen=True, slots=True)
class FolderBack:
    """The task's folder can be used; `mended` says what had to be done for it, if anything had."""

    at: float
    nonce: str
    mended: str = ""
    kind: Literal["folder_back"] = "folder_back"


@dataclass(frozen=True, slots=True)
class Notified:
    """A message lies in the user's spool: the task has nothing more to do about it."""

    at: float
    action: str
    kind: Literal["notified"] = "notified"


@dataclass(frozen=True, slots=True)
class JournalDamaged:
    """The journal did not read to its end; what follows `kept` lines was set aside as `where`."""

    at: float
    nonce: str
    kept: int
    where: str
    kind: Literal["journal_damaged"] = "journal_damaged"
