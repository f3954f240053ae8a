"""Checks what a plan refers to: definitions, runtimes, the shared status, the approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.suggestions import nearest
from orchestrator.model.workflow import STATUS_FILE, AgentKind
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orchestrator.model.workflow_records import SharedStatus


COMMAND: Final = "command"
"""The runtime of any executable."""


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong with what is around the plan."""
    personas, runtimes = design.around.personas, design.around.runtimes
    commands = design.around.commands
    for at, agent in design.numbered:
        if personas is not None and agent.persona not in personas:
            yield DesignFinding(
                Rule.PERSONA_UNKNOWN,
                f"{agent.id}: there is no definition {agent.persona}",
                _near(agent.persona, personas),
                ("agents", at, "persona"),
            )
        if runtimes is not None and agent.runtime not in {"auto", *runtimes}:
            yield DesignFinding(
                Rule.RUNTIME_UNKNOWN,
                f"{agent.id}: there is no runtime {agent.runtime}",
                _near(agent.runtime, {"auto", *runtimes}),
                ("agents", at, "runtime"),
            )
        elif agent.runtime == COMMAND and commands is not None and agent.persona not in commands:
            yield DesignFinding(
                Rule.COMMAND_MISSING,
                f"{agent.id} runs as a command, and the definition {agent.persona} names none",
                f"write `{agent.persona}.command: …` under Agent Config of task.md",
                ("agents", at, "runtime"),
            )
    if design.around.status is not None:
        yield from _status(design, design.around.status)
    approval, now = design.plan.approval, design.around.approval_hash
    if approval is not None and now is not None and approval.hash != now:
        yield DesignFinding(
            Rule.APPROVAL_VOID,
            f"what {approval.by[:60]} approved has changed since",
            "look at it again, then approve it",
            ("approval",),
        )


def _near(name: str, known: Iterable[str]) -> str:
    return nearest(name, known).lstrip(": ")


def _status(design: Design, status: SharedStatus) -> Iterator[DesignFinding]:
    if status.task_id != design.plan.workflow:
        yield _of_status(
            Rule.STATUS_TASK, f"task_id is {status.task_id[:60]!a}", f"write {design.plan.workflow}"
        )
    working = {agent.id: agent for agent in design.plan.agents if agent.kind is not AgentKind.VERIFIER}
    entries = {entry.name: entry for entry in status.agents}
    for name in sorted(entries.keys() ^ working.keys()):
        text = f"{name} is in only one of plan and status"
        yield _of_status(Rule.STATUS_AGENTS, text, "approve the design again, which writes the status anew")
    for name, entry in entries.items():
        if name in working and set(entry.dependencies) != set(working[name].needs):
            text = f"the dependencies of {name} are not its needs"
            needs = ", ".join(working[name].needs) or "none"
            yield _of_status(Rule.STATUS_DEPENDENCIES, text, f"write {needs}")
    wanted: dict[str, set[str]] = {}
    for agent in design.plan.agents:
        if agent.kind is AgentKind.VERIFIER:
            wanted.setdefault(agent.id, set())
        elif agent.verifier:
            wanted.setdefault(agent.verifier, set()).add(agent.id)
    assigned = {entry.name: set(entry.assigned_agents) for entry in status.verification}
    for name in sorted(wanted.keys() | assigned.keys()):
        if wanted.get(name) != assigned.get(name):
            text = f"the assigned agents of the verifier {name} are not those of the plan"
            yield _of_status(
                Rule.STATUS_VERIFIERS, text, f"write {', '.join(sorted(wanted.get(name, ()))) or 'none'}"
            )


def _of_status(rule: Rule, text: str, correction: str) -> DesignFinding:
    return DesignFinding(rule, text, correction, file=STATUS_FILE)
