"""The local time zone, as a test or a simulated world wants it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def local_zone(name: str) -> Iterator[None]:
    """Let local times be those of a zone, by its name in the zone database or by its rules (`TZ`)."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
