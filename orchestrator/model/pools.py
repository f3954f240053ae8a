"""Pools of boxes that the user's settings define: `[hosts.NAME]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CAP: Final = 4
"""How many agents work on one box of a pool at once, where the settings say nothing of it."""


@dataclass(frozen=True, slots=True)
class Pool:
    """`[hosts.NAME]`: boxes of which a task is given one."""

    name: str
    """What `cwd:` of task.md names in the place of a box."""

    boxes: tuple[str, ...]
    """The boxes: `user@host` or `ssh://user@host:port`."""

    cap: int = CAP
    """How many agents work on each of the boxes at the same time."""


def pool_of(pools: tuple[Pool, ...], box: str) -> Pool | None:
    """Return the pool to which a box belongs: to one at most."""
    return next((pool for pool in pools if box in pool.boxes), None)
