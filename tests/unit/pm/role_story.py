"""A story of a task of roles, in which each role hands on as the format has it."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.formats.coordination import json_report
from orchestrator.formats.coordination.markdown import TITLES
from orchestrator.model.agents import Agent
from orchestrator.model.coordination import HandoffStatus
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.run import Exit, Purpose, Run
from orchestrator.model.task import ROLES as FAMILY
from orchestrator.pm.plan.families.roles import AGENTS
from orchestrator.pm.policies.gates import GATES
from tests.unit.pm.story import MET, Story

KINDS = {
    "plan": ("ready_for_implementation", "implementation_plan"),
    "implement": ("ready_for_audit", "implementation"),
    "audit": ("ready_for_cleanup", "audit_report"),
    "clean": ("complete", "cleanup_report"),
}
assert GATES  # the gates are registered


def handoff(step: str, **parts: Any) -> dict[str, Any]:
    """Return a complete handoff of a step, with some of its parts replaced; None takes one out."""
    transition, kind = KINDS[step]
    whole = {
        "handoff": {"type": transition},
        "context": {"scope": "A greeting", "dependencies": ["pkg/greet.py"]},
        "deliverable": {
            "type": kind,
            "location": f"artifacts/{step}.md",
            "summary": f"{step} is done",
            "artifacts": [f"artifacts/{step}.md"],
        },
        "nextSteps": {
            "instructions": [f"do what follows {step}"],
            "acceptanceCriteria": ["all tests pass"],
        },
        "issues": [],
    } | parts
    return {key: value for key, value in whole.items() if value is not None}


def issue(description: str, severity: str = "high") -> dict[str, str]:
    """Return one entry of `issues`."""
    return {"severity": severity, "description": description}


class RoleStory(Story):
    """A task whose five roles hand on by JSON. `checks` names agents that have a command to be accepted by."""

    def __init__(self, *, checks: tuple[str, ...] = (), **config: Any) -> None:
        super().__init__(family=FAMILY, **config)
        self.agents |= {
            name: Agent(name, command=("agent",), check=("check",) if name in checks else ())
            for name in AGENTS
        }
        self.starts()

    def hands_on(self, step: str, **parts: Any) -> None:
        """A role's run lives, works a minute, hands on and exits."""
        self.says(step, handoff(step, **parts))

    def says(self, step: str, whole: dict[str, Any]) -> None:
        """The run of a step hands in this JSON, and exits."""
        self.ends(run=self.hands_in(step, whole))

    def hands_in(self, step: str, whole: dict[str, Any]) -> Run:
        """The run of a step hands in this JSON, as the reader of its format reads it."""
        run = self.comes_alive(step)
        self.at += 60
        said = whole | {"report": {"run": run.id, "inReplyTo": run.order}}
        report = json_report.read(json.dumps(said).encode(), f"{run.instance}-1.handoff", 1 << 20, TITLES)
        self.lands(run.instance, report)
        return run

    def hands_back(self, step: str, *why: str) -> None:
        """A role rejects what it was handed."""
        issues = [issue(each) for each in why]
        self.says(step, {"handoff": {"status": "rejected"}, "issues": issues})

    def wants_replanning(self, step: str, *why: str) -> None:
        """A role says that the plan does not hold."""
        issues = [issue(each) for each in why]
        self.hands_on(step, handoff={"type": "requires_replanning"}, deliverable=None, issues=issues)

    def closes(self, marks: tuple[CriterionMark, ...] = MET) -> None:
        """The orchestrator marks the success criteria."""
        self.does("close", criteria=marks)

    def reaches(self, step: str) -> None:
        """All goes well until a step works."""
        for each in KINDS:
            if each == step:
                return
            if each in self.works_on():
                self.hands_on(each)

    def checked(self, step: str, code: int) -> None:
        """The command by which a receiver accepts what it is handed ends."""
        run = self.run_of(step)
        assert run.purpose is Purpose.CHECK
        self.comes_alive(step)
        self.ends(run=run, how=Exit(code=code))

    def handoffs(self) -> list[tuple[str, str, HandoffStatus | None]]:
        """Return who handed on, with which type, and how that stands."""
        heads = [each.handoff.head for each in self.state.handoffs.values()]
        return [(str(head.source), str(head.transition), head.status) for head in heads]
