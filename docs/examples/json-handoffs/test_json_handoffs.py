"""The format, by the suite that the Agent Orchestrator publishes. `pip install .`, then `pytest`."""

from __future__ import annotations

from orchestrator.extensions import load_all
from orchestrator.testing.contracts.formats import FormatContract


def test_it_is_found() -> None:
    assert ("formats", "json", "") in {(each.door, each.name, each.fault) for each in load_all()}


class TestJson(FormatContract):
    name = "json"
