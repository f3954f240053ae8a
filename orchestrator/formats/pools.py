"""`[hosts.NAME]` of the settings file: pools of boxes; a task gets one box of the pool (H4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from orchestrator.formats.location import address_of, read_box
from orchestrator.formats.suggestions import nearest
from orchestrator.model.errors import Refused
from orchestrator.model.names import checked_name
from orchestrator.model.pools import Pool
from orchestrator.model.task import Location

KEYS: Final = tuple(field.name for field in fields(Pool) if field.name != "name")
_LIKE: Final = 'give a list of boxes like ["me@alpha", "ssh://me@beta:2222"]'
_MOST_BOXES: Final = 100
_MOST_AT_ONCE: Final = 1000


def read_pool(name: str, table: Mapping[str, object]) -> tuple[Pool | None, list[tuple[str, str]]]:
    """Return the pool that a table defines, and its faults: the key (empty: the table) and what is wrong."""
    faults: list[tuple[str, str]] = []
    try:
        checked_name(name, "pool name")
    except Refused as problem:
        faults.append(("", str(problem)))
    made: dict[str, Any] = {}
    for key, value in table.items():
        try:
            made[key] = _READERS[key](value) if key in _READERS else _no_such(key)
        except (ValueError, Refused) as problem:
            faults.append((key, f"{key} {problem}" if key in _READERS else str(problem)))
    if "boxes" not in table:
        faults.append(("", f"has no boxes: {_LIKE}"))
    return (None if faults else Pool(name, **made)), faults


def clashes(pools: Sequence[Pool]) -> Iterator[tuple[str, str, str]]:
    """Yield conflicts between pools: the pool's name, the key (empty: the table), the reason."""
    owners: dict[str, str] = {}
    hosts = {address_of(Location("/", box)).host: box for pool in pools for box in pool.boxes}
    for pool in pools:
        if pool.name in hosts:
            # `cwd: NAME:/path` would be ambiguous.
            yield (
                pool.name,
                "",
                f"has the same name as the box {hosts[pool.name]}: give the pool another name",
            )
        for box in pool.boxes:
            if (owner := owners.setdefault(box, pool.name)) != pool.name:
                yield (
                    pool.name,
                    "boxes",
                    f"boxes holds {box}, which is in the pool {owner}: a box has one cap",
                )


def _no_such(key: str) -> object:
    raise ValueError(f"there is no key {key!a}{nearest(key, KEYS)}")


def _boxes(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise ValueError(f"is {ascii(value)[:60]}: {_LIKE}")
    if len(value) > _MOST_BOXES:
        raise ValueError(f"has {len(value)} boxes: give at most {_MOST_BOXES}")
    boxes = tuple(map(read_box, value))
    for box in boxes:
        if boxes.count(box) > 1:
            raise ValueError(f"holds {box} twice")
    return boxes


def _cap(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_AT_ONCE:
        raise ValueError(f"is {ascii(value)[:60]}: give a whole number from 1 to {_MOST_AT_ONCE}")
    return value


_READERS: Final[dict[str, Callable[[object], object]]] = {"boxes": _boxes, "cap": _cap}
