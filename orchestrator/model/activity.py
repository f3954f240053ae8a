"""What an agent program does in a turn, as the records that it keeps itself tell it (transcripts, rollouts, chats)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Stage(StrEnum):
    """Where a turn stands, by the last thing that was recorded of it."""

    UNKNOWN = ""  # nothing was recorded that tells it, or its program keeps no records
    MODEL = "model"  # the model's answer is awaited
    TOOL = "tool"  # a tool call has no result yet
    OVER = "over"  # the model has ended its turn


@dataclass(frozen=True, slots=True)
class Called:
    """The model wants a tool used.

    `call` is the fingerprint of the tool and all that it is given, `words` how a person would name the call. One that
    `waits` only looks whether something that goes on has ended.
    """

    id: str
    call: int
    words: str
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """A tool call brought something back; `result` is the fingerprint of that, whatever its numbers are."""

    id: str
    result: int


@dataclass(frozen=True, slots=True)
class Prompted:
    """The model was told something: what was open in the turn before is open no more."""


@dataclass(frozen=True, slots=True)
class Spoke:
    """The model said or thought something. `then`: more is awaited of it, or its turn is over, or nobody tells."""

    then: Stage = Stage.MODEL


Record: TypeAlias = Called | Returned | Prompted | Spoke
"""One thing that a program recorded of a turn."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What is known of a run by its program's records. Moments are seconds since the epoch, 0 for never.

    `records` counts them, `recorded_at` is of the newest one, by which the turn came to its `stage`. `tool` names the
    call that is under way. A call last came back at `returned_at`, and at `novel_at` with what it had not brought
    before. `repeats` counts the calls in a row that came back, each for the third time at least, with the same result;
    `repeated` names the one that did most.
    """

    stage: Stage = Stage.UNKNOWN
    records: int = 0
    recorded_at: float = 0.0
    tool: str = ""
    novel_at: float = 0.0
    repeats: int = 0
    repeated: str = ""
    returned_at: float = 0.0
