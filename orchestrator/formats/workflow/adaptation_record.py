"""`records/adaptations/N.json`: what an adaptation of a running plan changed, and what it did to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.formats.workflow.edits import edit_values
from orchestrator.formats.workflow.json_text import json_text

if TYPE_CHECKING:
    from orchestrator.model.workflow_records import AdaptationRecord


def adaptation_text(record: AdaptationRecord) -> bytes:
    """Return a record as a file. `approval` is void where an agent proposed what the user then approved of."""
    return json_text(
        {
            "number": record.number,
            "at": int(record.at),
            "by": record.by,
            "cause": record.cause,
            "base": record.base,
            "result": record.result,
            "edits": [edit_values(edit) for edit in record.edits],
            "effects": [{"agent": agent, "effect": effect.value} for agent, effect in record.effects],
            "approval": "void" if record.voids else "kept",
        }
    )
