"""Two writers edit one file a thousand times each, each from a version that may be old: nothing is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.formats.workflow.merge import Merged, Version, merge_status

EDITS = 1000
MOST_BEHIND = 7
"""How many edits of the other one a writer may not have seen."""

STATUS: dict[str, Any] = {
    "task_id": "demo",
    "status": "in_progress",
    "session_start": 1,
    "agents": {name: {"status": "working", "dependencies": []} for name in ("one", "two")},
    "verification": {},
}
Merge = Callable[[dict[str, Any], Version, Version], Merged]


class Writer:
    """Reads the whole file, edits its copy, and writes it by a merge with whatever stands there by then."""

    def __init__(self, name: str, merge: Merge) -> None:
        self.name, self.merge = name, merge
        self.base: dict[str, Any] = {}
        self.mine: dict[str, Any] = {}

    def reads(self, text: str) -> None:
        self.base, self.mine = json.loads(text), json.loads(text)

    def writes(self, text: str, at: int) -> tuple[str, Merged]:
        sides = Version(self.mine, self.name, at), Version(json.loads(text), "", at - 1)
        merged = self.merge(self.base, *sides)
        return json.dumps(merged.document), merged


def edited(
    text: str, writers: list[Writer], edit: Callable[[Writer, int], None], times: int, seed: int
) -> tuple[str, list[Merged]]:
    """Let each writer edit so often; one may write several times between the other's reading and writing."""
    draw, done, left = random.Random(seed), list[Merged](), {each.name: times for each in writers}
    for writer in writers:
        writer.reads(text)
    at = 0
    while any(left.values()):
        writer = draw.choice([each for each in writers if left[each.name]])
        for _ in range(min(left[writer.name], draw.randint(1, MOST_BEHIND))):
            at += 1
            edit(writer, times - left[writer.name])
            text, merged = writer.writes(text, at)
            done.append(merged)
            left[writer.name] -= 1
            if draw.random() < 0.5:
                writer.reads(text)
            else:  # it goes on with its own copy, and has not seen what the other one wrote
                writer.base = json.loads(json.dumps(writer.mine))
    return text, done


@pytest.mark.parametrize("seed", range(1))
def test_two_writers_of_the_status_lose_nothing(seed: int) -> None:
    """Each adds a field to its own entry a thousand times, and changes its status each time."""

    def edit(writer: Writer, number: int) -> None:
        entry = writer.mine["agents"][writer.name]
        entry[f"edit_{number:04}"] = number
        entry["status"] = ("working", "blocked")[number % 2]

    writers = [Writer(name, merge_status) for name in ("one", "two")]
    text, done = edited(json.dumps(STATUS), writers, edit, EDITS, seed)
    agents = json.loads(text)["agents"]
    for name in ("one", "two"):
        assert [agents[name][f"edit_{number:04}"] for number in range(EDITS)] == list(range(EDITS))
        assert agents[name]["status"] == "blocked"
    assert len(done) == 2 * EDITS
    assert not [merged.losses for merged in done if merged.losses]
