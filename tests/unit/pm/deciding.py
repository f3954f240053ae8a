"""Decides as the daemon does, and holds each decision against what must hold for all of them."""

from __future__ import annotations

import json

from orchestrator.daemon.journal import codec
from orchestrator.daemon.journal.store import replayed
from orchestrator.model.actions import Launch
from orchestrator.model.facts import Fact, TimePassed
from orchestrator.model.limits import Limits
from orchestrator.pm.decide import decide
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.run_changes import RunOpened
from orchestrator.pm.state.task_state import PMState
from tests.simulation.engine.laws import broken_laws
from tests.unit.pm.scans import assert_kept_is_found


def decided(state: PMState, fact: Fact, limits: Limits) -> Decision:
    """Decide on a fact; the decision is pure, replays, survives the journal and leaves a lawful state."""
    before = codec.dumped_state(state)
    decision = decide(state, fact, limits)
    assert decide(state, fact, limits) == decision, "the same arguments gave another decision"
    assert codec.dumped_state(state) == before, "the state was changed in place"
    assert decision.empty == (decision.state == state), "a decision is empty if and only if nothing changed"
    _journaled(state, fact, decision)
    _runs_are_new(state, decision)
    assert_kept_is_found(decision.state, limits.max_concurrent_runs)
    settled = decide(decision.state, TimePassed(fact.at, "settled"), limits).state
    broken = broken_laws(settled, limits, fact.at)
    assert not broken, broken
    return decision


def _journaled(state: PMState, fact: Fact, decision: Decision) -> None:
    read = json.loads(codec.dumped(codec.encoded_fact(fact)))
    assert codec.decoded_fact(read) == fact
    changes = codec.decoded_changes(json.loads(codec.dumped(codec.encoded_changes(decision.changes))))
    actions = codec.decoded_actions(json.loads(codec.dumped(codec.encoded_actions(decision.actions))))
    assert (changes, actions) == (decision.changes, decision.actions)
    assert replayed(state, changes, actions) == decision.state
    snapshot = json.loads(codec.dumped_state(decision.state))
    read_again = codec.decoded_state(snapshot)
    assert read_again == decision.state
    assert_kept_is_found(read_again, 4)


def _runs_are_new(state: PMState, decision: Decision) -> None:
    opened = [change.run.id for change in decision.changes if isinstance(change, RunOpened)]
    assert len(set(opened)) == len(opened)
    assert not set(opened) & set(state.runs), "a run was opened twice"
    assert [action.run for action in decision.actions if isinstance(action, Launch)] == opened
    ids = [action.id for action in decision.actions]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & set(state.outbox)
