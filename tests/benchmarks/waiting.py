"""Waiting, until something holds or a deadline, which is an error."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 30.0


class TooLong(Exception):
    """What was waited for did not come."""


def until(
    holds: Callable[[], T],
    what: str,
    complaint: Callable[[], str] = str,
    *,
    every: float = 0.001,
    patience: float = PATIENCE,
) -> T:
    """Call `holds` until it returns something true, and return that. `complaint` says more when it does not."""
    deadline = time.monotonic() + patience
    while not (answer := holds()):
        if time.monotonic() > deadline:
            raise TooLong(f"{what} did not come within {patience:.0f} s {complaint()}")
        time.sleep(every)
    return answer
