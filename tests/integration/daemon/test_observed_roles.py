"""What the observer says of a real pipeline of roles, counted again from the files that it left (C7)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.daemon.test_roles import archived, begun, ends_complete, issues
from tests.integration.daemon.world import World, a_world
from tests.observer_audit import faults
from tests.otlp_collector import a_collector, values


@pytest.fixture
def world() -> Iterator[World]:
    """Yield a world of its own."""
    with a_world() as made:
        yield made


def observed(world: World) -> dict[str, Any]:
    """Return the document of `task observe` about two days: the pipeline may run at midnight."""
    said = world.task("observe", "--project", str(world.project), "--days", "2", "--json")
    assert (said.code, said.err) == (0, "")
    document = json.loads(said.out)
    assert isinstance(document, dict)
    return document


def spans(world: World) -> list[dict[str, Any]]:
    """Return the attributes of each span that a collector gets, with its id."""
    with a_collector() as collector:
        said = world.task("observe", "--project", str(world.project), "--days", "2", "--otlp", collector.url)
        assert (said.code, said.err) == (0, "")
        return [{**values(each), "id": each.span_id} for each in collector.spans]


def test_a_pipeline_is_counted_also_when_it_is_archived(world: World) -> None:
    """With one failed audit: each handoff by its transition, each run a span, before and after `task archive`."""
    audit = {"parts": {"handoff": {"status": "rejected"}, "issues": issues("nobody is greeted")}}
    folder = begun(world, {"audit": [audit]})
    ends_complete(world)
    world.until(lambda: [each["outcome"] for each in archived(folder, "chain_*")] == ["success"])
    heads = [each["handoff"] for each in archived(folder, "handoff_*")]
    opened = [each["run"]["id"] for each in world.story().changes("run_opened")]

    document = observed(world)
    assert document["handoffs"] == len(heads)
    assert {(each["source"], each["target"]): each["count"] for each in document["transitions"]} == Counter(
        (each["from"], each["to"]) for each in heads
    )
    assert document["success"] == {
        "decided": len(heads),
        "good": sum(each["status"] == "completed" for each in heads),
    }
    assert (document["completed_chains"], document["active"], document["stuck"]) == (1, 0, [])
    lines = world.story().lines
    assert faults(lines, document) == []
    for name in ("handoffs", "success", "durations", "transitions", "severities", "time_at_work", "usage"):
        assert len(faults(lines, document | {name: [] if name == "usage" else {}})) == 1, name
    found = spans(world)
    runs = [each["agent_orchestrator.run.id"] for each in found if "agent_orchestrator.run.id" in each]
    assert sorted(runs) == sorted(opened)

    assert world.task("archive", "t1", "--yes").code == 0
    again = observed(world)
    volatile = {"made_at", "read"}
    assert {key: again[key] for key in again.keys() - volatile} == {
        key: document[key] for key in document.keys() - volatile
    }
    assert spans(world) == found
