"""Which runtime an agent gets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Final

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Policy
from orchestrator.model.programs import Program
from orchestrator.model.registry import Registry
from orchestrator.runtimes import Runtime

COMMAND: Final = "command"


def _shipped(name: str, kind: str) -> Runtime:
    """Return a runtime that ships. Its module is imported when it is first asked for."""
    made: Runtime = getattr(import_module(f"orchestrator.runtimes.{name}"), kind)()
    return made


_CLASSES: Final = {
    COMMAND: "Command",
    "claude": "Claude",
    "codex": "Codex",
    "gemini": "Gemini",
    "opencode": "Opencode",
    "kiro": "Kiro",
    "aider": "Aider",
}

RUNTIMES: Final = Registry[Runtime](
    "runtime", {name: partial(_shipped, name, kind) for name, kind in _CLASSES.items()}
)


def runtime_of(agent: Agent, defined: Sequence[Program] = ()) -> Runtime:
    """Return the runtime that the definition names; `auto` is `command` for an agent that has one.

    Args:
        agent: the agent's definition.
        defined: the programs of the settings.

    Raises:
        Refused: there is no such runtime, or `auto` finds none.

    """
    name = agent.runtime
    if name == "auto" and agent.command:
        name = COMMAND
    if name in RUNTIMES:
        return RUNTIMES[name]
    for program in defined:
        if program.name == name:
            from orchestrator.runtimes.configured import Configured

            return Configured(program, RUNTIMES.get(program.events))
    known = ", ".join((*RUNTIMES, *(program.name for program in defined)))
    if name == "auto":
        raise Refused(
            f"agent {agent.name} names no runtime and no command, and no agent CLI was found (`task doctor` says "
            f"how to get one): write `{agent.name}.command: …` or `{agent.name}.runtime: …` ({known}) under Agent "
            "Config of task.md"
        )
    raise Refused(f"agent {agent.name} asks for the runtime {name[:40]!a}: there is {known}")


def runtime_known(agent: Agent, defined: Sequence[Program]) -> Runtime:
    """Return the runtime of an agent that was launched. One that the settings define no more tells nothing."""
    try:
        return runtime_of(agent, defined)
    except Refused:
        return RUNTIMES[COMMAND]


def denied_in_vain(runtime: Runtime, policy: Policy) -> PermissionRule | None:
    """Return a rule that denies what a program does without asking leave, or None if all that deny hold."""
    denials = (rule for rule in policy.rules if rule.decision is PermissionDecision.DENY)
    return next((rule for rule in denials if (rule.act or Act.OTHER) in runtime.unruled), None)
