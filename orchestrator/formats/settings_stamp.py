"""A word for what a settings file holds: by it `task config` tells whether the daemon goes by the file as it is."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Final

from orchestrator import plain_files

NONE: Final = "none"
UNREADABLE: Final = "unreadable"
LARGEST: Final = 1 << 20
"""Bytes; of a larger file no settings are taken."""


def settings_stamp(path: Path) -> str:
    """Return a word for what a settings file holds now; it is another one once anything in the file is changed."""
    try:
        return blake2b(plain_files.read(path, LARGEST), digest_size=8).hexdigest()
    except FileNotFoundError:
        return NONE
    except OSError:
        return UNREADABLE
