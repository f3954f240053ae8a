"""Instances that have finished writing: their files will not get any more complete."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

CUT_OFF: Final = "it may be cut off: its writer was ended before it was seen whole"


class Stopped(Enum):
    """Why an instance has finished writing."""

    TURN = "turn"
    """Its turn is over. A background process of it may still rename a saved file."""

    RUN = "run"
    """Its run is gone."""

    KILLED = "killed"
    """Its run was ended by others: it may have been in the middle of writing."""


Done: TypeAlias = Mapping[str, Stopped]
"""Instances that have finished writing, and why."""

NOBODY: Final[Done] = {}
