"""What an approval signs: the plan as canonical JSON, with the instructions and definitions that it names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from orchestrator.formats.workflow.plan_values import plan_values
from orchestrator.model.agents import Agent
from orchestrator.model.workflow import WorkflowPlan

_NOT_SIGNED: Final = ("approval", "bounds", "groups", "max_parallel")
"""What says who approved, and how often and how many at once: it may be tuned without a new approval."""


def canonical(value: Any) -> bytes:  # noqa: ANN401 (any JSON value)
    """Return a JSON value in one spelling: keys sorted, no spaces, UTF-8."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def approval_hash(
    plan: WorkflowPlan, instructions: Mapping[str, bytes], definitions: Mapping[str, bytes]
) -> str:
    """Return what an approval of a design signs.

    It is the same for two spellings of one plan, and another after any change that matters.

    Args:
        plan: The plan. Its approval, bounds, groups and `max_parallel` do not count.
        instructions: The contents of instructions by their path. Those that the plan does not name do not count.
        definitions: The contents of definitions by name, likewise.

    """
    values = plan_values(plan)
    for key in _NOT_SIGNED:
        del values[key]
    for agent in values["agents"]:
        del agent["bounds"]
    paths, personas = {agent.instructions for agent in plan.agents}, {agent.persona for agent in plan.agents}
    signed = {
        "plan": values,
        "instructions": {path: _sha256(data) for path, data in instructions.items() if path in paths},
        "definitions": {name: _sha256(data) for name, data in definitions.items() if name in personas},
    }
    return _sha256(canonical(signed))


def definition_bytes(agent: Agent) -> bytes:
    """Return what an approval signs of a definition: all that decides how it is run, and not where it was found."""
    return canonical(
        {
            "name": agent.name,
            "role": agent.role.value if agent.role else None,
            "prompt": agent.prompt,
            "tools": list(agent.tools),
            "model": agent.model,
            "runtime": agent.runtime,
            "command": list(agent.command),
            "check": list(agent.check),
        }
    )


def plan_hash(plan: WorkflowPlan) -> str:
    """Return the name of a version of a plan: everything in it counts but its approval."""
    values = plan_values(plan)
    del values["approval"]
    return _sha256(canonical(values))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
