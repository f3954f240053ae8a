"""What the files of coordination have in common: ids, moments, and fields that the format does not name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from orchestrator.formats.text import PROSE_LENGTH
from orchestrator.formats.workflow.nodes import Fields
from orchestrator.model.coordination import HANDOFF_ID, MEMORY_ID, moment

Others: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
"""Fields that the format does not name: the path of each, and its value as JSON."""

ENTRIES: Final = 1000
"""How many entries a list may have."""

_HANDOFF: Final = re.compile(HANDOFF_ID)
_MEMORY: Final = re.compile(MEMORY_ID)


def text(found: Fields, key: str) -> str | None:
    """Return a text of bounded length; None where it is missing or null."""
    if not found.has(key):
        return None
    value = found.text(key)
    if len(value) > PROSE_LENGTH:
        found.fault(
            f"`{found.path(key)}` has {len(value)} characters: write {PROSE_LENGTH} at most, "
            "and put the rest into a file"
        )
    return value


def texts(found: Fields, key: str) -> tuple[str, ...] | None:
    """Return a list of texts of bounded length; None where it is missing or null."""
    if not found.has(key):
        return None
    values = found.texts(key, most=ENTRIES)
    for number, value in enumerate(values):
        if len(value) > PROSE_LENGTH:
            found.fault(f"`{found.path(key)}[{number}]` is longer than {PROSE_LENGTH} characters: shorten it")
        if not value.isprintable() and any(sign < " " and sign not in "\n\t" for sign in value):
            found.fault(f"`{found.path(key)}[{number}]` holds a control character: take it out")
    return values


def time(found: Fields, key: str) -> str | None:
    """Return an ISO 8601 moment as it is written; None where it is missing or null."""
    value = text(found, key)
    if value is not None and moment(value) is None:
        found.fault(
            f"`{found.path(key)}` is {value[:40]!a}: write a moment in UTC, such as 2025-12-11T14:30:00Z"
        )
    return value


def handoff_id(found: Fields, key: str) -> str | None:
    """Return the id of a handoff; None where it is missing or null."""
    value = text(found, key)
    if value is not None and not is_handoff_id(value):
        found.fault(
            f"`{found.path(key)}` is {value[:60]!a}: write handoff_, milliseconds since the epoch, _ and eight of "
            "a-z and 0-9, such as handoff_1702311000000_a1b2c3d4"
        )
    return value


def is_handoff_id(value: str) -> bool:
    """Return whether a text is the id of a handoff. Nothing else becomes the name of a file."""
    return _HANDOFF.fullmatch(value) is not None


def memory_ids(found: Fields, key: str) -> tuple[str, ...] | None:
    """Return a list of ids of memories; None where it is missing or null."""
    values = texts(found, key)
    for value in values or ():
        if not _MEMORY.fullmatch(value):
            found.fault(
                f"`{found.path(key)}` has {value[:60]!a}: write ids such as mem_1702311000_abc123, "
                "as scripts/memory-write.sh prints them"
            )
    return values


def unnamed(value: Mapping[str, Any], shape: Mapping[str, Any]) -> Others:
    """Return the fields of an object that its shape does not name.

    In a shape stand, by the name of a field: a shape where it is an object, a list with one shape where it is a list
    of objects, and None for anything else.
    """
    return tuple(sorted(_unnamed(value, shape, ())))


def with_others(made: dict[str, Any], others: Others) -> dict[str, Any]:
    """Return an object with the fields that the format does not name put back where they were."""
    for path, said in others:
        place: Any = made
        for name in path[:-1]:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        place[path[-1]] = json.loads(said)
    return made


def present(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the fields that have a value; tuples become lists."""
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in fields if value is not None
    }


def _unnamed(
    value: Mapping[str, Any], shape: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, inner in value.items():
        here = (*path, key)
        if key not in shape:
            yield here, json.dumps(inner, ensure_ascii=False)
            continue
        match shape[key], inner:
            case (None, _) | (_, None):
                continue
            case dict() as below, dict():
                yield from _unnamed(inner, below, here)
            case [below], list():
                for number, each in enumerate(inner):
                    if isinstance(each, dict):
                        yield from _unnamed(each, below, (*here, str(number)))
            case _:
                yield here, json.dumps(inner, ensure_ascii=False)
