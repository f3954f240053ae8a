"""Names, and the one way from a name to a path (law 7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import BadName

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = r"[a-z0-9][a-z0-9_-]{0,63}"
_NAME: Final = re.compile(NAME)

BASELINE: Final = "baseline"
"""The step that runs the check before anything is changed."""


def checked_name(text: str, what: str = "name") -> str:
    """Return `text` if it is a name; `what` is the word for it in the message.

    Raises:
        BadName: the text is not `[a-z0-9][a-z0-9_-]{0,63}`.

    """
    if not _NAME.fullmatch(text):
        shown = ascii(text[:40])
        raise BadName(
            f"{shown} is no {what}: use a-z, 0-9, '_' and '-', at most 64, the first a letter or a digit"
        )
    return text


def beneath(root: Path, *names: str) -> Path:
    """Return the path of `names`, one folder level each, under `root`.

    Raises:
        BadName: a part is empty, is `.` or `..`, or holds a separator, a NUL or a line break.

    """
    path = root
    for name in names:
        if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0\n\r"):
            raise BadName(f"{name[:40]!a} cannot name a file in {root}")
        path /= name
    return path
