"""A word for what a settings file holds: by it `task config` tells whether the daemon goes by the file as it is."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Final

NONE: Final = "none"
UNREADABLE: Final = "unreadable"


def settings_stamp(path: Path) -> str:
    """Return a word for what a settings file holds now; it is another one once anything in the file is changed."""
    try:
        return blake2b(path.read_bytes(), digest_size=8).hexdigest()
    except FileNotFoundError:
        return NONE
    except OSError:
        return UNREADABLE
