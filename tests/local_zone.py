"""The local time zone, as a test wants it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def local_zone(name: str) -> Iterator[None]:
    """Let local times be those of a zone, by its name in the zone database."""
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
