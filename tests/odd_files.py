"""What may lie where a plain file is expected, and a guard against waiting for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 20  # seconds
HUGE = 20_000_000_000


@pytest.fixture
def alarmed() -> Iterator[None]:
    """End a test that waits for ever."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits"))
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def make(path: Path, what: str) -> None:
    """Put a `pipe`, a `folder`, or a file of nothing but holes (`sparse`) in the place of a file."""
    path.unlink(missing_ok=True)
    match what:
        case "pipe":
            os.mkfifo(path, 0o600)
        case "folder":
            path.mkdir(0o700)
        case _:
            path.touch(0o600)
            os.truncate(path, HUGE)
