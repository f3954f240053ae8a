"""Decides as the daemon does, and holds each decision against what must hold for all of them."""

from __future__ import annotations

import json
from typing import Final

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
from tests.unit.pm.scans import assert_kept_is_found, assert_same_is_kept

_LAST: Final[dict[int, tuple[PMState, str]]] = {}
"""The state that was decided last, and what it is in the journal: the next decision begins with it."""


def decided(state: PMState, fact: Fact, limits: Limits) -> Decision:
    """Decide on a fact; the decision is pure, replays, survives the journal and leaves a lawful state."""
    before = _LAST[id(state)][1] if id(state) in _LAST else codec.dumped_state(state)
    decision = decide(state, fact, limits)
    assert decide(state, fact, limits) == decision, "the same arguments gave another decision"
    assert codec.dumped_state(state) == before, "the state was changed in place"
    assert decision.empty == (decision.state == state), "a decision is empty if and only if nothing changed"
    _journaled(state, fact, decision)
    # An empty decision leaves the state that was held to the same when it came about.
    _remember(decision.state, before if decision.empty else _snapshot(decision.state, limits))
    _runs_are_new(state, decision)
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


def _snapshot(state: PMState, limits: Limits) -> str:
    """Return a state as the journal has it, once it was read back from there and all that it keeps was found."""
    text = codec.dumped_state(state)
    read_again = codec.decoded_state(json.loads(text))
    assert read_again == state
    assert_kept_is_found(state, limits.max_concurrent_runs)
    assert_same_is_kept(state, read_again)
    return text


def _remember(state: PMState, text: str) -> None:
    _LAST.clear()
    _LAST[id(state)] = (state, text)


def _runs_are_new(state: PMState, decision: Decision) -> None:
    opened = [change.run.id for change in decision.changes if isinstance(change, RunOpened)]
    assert len(set(opened)) == len(opened)
    assert not set(opened) & set(state.runs), "a run was opened twice"
    assert [action.run for action in decision.actions if isinstance(action, Launch)] == opened
    ids = [action.id for action in decision.actions]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & set(state.outbox)
