"""What was learned in a project reaches the agents that work on it."""

from __future__ import annotations

from orchestrator import layout
from tests.integration.daemon.world import World


def test_orders_offer_what_was_learned_but_not_to_judges(world: World) -> None:
    said = world.task(
        *("memory", "add", "A greeting never names the user", "--tag", "style"),
        *("--project", str(world.project)),
    )
    assert said.code == 0, said
    world.begin({"review:greet": [{"hang": True}]})
    world.until_works("review:greet")
    shown = {
        step: layout.run_order(layout.run_home(world.home(), run)).read_text() for run, step in world.lives
    }
    offering = {step for step, text in shown.items() if "A greeting never names the user" in text}
    assert {"explore", "plan", "dev:greet"} <= offering
    assert "review:greet" in shown.keys() - offering
    public = [path.read_text() for path in (world.project / "tasks/t1/handoffs").glob("pm-*.md")]
    assert not any("never names the user" in text for text in public)
