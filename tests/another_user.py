"""Files of another user, for tests: root gives them away, nobody else can."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SOMEBODY = 12_345

by_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user (chown)")


def give_away(path: Path) -> Path:
    """Let a file, a folder or a link belong to another user."""
    os.chown(path, SOMEBODY, SOMEBODY, follow_symlinks=False)
    return path
