"""Edits of a running plan, as agents and users write them in JSON."""

from __future__ import annotations

from typing import Any, Final

from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.nodes import Fields, read_json
from orchestrator.formats.workflow.plan import (
    read_agent_node,
    read_evidence,
    read_inputs,
    read_own_bounds,
)
from orchestrator.formats.workflow.plan_values import agent_values, evidence_values, input_values
from orchestrator.model.workflow import EditKind, PlanEdit

MOST_EDITS: Final = 200

EDIT_FIELDS: Final = {
    EditKind.ADD_AGENT: ("added", "instructions"),
    EditKind.REMOVE_AGENT: (),
    EditKind.SET_NEEDS: ("needs",),
    EditKind.SET_INPUTS: ("inputs",),
    EditKind.REINSTRUCT: ("instructions",),
    EditKind.SET_EVIDENCE: ("evidence",),
    EditKind.SET_OUTPUTS: ("outputs",),
    EditKind.SET_VERIFIER: ("verifier",),
    EditKind.SET_BOUNDS: ("bounds",),
}
"""Which fields an edit of each kind has, beside `edit` and `agent`: all of them, and no other."""


def read_edits(data: bytes, name: str = "edits.json", limit: int = FILE_BYTES) -> tuple[PlanEdit, ...]:
    """Return the edits in a file `{"edits": [...]}`.

    Raises:
        BadFile: with every fault.

    """
    return read_json(data, name, lambda found: edits_in(found, required=True), limit)


def edits_in(found: Fields, key: str = "edits", *, required: bool = False) -> tuple[PlanEdit, ...]:
    """Return the edits in a list of objects; what is wrong goes into the faults of `found`."""
    nodes = found.nodes(key, required=required, most=MOST_EDITS)
    return tuple(
        _edit(Fields(node, f"{found.path(key)}[{at}]", found.faults)) for at, node in enumerate(nodes)
    )


def edit_values(edit: PlanEdit) -> dict[str, Any]:
    """Return an edit as plain values; `read_edits` reads it back."""
    values: dict[str, Any] = {
        "added": agent_values(edit.added) if edit.added else None,
        "instructions": edit.instructions,
        "needs": list(edit.needs),
        "inputs": [input_values(each) for each in edit.inputs],
        "evidence": [evidence_values(each) for each in edit.evidence],
        "outputs": list(edit.outputs),
        "verifier": edit.verifier or None,
        "bounds": dict(edit.bounds),
    }
    wanted = EDIT_FIELDS[edit.kind]
    return {"edit": edit.kind.value, "agent": edit.agent} | {key: values[key] for key in wanted}


def _edit(found: Fields) -> PlanEdit:
    kind = found.member("edit", EditKind)
    agent = found.name("agent")
    wanted = EDIT_FIELDS[kind]
    for key in found.names_of_fields:
        if key not in {"edit", "agent", *wanted}:
            has = ", ".join(("edit", "agent", *wanted))
            found.fault(f"`{found.path(key)}`: {kind.value} has no field {key[:40]!a}; it has {has}")
    added = None
    if kind is EditKind.ADD_AGENT:
        node = found.node("added")
        if node is None:
            found.fault(f"`{found.path('added')}` is missing: write the whole agent, as in the plan")
        else:
            added = read_agent_node(node, found.path("added"), found.faults)
            if agent and added.id and added.id != agent:
                found.fault(
                    f"`{found.path('agent')}` is {agent}, and `added` is {added.id}: write one of them in both"
                )
    for key in wanted:
        if key not in {"added", "instructions", "verifier"} and not found.has(key):
            found.fault(f"`{found.path(key)}` is missing: write the new value, an empty one too")
    if "verifier" in wanted and "verifier" not in found.names_of_fields:
        found.fault(f"`{found.path('verifier')}` is missing: name an agent")
    return PlanEdit(
        kind=kind,
        agent=agent,
        added=added,
        needs=found.names("needs") if "needs" in wanted else (),
        inputs=read_inputs(found) if "inputs" in wanted else (),
        instructions=found.text("instructions", blank=False) if "instructions" in wanted else "",
        evidence=read_evidence(found) if "evidence" in wanted else (),
        outputs=found.texts("outputs") if "outputs" in wanted else (),
        verifier=found.name("verifier", "") if "verifier" in wanted else "",
        bounds=read_own_bounds(found) if "bounds" in wanted else (),
    )
