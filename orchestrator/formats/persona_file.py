"""Personas of workflows: agent definitions that also say how they are invoked and what they write (WF, Agent Types).

Only those that ship are read in this form. What a CLI gets is an agent definition, a slash command, or both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.formats.agent_file import read_agent
from orchestrator.formats.command_forms import ARGUMENTS, SlashCommand
from orchestrator.formats.front_matter import Field, read_front_matter
from orchestrator.formats.text import decoded, refused
from orchestrator.model.agents import Agent
from orchestrator.model.errors import Fault

_COMMAND: Final = "persona-{}"
_HINT: Final = "NAME"
_BEFORE: Final = f"""\
Take on the persona below in this conversation, until I end it. The workflow, and what else I ask for: {ARGUMENTS}

"""


class Invocation(StrEnum):
    """How a persona comes to act (WF, Agent Invocation Patterns)."""

    INTERACTIVE = "interactive"  # in a conversation with the user
    AUTONOMOUS = "autonomous"  # as an agent of its own


@dataclass(frozen=True, slots=True)
class Persona:
    """An agent of the workflow document. `writes` are paths in `orchestration/`, or in the project (`tasks/…`)."""

    agent: Agent
    invocation: frozenset[Invocation]
    writes: tuple[str, ...] = ()

    @property
    def command(self) -> SlashCommand:
        """The slash command by which a conversation takes on this persona."""
        name, text = _COMMAND.format(self.agent.name), _BEFORE + self.agent.prompt
        return SlashCommand(name, self.agent.description, _HINT, text)


def read_persona(data: bytes, name: str) -> Persona:
    """Return a shipped persona. Raises BadFile: it is no agent definition, or does not say how it is invoked."""
    agent = read_agent(data, name, trusted=True)
    fields = read_front_matter(decoded(data, name)).fields
    field = fields.get("invocation", Field(0, ""))
    words = [word.strip() for value in _listed(field) for word in value.split(",")]
    if unknown := [word for word in words if word not in list(Invocation)]:
        reason = f"`invocation` is {unknown[0]!a}: write {' or '.join(Invocation)}, or both"
        raise refused(name, [Fault(field.line, reason)])
    writes = _listed(fields["writes"]) if "writes" in fields else ()
    return Persona(agent, frozenset(map(Invocation, words)), writes)


def _listed(field: Field) -> tuple[str, ...]:
    return (field.value,) if isinstance(field.value, str) else field.value
