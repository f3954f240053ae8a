"""Whole tasks with real CLIs, whose service refuses them until a window ends, and a little longer than it says."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

import pytest

from orchestrator.model.usage_limit import Reset
from tests.clis.answers import Answer, used_up
from tests.clis.house import a_house
from tests.clis.model_request import ModelRequest
from tests.clis.model_server import Script
from tests.clis.pinned import why_missing
from tests.clis.players import Cast
from tests.clis.playing import played
from tests.clis.users import subscribed, variables

DEAD = 120.0
"""Seconds that may pass from the lift of a limit to the next request."""

WASTED = 6


@dataclass
class Window:
    """A service that refuses from its `first`th request on, until `lasts` seconds later; it lifts the limit `late`."""

    script: Script
    lasts: float
    late: float
    first: int = 2
    resets_at: float = 0.0
    refused: list[float] = field(default_factory=list)
    granted: list[float] = field(default_factory=list)

    def __call__(self, request: ModelRequest) -> Answer:
        """Answer, or refuse."""
        now = time.time()
        if not self.resets_at and len(self.granted) + 1 >= self.first:
            self.resets_at = now + self.lasts
        if self.resets_at and now < self.resets_at + self.late:
            self.refused.append(now)
            return used_up(self.resets_at)
        self.granted.append(now)
        return self.script(request)

    @property
    def dead(self) -> float:
        """Seconds from the lift to the next request."""
        lifted = self.resets_at + self.late
        return min(at for at in self.granted if at >= lifted) - lifted


@pytest.mark.thorough(reason="unit/pm/test_usage_limits.py counts the same, step by step")
@pytest.mark.parametrize("name", ["claude", "claude-2.1.197", "codex"])
def test_a_limit_costs_two_minutes_and_few_requests(name: str) -> None:
    """It says a moment without its seconds, and is lifted 20 s later: the words are the same, and not tomorrow's."""
    if why := why_missing(name):
        pytest.skip(why)
    window = Window(played(Cast().turn), lasts=75.0, late=20.0)
    with a_house(name, window, daemon__rescan="2 s", limits__termination_grace="5 s") as house:
        if name.startswith("claude"):
            for variable in variables("claude", house.server.url):
                del house.world.environ[variable]
            house.world.environ |= subscribed(house.server.url)
        house.daemon()
        house.begin("t1", name.partition("-")[0])
        house.world.until(lambda: window.refused, within=120)

        def limited() -> dict[str, object]:
            document: dict[str, object] = json.loads(house.world.task("status", "t1", "--json").out)
            return document if document["limited"] else {}

        document = house.world.until(limited, within=60)
        assert document["state"] == "running"
        shown = house.world.task("status", "t1").out
        assert shown.startswith("t1  limited  ")
        assert "hit your" in " ".join(shown.split())
        house.world.until(lambda: house.world.stands("t1") in {"complete", "failed", "waiting"}, within=400)
        assert house.world.stands("t1") == "complete", house.server.faults
        assert window.dead <= DEAD
        assert len(window.refused) - 1 <= WASTED
        events = [
            event["event"]
            for event in house.world.story("t1").facts("event_landed")
            if "reset" in event["event"]
        ]
        reset = Reset(**events[0]["reset"])
        assert any(moment <= window.resets_at < moment + reset.within for moment in reset.moments)
