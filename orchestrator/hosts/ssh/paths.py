"""Paths of files on a box, as they go over the wire."""

from __future__ import annotations

import os

from orchestrator.model.errors import Refused


def encoded(path: str) -> bytes:
    """Return the bytes of an absolute path; surrogates stand for what is not UTF-8. Raises Refused: it is none."""
    if not path.startswith("/") or "\0" in path:
        raise Refused(f"{path[:80]!a} is no absolute path of a file on a box")
    try:
        return os.fsencode(path)
    except UnicodeEncodeError as error:
        raise Refused(f"{path[:80]!a} holds half a character") from error
