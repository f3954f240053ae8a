"""Every block of the document that is a file is read as it stands and written back equal (C1, C4, C6)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.formats.coordination import json_report
from orchestrator.formats.coordination.completeness import lacking
from orchestrator.formats.coordination.handoff import read_handoff, render_handoff
from orchestrator.formats.coordination.records import read_chain, read_index, render_chain, render_index
from orchestrator.formats.coordination.status import read_role_status, render_role_status
from orchestrator.formats.preamble import report_form
from orchestrator.model.coordination import (
    AgentActivity,
    ChainOutcome,
    DeliverableKind,
    HandoffStatus,
    IssueSeverity,
    PipelineRole,
    Transition,
    WaitingFor,
)
from orchestrator.model.memory import MemoryKind
from orchestrator.model.plan import Gate
from tests.unit.formats.coordination.documents import BLOCKS, HANDOFFS, WHOLE

READERS: dict[str, tuple[Callable[..., Any], Callable[..., bytes]]] = {
    **dict.fromkeys(HANDOFFS, (read_handoff, render_handoff)),
    "agent status": (read_role_status, render_role_status),
    "chain": (read_chain, render_chain),
    "index": (read_index, render_index),
}


def test_every_json_block_is_read_here():
    assert set(READERS) == {title for title, text in BLOCKS.items() if text.startswith("{")}
    assert len(READERS) == 14


@pytest.mark.parametrize("title", READERS)
def test_block_is_written_back_as_it_was(title):
    read, render = READERS[title]
    data = BLOCKS[title].encode()
    assert render(read(data, "a file"), data) == data


@pytest.mark.parametrize("title", READERS)
def test_block_written_afresh_is_equal(title):
    """No field is added, dropped or renamed, and each stays in its type."""
    read, render = READERS[title]
    written = render(read(BLOCKS[title].encode(), "a file"))
    assert json.loads(written) == json.loads(BLOCKS[title])


@pytest.mark.parametrize("title", ["handoff", "agent status", "chain", "index"])
def test_fields_are_written_in_the_order_of_the_document(title):
    read, render = READERS[title]
    assert render(read(BLOCKS[title].encode(), "a file")).decode() == BLOCKS[title]


@pytest.mark.parametrize("title", WHOLE)
def test_whole_examples_lack_nothing(title):
    assert lacking(read_handoff(BLOCKS[title].encode(), "a file")) == ()


@pytest.mark.parametrize("title", sorted(set(HANDOFFS) - set(WHOLE)))
def test_fragments_lack_something(title):
    reasons = lacking(read_handoff(BLOCKS[title].encode(), "a file"))
    assert "`handoff.handoffId` is missing" in reasons


def test_values_of_the_first_example():
    found = read_handoff(BLOCKS["handoff"].encode(), "handoff_1702311000000_a1b2c3d4.json")
    assert (found.head.source, found.head.target) == (PipelineRole.PLANNER, PipelineRole.IMPLEMENTER)
    assert found.head.transition is Transition.IMPLEMENT
    assert found.deliverable is not None
    assert found.deliverable.kind is DeliverableKind.IMPLEMENTATION_PLAN
    assert found.memory is not None
    assert found.memory.referenced == ("mem_1702200000_xyz789",)
    assert found.others == ()


def test_every_value_of_waiting_for_is_in_the_document():
    text = "".join(BLOCKS.values())
    assert {each for each in WaitingFor if f'waitingFor "{each}"' in text} == {
        WaitingFor.APPROVAL,
        WaitingFor.CLARIFICATION,
        WaitingFor.DEPENDENCY,
    }


KINDS = (
    AgentActivity, ChainOutcome, DeliverableKind, HandoffStatus, IssueSeverity, MemoryKind, PipelineRole, Transition,
    WaitingFor,
)  # fmt: skip

ROOT = Path(__file__).parents[4]
SOURCES = {path: path.read_text() for path in (ROOT / "orchestrator").rglob("*.py")}
TOLD = "".join(
    [
        json_report.form(report_form("auditor", "r-1", "pm-1.md", None, (Gate.HANDOFF,))),
        (ROOT / "scripts" / "status-update.sh").read_text(),
    ]
)
"""What agents of roles are told that they may say: in their order, and by the script for their status."""


@pytest.mark.parametrize("value", [each for kind in KINDS for each in kind], ids=lambda each: each.name)
def test_every_value_is_used(value):
    """Either the PM decides or writes by it, or agents are told that they may say it: no value is read for nothing."""
    name = f"{type(value).__name__}.{value.name}"
    used = any(
        name in text for path, text in SOURCES.items() if path.name not in {"coordination.py", "memory.py"}
    )
    assert used or re.search(rf"\b{value}\b", TOLD), name
