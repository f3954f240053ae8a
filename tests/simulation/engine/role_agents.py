"""An agent of a role: it hands on by JSON, hands back, has the task planned anew, and says how its work goes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.model.coordination import DeliverableKind, Transition
from orchestrator.model.handoff import Report, ReportStatus, Verdict
from tests.simulation.engine.agents import Agent
from tests.simulation.engine.archive_edits import edit_the_archive
from tests.simulation.engine.role_tasks import NAMES

_ONWARD: Final = {
    "plan": (Transition.IMPLEMENT, DeliverableKind.IMPLEMENTATION_PLAN),
    "implement": (Transition.AUDIT, DeliverableKind.IMPLEMENTATION),
    "audit": (Transition.CLEAN_UP, DeliverableKind.AUDIT_REPORT),
    "clean": (Transition.COMPLETE, DeliverableKind.CLEANUP_REPORT),
}
_RARELY: Final = 0.25


def is_of_roles(environment: dict[str, str]) -> bool:
    """Return whether a run belongs to a task of roles."""
    return environment.get("ORCHESTRATOR_TASK") in NAMES


class RoleAgent(Agent):
    """One run of an agent in a task of roles; beside the line it reports as any other agent."""

    replans = False

    @property
    def _writes(self) -> bool:
        return self.environment["STEP"] in {"implement", "clean"}

    def hands_in_otherwise(self) -> bool:
        """Hand back what it was handed by an edit of the archive, at times."""
        if self.environment["STEP"] not in {"implement", "audit", "clean"}:
            return False
        often = self.dice.behaviour.rejects * _RARELY
        return self.dice.deviates(often) and edit_the_archive(self, rejects=True)

    def note(self) -> None:
        """Show progress, say so in the own status file, and edit the archive of handoffs at times."""
        super().note()
        if self.dice.deviates(self.dice.behaviour.odd * _RARELY):
            edit_the_archive(self)
        path = layout.role_statuses(Path(self.environment["TASK_DIR"])) / f"{self.environment['AGENT']}.json"
        files = self.shared.files
        if self.environment["STEP"] not in (*_ONWARD, "close") or files.entry(path) is None:
            return
        status = json.loads(files.read(path))
        what = self.random.choice(("findings", "blockedBy", "progress", "clear"))
        match what:
            case "progress":
                status["progress"] = self.random.choice(("0.25", "0.5", "1"))
            case "clear":
                status["blockedBy"] = []
            case _:
                status[what] = [*(status.get(what) or []), f"{what} of {self.process.run}"]
        self.dice.did(f"says how it goes: {what}")
        self.shared.write(path, json.dumps(status).encode())

    def report(self) -> Report:
        """Write an artifact, and return a report: a verdict of REJECTED hands back what was handed on."""
        step, behaviour = self.environment["STEP"], self.dice.behaviour
        report = super().report()
        if step == "close":
            return replace(report, criteria=self._marks(report.artifacts[0]))
        report = replace(report, subtasks=None)
        if step in {"implement", "audit", "clean"}:
            self.replans = self.dice.deviates(behaviour.rejects * _RARELY)
            often = behaviour.rejects if step == "audit" else behaviour.rejects * _RARELY
            if not self.replans and self.dice.deviates(often):
                return replace(report, verdict=Verdict.REJECTED)
        return report

    def rendered(self, report: Report) -> tuple[Path, bytes]:
        """Return the next free name for a handoff, and its text."""
        path, data = super().rendered(report)
        if self.environment["STEP"] not in (*_ONWARD, "close"):
            return path, data
        while self.shared.files.entry(path := path.with_suffix(".handoff")) is not None:
            stem, _, second = path.stem.rpartition("-")
            path = path.with_name(f"{stem}-{int(second) + 1:06}.md")
        return path, json.dumps(self._document(report), indent=2).encode()

    def _document(self, report: Report) -> dict[str, Any]:
        said: dict[str, Any] = {"run": report.run, "inReplyTo": report.in_reply_to}
        if report.status is not ReportStatus.COMPLETE or self.environment["STEP"] == "close":
            said["status"] = report.status.value
        if report.status is ReportStatus.BLOCKED:
            said["blockers"] = report.blockers or "It does not go on."
        if report.criteria is not None:
            said["criteria"] = [
                {"text": mark.text, "met": mark.met, "evidence": list(mark.evidence), "reason": mark.reason}
                for mark in report.criteria
            ]
        whole = self._handed(report) | {
            "report": {key: value for key, value in said.items() if value is not None}
        }
        made = list(report.artifacts)
        if made:
            whole.setdefault("deliverable", {})["artifacts"] = made
            if self.environment["STEP"] in _ONWARD:
                whole["deliverable"]["location"] = made[0]
        return whole

    def _handed(self, report: Report) -> dict[str, Any]:
        step = self.environment["STEP"]
        issue = {"severity": "high", "description": f"{step} found a fault, says {self.process.run}"}
        if step == "close":
            return {"handoff": {"from": "ORCHESTRATOR"}}
        if report.status in {ReportStatus.BLOCKED, ReportStatus.IN_PROGRESS}:
            return {"handoff": {"from": self.environment["DEFINITION"].upper()}}
        if report.verdict is Verdict.REJECTED:
            return {"handoff": {"status": "rejected"}, "issues": [issue]}
        if self.replans:
            return {"handoff": {"type": Transition.REPLAN.value}, "issues": [issue]}
        transition, kind = _ONWARD[step]
        return {
            "handoff": {"type": transition.value},
            "context": {"scope": "A simulated work", "dependencies": ["work.txt"]},
            "deliverable": {"type": kind.value, "summary": f"{step} is done"},
            "nextSteps": {"instructions": [f"Do what follows {step}"], "acceptanceCriteria": ["It works"]},
            "issues": [],
        }
