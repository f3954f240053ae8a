"""How a path is made: it goes out as it came in, `str` or `Path`, and each name is one level."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeVar

    P = TypeVar("P", str, Path)


def under(root: P, *names: str) -> P:
    """Return the path of what lies below `root`, as it came in: `str` or `Path`."""
    if isinstance(root, str):
        return "/".join((root.rstrip("/"), *names))
    return root.joinpath(*names)


def one_level(text: str) -> str:
    """Return `text` if it is one level of a path; what a name is, `model.names` knows, and imports `re`."""
    if text in {"", ".", ".."} or text.startswith("-") or not text.isprintable() or "/" in text:
        from orchestrator.model.errors import BadName

        raise BadName(f"{text[:40]!a} cannot name a folder")
    return text
