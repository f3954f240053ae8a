"""What real CLIs used is what the model server gave, and a limit stops a task that runs away."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from tests.clis.answers import Reply
from tests.clis.hands import run
from tests.clis.house import House, a_house
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.pinned import why_missing
from tests.clis.players import Cast
from tests.clis.playing import Turn, played

GIVEN, MADE = 1000, 10
"""Tokens of each answer, in and out."""
HIGHEST = 12_000


def counted(turn: Turn) -> Turn:
    """Let each answer of a turn say the same usage."""

    def playing(request: ModelRequest) -> Generator[Reply, tuple[ToolResult, ...], None]:
        steps = turn(request)
        answer = next(steps)
        while True:
            results = yield replace(answer, tokens=(GIVEN, MADE))
            try:
                answer = steps.send(results)
            except StopIteration:
                return

    return playing


def for_ever(request: ModelRequest) -> Generator[Reply, tuple[ToolResult, ...], None]:
    """Look around, and never come to an end of it."""
    while True:
        yield run(request, "ls")


def status_of(house: House) -> dict[str, Any]:
    said = house.world.task("status", "t1", "--json")
    document: dict[str, Any] = json.loads(said.out)
    return document


@pytest.mark.parametrize(
    "name", ["claude", pytest.param("codex", marks=pytest.mark.thorough(reason="another CLI of the same"))]
)
@pytest.mark.thorough(reason="a whole task: test_runtime_… have what a turn tells")
def test_usage_shown_of_a_task_is_what_the_model_gave(name: str) -> None:
    if why := why_missing(name):
        pytest.skip(why)
    with a_house(name, played(counted(Cast().turn)), limits__termination_grace="5 s") as house:
        house.daemon()
        folder = house.begin("t1", name)
        house.world.until(lambda: house.world.stands("t1") in {"complete", "failed", "waiting"}, within=240)
        assert house.world.stands("t1") == "complete", house.screens()
        document, turns = status_of(house), len(house.server.turns)
        used = document["usage"]
        assert (used["input"], used["output"]) == (turns * GIVEN, turns * MADE)
        assert sum(each["tokens"] for each in document["used_by"]) == used["tokens"]
        assert (
            f"\nused      {used['tokens'] / 1000:.0f}k tokens of 300M, "
            in house.world.task("status", "t1").out
        )
        assert "\n## Usage\n| Agent | Runs | Time |" in (folder / "progress.md").read_text()


@pytest.mark.thorough(reason="a whole task: unit/pm has what a budget decides")
def test_runaway_task_stops_at_its_limit_until_answered() -> None:
    """A limit stops a task that runs away and the answer lets it go on."""
    if why := why_missing("claude"):
        pytest.skip(why)
    script = played(counted(for_ever))
    with a_house("claude", script, daemon__rescan="2 s", limits__termination_grace="5 s") as house:
        world = house.world
        house.daemon()
        house.begin("t1", "claude", f"limits: {HIGHEST} tokens; 8 h", "permissions: allow run ls")
        house.until_is("waiting", "t1")
        assert status_of(house)["agents"][0]["state"] == "gone"
        (question,) = status_of(house)["questions"]
        assert question["kind"] == "budget"
        assert "of 12k tokens" in question["text"]
        asked, used = len(house.server.turns), status_of(house)["usage"]
        # What was cut off in the middle was asked for and not taken.
        assert used["input"] in {asked * GIVEN, (asked - 1) * GIVEN}
        assert used["tokens"] >= HIGHEST
        assert world.task("answer", "t1", question["id"], "double").code == 0
        world.until(lambda: len(house.server.turns) > asked, within=120)
        opened = list(world.story("t1").runs.values())
        assert opened[-1]["resumes"] == opened[-2]["id"]
        assert world.task("stop", "t1").code == 0
        world.until(
            lambda: not world.story("t1").lines or status_of(house)["agents"][0]["state"] == "gone", within=60
        )
