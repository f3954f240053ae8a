"""A real agent CLI as PM: it is asked when there is news, orders, and the task is complete."""

from __future__ import annotations

import pytest

from tests.clis.house import a_house
from tests.clis.pinned import why_missing
from tests.clis.players import LED, Cast
from tests.clis.playing import played


@pytest.mark.thorough(reason="a whole task: integration/daemon/test_pm_agent.py has one led by an agent")
def test_a_task_is_led_by_an_agent_in_its_pane() -> None:
    if why := why_missing("claude"):
        pytest.skip(why)
    with a_house("claude", played(Cast().turn)) as house:
        world = house.world
        house.daemon()
        house.begin("t1", "claude", "pm: claude")
        world.until(lambda: world.stands("t1") in {"complete", "failed", "waiting"}, within=240)
        assert world.stands("t1") == "complete", house.screens()
        story = world.story("t1")
        decided = story.facts("decision_landed")
        assert len(decided) >= 8
        assert {fact["decision"]["action"] for fact in decided} == {"ORDER"}
        assert any(LED in reported for reported in story.orders("dev:one"))
        asked = [run for run in story.runs.values() if run["step"].startswith("pm:")]
        assert all(run.get("resumes") for run in asked[1:]), "it goes on with one conversation"
        world.check_nobody_is_left()
