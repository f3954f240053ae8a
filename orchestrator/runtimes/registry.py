"""Which runtime an agent gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Final

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.model.permission import Act, PermissionRule, Policy, Ruling
from orchestrator.model.programs import Program
from orchestrator.runtimes import Runtime

COMMAND: Final = "command"


class _Shipped(Mapping[str, Runtime]):
    """The runtimes that ship, by name. Each is imported when it is first asked for: of most, `task` needs the name."""

    _classes: Final = {
        COMMAND: "Command",
        "claude": "Claude",
        "codex": "Codex",
        "gemini": "Gemini",
        "opencode": "Opencode",
        "kiro": "Kiro",
        "aider": "Aider",
    }

    def __init__(self) -> None:
        self._made: dict[str, Runtime] = {}

    def __getitem__(self, name: str) -> Runtime:
        if name not in self._made:
            made = self._classes[name]
            self._made[name] = getattr(import_module(f"orchestrator.runtimes.{name}"), made)()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


RUNTIMES: Final[Mapping[str, Runtime]] = _Shipped()


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
    denials = (rule for rule in policy.rules if rule.ruling is Ruling.DENY)
    return next((rule for rule in denials if (rule.act or Act.OTHER) in runtime.unruled), None)
