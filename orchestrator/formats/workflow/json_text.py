"""Writes JSON over what was read: unknown fields stay, and a file that says the same stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.errors import BadFile

_T = TypeVar("_T")


def json_text(value: Any) -> bytes:  # noqa: ANN401 (any JSON value)
    """Return a JSON document as the files of a workflow spell it."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def rewritten(
    new: _T,
    base: bytes,
    read: Callable[[bytes], _T | None],
    overlay: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> bytes:
    """Return `base` with what `new` says.

    Args:
        new: The new content.
        base: The file as it is; empty if there is none. One that does not read is replaced.
        read: Reads the file.
        overlay: Lays the new content over the old document.

    """
    try:
        if base and read(base) == new:
            return base
        old = load_json(base, "", FILE_BYTES) if base else {}
    except BadFile:
        old = {}
    return json_text(overlay(old if isinstance(old, Mapping) else {}))


def overlaid(old: object, new: Mapping[str, Any], missing: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return an object with new fields over its old ones.

    `missing` says what a field that is not there means: it stays out as long as it means the same.
    """
    was = dict(old) if isinstance(old, Mapping) else {}
    absent = missing or {}
    fresh = not was
    for key, value in new.items():
        if fresh or key in was or key not in absent or absent[key] != value:
            was[key] = value
    return was


def listed_by(
    old: object, key: str, new: Iterable[tuple[str, Callable[[object], dict[str, Any]]]]
) -> list[dict[str, Any]]:
    """Return a list of objects, each laid over the old one with the same `key`."""
    known = (
        {each.get(key): each for each in old if isinstance(each, Mapping)} if isinstance(old, list) else {}
    )
    return [lay(known.get(name)) for name, lay in new]
