"""A task of five roles with real CLIs: an incomplete handoff, a failed audit, a replanning, a daemon that is killed."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import pytest

from tests.clis.house import a_house_of
from tests.clis.pinned import why_missing
from tests.clis.playing import played
from tests.clis.role_players import AUDIT, FINDING, REPLAN, RoleCast
from tests.integration.daemon.test_observed_roles import observed
from tests.observer_audit import faults

RUNTIMES = {
    "planner": "claude",
    "implementer": "codex",
    "auditor": "gemini",
    "cleaner": "opencode",
    "orchestrator": "codex",
}
"""Several CLIs: what one makes of an order and its sandbox, another does not."""

MODEL = "openai/gpt-5.1"
"""opencode's. By itself it takes the first maker whose key it finds: Claude Code's; it reads that address otherwise."""

OVER = {"complete", "failed", "waiting"}


@pytest.mark.thorough(
    reason="12 runs of real CLIs, two minutes: integration/daemon/test_roles.py has the same pipeline"
)
def test_real_roles_hand_on_and_are_counted() -> None:
    """The daemon is killed at each handoff; the observer's figures are those that the journal says, counted anew."""
    clis = sorted(set(RUNTIMES.values()))
    if why := next(filter(None, map(why_missing, clis)), None):
        pytest.skip(why)
    config = ["family: roles", *(f"{role}.runtime: {name}" for role, name in RUNTIMES.items())]
    config.append(f"cleaner.model: {MODEL}")
    settings = {"limits__termination_grace": "5 s"}
    with a_house_of(clis, played(RoleCast().turn), settings) as house:
        world = house.world

        def handed() -> int:
            return len({change["id"] for change in world.story().changes("handoff_recorded")})

        def is_further(seen: int) -> bool:
            return handed() > seen or world.stands() in OVER

        house.daemon()
        house.begin("t1", "claude", *config)
        seen = 0
        while world.stands() not in OVER:
            world.until(partial(is_further, seen), within=240)
            if handed() > seen:
                world.kill_daemon()
                house.daemon()
                seen = handed()
        assert world.stands() == "complete", house.screens()

        story = world.story()
        assert "acceptanceCriteria` is empty" in story.orders("plan")[1]
        assert AUDIT in story.orders("implement")[1]
        assert REPLAN in story.orders("plan")[2]
        assert Counter(run["step"] for run in story.runs.values()) == {
            "plan": 3, "implement": 3, "audit": 3, "clean": 2, "close": 1,
        }  # fmt: skip
        assert seen == 10
        assert not story.changes("question_asked")
        document = observed(world)
        assert faults(story.lines, document) == []
        assert {row["role"] for row in document["usage"] if row["tokens"]} == set(RUNTIMES)
        status = world.project / "tasks" / "t1" / "data" / "agent-status" / "implementer.json"
        assert json.loads(status.read_text())["findings"] == [FINDING]
        assert not house.server.faults
        world.check_nobody_is_left()
