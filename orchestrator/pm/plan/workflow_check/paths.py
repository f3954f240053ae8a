"""Paths as a plan may name them: relative, inside their folder, and readable on every system."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 240


def wrong_path(path: str) -> str:
    """Return why a path is not that of a file inside a folder; empty if it is."""
    if not path.isprintable():
        return "holds a character that cannot be shown"
    if len(path) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    if path.startswith(("/", "~")) or (len(path) > 1 and path[1] == ":"):
        return "is absolute"
    if "\\" in path:
        return "holds a backslash"
    parts = path.split("/")
    if ".." in parts:
        return "leads out of its folder"
    if path.endswith("/"):
        return "names a folder"
    if path != path.strip() or "" in parts or "." in parts:
        return "has an empty part, a `.` or a space at its end"
    return ""
