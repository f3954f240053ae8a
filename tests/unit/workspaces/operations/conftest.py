"""A folder in memory, for what is done 100,000 times: it is the kernel that is tried, not the disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def quick() -> Iterator[Path]:
    """Return a folder of its own, in memory where the machine has such."""
    above = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(dir=above) as folder:
        yield Path(folder)
