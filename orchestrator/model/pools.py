"""Pools of boxes that the user's settings define: `[hosts.NAME]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CAP: Final = 4
"""How many agents work on one box of a pool at once, where the settings say nothing of it."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Boxes of which a task is given one, called as `Location` calls them; `cap` agents work on each at once."""

    name: str
    boxes: tuple[str, ...]
    cap: int = CAP


def pool_of(pools: tuple[Pool, ...], box: str) -> Pool | None:
    """Return the pool to which a box belongs: to one at most."""
    return next((pool for pool in pools if box in pool.boxes), None)
