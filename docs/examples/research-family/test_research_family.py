"""The family and its gate, by the suites that the Agent Orchestrator publishes: `pip install .`, then `pytest`."""

from __future__ import annotations

from dataclasses import replace

from research_family import SourcesGate

from orchestrator.extensions import load_all
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.model.plan import Step
from orchestrator.testing.contracts.families import FamilyContract
from orchestrator.testing.contracts.gates import GateContract

SOURCES = (("Sources", "- https://www.rfc-editor.org/rfc/rfc3339\n- docs/dates.md"),)


def test_both_are_found() -> None:
    assert {("families", "research", ""), ("gates", "sources", "")} <= {
        (each.door, each.name, each.fault) for each in load_all()
    }


class TestResearch(FamilyContract):
    name = "research"

    def add_to(self, step: Step, report: Report) -> Report:
        return replace(report, others=SOURCES) if "sources" in step.gates else report


class TestSources(GateContract):
    gate = SourcesGate()
    good = Report(ReportStatus.COMPLETE, others=SOURCES)
    bad = Report(ReportStatus.COMPLETE, others=(("Sources", "- only one"),))
