"""The key by which the state files of composite skills are sealed: one for each user, in the PM's own folder (S3)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from orchestrator import layout

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files

_BYTES: Final = 32


def skill_key(files: Files, state: Path) -> bytes:
    """Return the user's key; the first call makes it. `state` is the PM's own folder.

    Raises:
        Unreadable: something else lies in its place.
        OSError: the disk cannot do it.

    """
    path = layout.skill_key(state)
    if files.entry(path) is None:
        files.make_folder(state)
        files.create(path, secrets.token_bytes(_BYTES))
    return files.read(path, _BYTES)
