"""The runtime, by the suite that the Agent Orchestrator publishes. `pip install .`, then `pytest`."""

from __future__ import annotations

from orchestrator.extensions import load_all
from orchestrator.model.agents import Agent
from orchestrator.model.event import EventKind
from orchestrator.testing.contracts.runtimes import RuntimeContract


def test_it_is_found() -> None:
    assert ("runtimes", "one-shot", "") in {(each.door, each.name, each.fault) for each in load_all()}


class TestOneShot(RuntimeContract):
    name = "one-shot"
    agent = Agent("dev", command=("my-agent", "--yes"))
    events = (
        ({"type": "started"}, EventKind.STARTED),
        ({"type": "ended", "status": 0}, EventKind.ENDED),
        ({"type": "ended", "status": 2}, EventKind.FAILED),
    )
