"""The gates that ship and judge reports, by the suite that is published for those of other packages."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.model.handoff import Report, ReportStatus, Verdict
from orchestrator.model.plan import Gate
from orchestrator.pm.policies.gates import GATES
from orchestrator.testing.contracts.gates import GateContract


class TestVerdict(GateContract):
    gate = GATES[Gate.VERDICT]
    good = Report(ReportStatus.COMPLETE, verdict=Verdict.APPROVED)
    bad = Report(ReportStatus.COMPLETE)


class TestCheck(GateContract):
    gate = GATES[Gate.CHECK]
    good = Report(ReportStatus.COMPLETE, verdict=Verdict.APPROVED)
    bad = None

    def test_failed_check_rejects(self) -> None:
        judged = self.gate.judge(replace(self.step, check_exit=1), self.good)
        assert judged.rejected


def test_every_gate_of_the_model_is_registered() -> None:
    assert set(Gate) == set(GATES) - set(GATES.added)
