"""A real daemon writes metrics and reaches a collector, and says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.integration.daemon.world import World, a_world
from tests.otlp_collector import a_collector


@pytest.fixture
def world() -> Iterator[World]:
    """Yield a world of its own."""
    with a_world() as made:
        yield made


def test_metrics_are_written_and_what_was_sent_is_noted(world: World) -> None:
    file = world.root / "agents.prom"
    with a_collector() as collector:
        world.daemon(
            ORCHESTRATOR_OBSERVER__TRACES=collector.url,
            ORCHESTRATOR_OBSERVER__METRICS=str(file),
            ORCHESTRATOR_DAEMON__HEARTBEAT_INTERVAL="100 ms",
        )

        def said() -> Any:
            found = json.loads(world.task("daemon", "status", "--json").out)["telemetry"]
            return found if found and (found["at"] or found["fault"]) else None

        found = world.until(said, within=120)
        assert (found["fault"], found["metrics"]) == (None, str(file))
        url = f"{collector.url}/v1/traces"
        assert found["traces"] == url
    assert {each.name for each in text_string_to_metric_families(file.read_text())} >= {
        "agent_orchestrator_handoffs",
        "agent_orchestrator_stuck",
    }
    assert json.loads((world.state / "observer" / "traces.json").read_text()).keys() == {url}
