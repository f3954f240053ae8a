"""No word is lost: what agents handed in was heard, once, and what the PM ordered was said once."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from orchestrator.testing.simulation.audit import Audit
from orchestrator.testing.simulation.desk import Said
from orchestrator.testing.simulation.wish import Wish
from orchestrator.testing.simulation.world import World

_RUN: Final = re.compile(r"^\*\*Run:\*\* (\S+)$", re.MULTILINE)


def unheard(world: World, wish: Wish, audit: Audit, runs: list[str]) -> list[str]:
    """Return those of some runs that left a word that counts, as it still lies there, and never were heard."""
    lost = []
    for run in runs:
        if not audit.ledger.reported[run]:
            left = (said for said in world.desk.said.get(run, ()) if said.counts)
            lost += [run for said in left if _lies_whole(world, wish, said)][:1]
    return [f"run {run} left a handoff and was never heard" for run in lost]


def _lies_whole(world: World, wish: Wish, said: Said) -> bool:
    path = wish.handoffs / said.name
    return world.files.entry(path) is not None and world.files.read(path) == said.data


def ordered_twice(world: World, wish: Wish) -> list[str]:
    """Return the runs whose order was published under two names."""
    files, runs = world.files, Counter[str]()
    for entry in files.entries(wish.handoffs):
        if entry.name.startswith("pm-") and entry.is_file:
            runs.update(_RUN.findall(files.read(wish.handoffs / entry.name).decode())[:1])
    return [f"run {run} has {times} orders" for run, times in runs.items() if times > 1]
