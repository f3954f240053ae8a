from __future__ import annotations

from itertools import product

import pytest

from orchestrator.model.workflow_records import AgentEvent as E
from orchestrator.model.workflow_records import AgentStatus as S
from orchestrator.model.workflow_records import Writer
from orchestrator.pm.state.agent_transitions import MOVES, Reason, Refusal, claimed_event, transition

UNVERIFIED = {S.PENDING, S.WORKING, S.REVIEW, S.READY, S.BLOCKED, S.FAILED}


def _rows() -> dict[tuple[S, E, Writer], S]:
    """The contract's table, written down a second time, in another form."""
    rows: dict[tuple[S, E, Writer], S] = {
        (S.PENDING, E.LAUNCH, Writer.DAEMON): S.WORKING,
        (S.WORKING, E.THINKS_DONE, Writer.OWN_RUN): S.REVIEW,
        (S.WORKING, E.ESCALATED, Writer.OWN_RUN): S.BLOCKED,
        (S.REVIEW, E.ESCALATED, Writer.OWN_RUN): S.BLOCKED,
        (S.REVIEW, E.CLAIMS_READY, Writer.OWN_RUN): S.READY,
        (S.WORKING, E.CLAIMS_READY, Writer.OWN_RUN): S.READY,
        (S.READY, E.PASS, Writer.VERIFIER_RUN): S.VERIFIED,
        (S.READY, E.FAIL, Writer.DAEMON): S.WORKING,
        (S.READY, E.CONFLICT, Writer.DAEMON): S.WORKING,
        (S.READY, E.INPUT_CHANGED, Writer.DAEMON): S.WORKING,
        (S.READY, E.GUIDE, Writer.USER): S.WORKING,
        (S.VERIFIED, E.INPUT_CHANGED, Writer.DAEMON): S.WORKING,
        (S.VERIFIED, E.REINSTRUCTED, Writer.DAEMON): S.WORKING,
        (S.READY, E.REINSTRUCTED, Writer.DAEMON): S.WORKING,
        (S.BLOCKED, E.REINSTRUCTED, Writer.DAEMON): S.WORKING,
        (S.PENDING, E.QUESTION, Writer.DAEMON): S.WORKING,
        (S.VERIFIED, E.QUESTION, Writer.DAEMON): S.WORKING,
        (S.WORKING, E.ANSWER_TAKEN, Writer.DAEMON): S.PENDING,
        (S.VERIFIED, E.WORKFLOW_ENDED, Writer.DAEMON): S.COMPLETE,
        (S.BLOCKED, E.ANSWERED, Writer.DAEMON): S.WORKING,
    }
    for event in (E.RETRY, E.GUIDE, E.MODIFY):
        rows[S.BLOCKED, event, Writer.USER] = rows[S.FAILED, event, Writer.USER] = S.WORKING
    for status in UNVERIFIED:
        rows[status, E.BOUND_ASKS, Writer.DAEMON] = S.BLOCKED
        rows[status, E.CRASHES_EXHAUSTED, Writer.DAEMON] = S.FAILED
        rows[status, E.ABANDON, Writer.USER] = S.FAILED
        rows[status, E.NEED_ADDED, Writer.DAEMON] = S.PENDING
    return rows


ROWS = _rows()


@pytest.mark.parametrize("status", S)
def test_each_event_from_each_writer_in_a_status(status):
    for event, writer in product(E, Writer):
        result = transition(status, event, writer)
        wanted = ROWS.get((status, event, writer), status)
        if wanted is status:
            assert isinstance(result, Refusal), (event, writer)
            assert str(result)
        else:
            assert result is wanted, (event, writer)


def test_refusal_names_who_could_bring_it():
    refused = transition(S.READY, E.PASS, Writer.OWN_RUN)
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.writers) == (Reason.NOT_BY_THIS_WRITER, (Writer.VERIFIER_RUN,))


def test_no_two_rows_say_the_same_of_one_status_and_event():
    keys = [(source, move.event) for move in MOVES for source in move.sources]
    assert len(keys) == len(set(keys))


def test_every_status_can_be_reached_and_left_but_the_last():
    assert {move.target for move in MOVES} == set(S)
    assert {source for move in MOVES for source in move.sources} == set(S) - {S.COMPLETE}


def test_written_status_is_a_claim_where_a_run_may_write_it():
    """A written status is a claim only where a run may write it."""
    claims = {status: claimed_event(status) for status in S}
    assert {status for status, event in claims.items() if event} == {S.REVIEW, S.BLOCKED, S.READY, S.VERIFIED}
    for event in claims.values():
        assert event is None or all(
            set(move.writers) <= {Writer.OWN_RUN, Writer.VERIFIER_RUN}
            for move in MOVES
            if move.event is event
        )
