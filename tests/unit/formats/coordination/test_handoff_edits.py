"""What an edit of an archived handoff says, whenever it was made; what is refused of it (C3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.formats.coordination.handoff_edits import OVER, HandoffEdit, edit_of
from orchestrator.model.coordination import (
    HandoffHead,
    HandoffStatus,
    Issue,
    IssueSeverity,
    PipelineRole,
    RoleHandoff,
    Transition,
)

PENDING, ACCEPTED, REJECTED, COMPLETED = HandoffStatus
WHY, MORE = (Issue(IssueSeverity.HIGH, each) for each in ("It leaks", "It is slow"))


def handoff(status: HandoffStatus = ACCEPTED, *issues: Issue) -> RoleHandoff:
    """Return a handoff that stands like that."""
    head = HandoffHead(
        PipelineRole.PLANNER, PipelineRole.IMPLEMENTER, None, Transition.IMPLEMENT, status, "id"
    )
    return RoleHandoff(head, issues=issues)


@pytest.mark.parametrize("known", HandoffStatus)
@pytest.mark.parametrize("shown", [True, False])
def test_file_as_it_was_says_nothing(known: HandoffStatus, *, shown: bool) -> None:
    """Neither one that is up to date nor one that a killed daemon had not written yet."""
    whole = handoff(known, WHY)
    assert edit_of(whole, whole, whole if shown else None).is_empty
    if known is not PENDING:
        assert edit_of(handoff(PENDING), whole, handoff(PENDING) if shown else None).is_empty


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("status", [REJECTED, COMPLETED])
def test_receiver_moves_the_status_and_adds_issues(status: HandoffStatus, *, shown: bool) -> None:
    """Both in one edit, or one of them; whether or not the file's last state is remembered."""
    known = handoff(ACCEPTED, WHY)
    base = known if shown else None
    assert edit_of(handoff(status, WHY, MORE), known, base) == HandoffEdit(status, (MORE,))
    assert edit_of(handoff(ACCEPTED, WHY, MORE), known, base) == HandoffEdit(None, (MORE,))
    assert edit_of(handoff(status, WHY), known, base) == HandoffEdit(status)


def test_rejection_without_a_reason_is_known() -> None:
    """Its reasons may come as a further edit."""
    assert edit_of(handoff(REJECTED), handoff(), None).lacks_reason
    assert not edit_of(handoff(REJECTED, WHY), handoff(), None).lacks_reason
    assert not edit_of(handoff(COMPLETED), handoff(), None).lacks_reason


def test_what_was_said_before_the_pm_went_on_counts() -> None:
    """An issue that was added while the PM accepted; a status that it has reached by itself says nothing new."""
    assert edit_of(handoff(PENDING, WHY), handoff(ACCEPTED), handoff(PENDING)) == HandoffEdit(None, (WHY,))
    assert edit_of(handoff(ACCEPTED), handoff(ACCEPTED), handoff(PENDING)).is_empty
    assert edit_of(handoff(COMPLETED), handoff(COMPLETED, WHY), handoff(ACCEPTED)).is_empty
    assert edit_of(handoff(COMPLETED), handoff(ACCEPTED), handoff(PENDING)) == HandoffEdit(COMPLETED)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (handoff(PENDING), handoff(ACCEPTED)),
        (handoff(ACCEPTED), handoff(ACCEPTED, WHY)),
        (handoff(ACCEPTED, MORE), handoff(ACCEPTED, WHY)),
        (replace(handoff(), head=replace(handoff().head, source=PipelineRole.AUDITOR)), handoff()),
        (replace(handoff(), others=((("x",), "1"),)), handoff()),
        (handoff(ACCEPTED), handoff(REJECTED)),
        (handoff(COMPLETED, WHY), handoff(COMPLETED)),
    ],
)
def test_other_edits_are_refused(said: RoleHandoff, known: RoleHandoff) -> None:
    """Back in the lifecycle, an issue lost or changed, another field, and anything of a handoff that is over."""
    assert edit_of(said, known, known).refused


@pytest.mark.parametrize(("said", "known"), [(REJECTED, COMPLETED), (COMPLETED, REJECTED)])
def test_two_ends_at_once_are_one(said: HandoffStatus, known: HandoffStatus) -> None:
    """What the PM recorded stays, and whoever set the other is told."""
    assert known in OVER
    assert edit_of(handoff(said, WHY), handoff(known), handoff(ACCEPTED)).refused
