"""Waiting in tests: until something holds, or a deadline; never a sleep for luck."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(holds: Callable[[], T], *, within: float = 10.0, every: float = 0.005) -> T:
    """Call `holds` until it returns something true, and return that.

    `within` and `every` are seconds. Raises AssertionError, with the last answer, when the time is up.
    """
    deadline = time.monotonic() + within
    while True:
        answer = holds()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"after {within} s still {answer!r}")
        time.sleep(every)
