"""Records what the report of a simulated night is made of: `python -m tests.simulation.record_night NAME SEED DAYS`.

The record is a fixture of `tests/unit/reporting`: the longest journal of the world, as it lies on the disk, and what
status shows at the end. After DAYS may follow the names of the only events that occur, by commas.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tests.simulation.engine.fault_schedule import drawn_world
from tests.simulation.engine.reports import lines_of
from tests.simulation.engine.run import simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.world import World

FOLDER = Path(__file__).parents[1] / "unit" / "reporting" / "nights"


def record(name: str, seed: str, days: float, only: frozenset[str] | None) -> Path:
    """Simulate a world and write its night. Raises Failed if it breaks a law."""
    worlds = list[World]()

    def made(scenario: Scenario) -> World:
        worlds.append(drawn_world(scenario))
        return worlds[0]

    simulate_world(seed, days, only, world_of=made)
    (world,) = worlds
    nights = [
        {
            "made_at": world.clock.now(),
            "view": world.shown(each),
            "lines": lines_of(world.files, each.home),
        }
        for each in world.present
    ]
    return write(name, max(nights, key=lambda night: len(night["lines"])))


def write(name: str, night: dict[str, Any]) -> Path:
    """Write a night, the same bytes for the same content."""
    path = FOLDER / f"{name}.json.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(night, ensure_ascii=False).encode(), mtime=0))
    return path


if __name__ == "__main__":
    words = sys.argv[1:]
    events = frozenset(words[3].split(",")) if len(words) > 3 else None
    sys.stdout.write(f"{record(words[0], words[1], float(words[2]), events)}\n")
