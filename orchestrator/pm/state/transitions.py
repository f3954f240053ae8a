"""The published tables of legal moves. What is not in a table cannot be expressed (H10).

The phases join two rules: explore comes before plan, and each subtask goes through dev, test and review in turn.
Two moves are ours: a plan with nothing to do goes straight to its last review, and failing tests iterate.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from orchestrator.model.plan import StepState as S
from orchestrator.model.task import Phase as P
from orchestrator.model.task import TaskState as T


class IllegalMove(Exception):
    """A move that no table allows: a bug of ours. The decision is thrown away and nothing changes."""


PHASES: Final[dict[P, frozenset[P]]] = {
    P.PLANNING: frozenset({P.EXPLORING, P.DEVELOPING, P.TESTING, P.REVIEWING, P.BLOCKED}),
    P.EXPLORING: frozenset({P.PLANNING, P.REVIEWING, P.BLOCKED}),
    P.DEVELOPING: frozenset({P.TESTING, P.REVIEWING, P.ITERATE, P.BLOCKED}),
    P.TESTING: frozenset({P.REVIEWING, P.ITERATE, P.BLOCKED}),
    P.REVIEWING: frozenset({P.COMPLETE, P.ITERATE, P.BLOCKED}),
    P.ITERATE: frozenset({P.EXPLORING, P.PLANNING, P.DEVELOPING, P.TESTING}),
    P.BLOCKED: frozenset({P.EXPLORING, P.PLANNING, P.DEVELOPING, P.TESTING, P.REVIEWING}),
    P.COMPLETE: frozenset({P.ITERATE}),
}

STEPS: Final[dict[S, frozenset[S]]] = {
    S.PENDING: frozenset({S.WORKING, S.BLOCKED, S.SET_ASIDE}),
    S.WORKING: frozenset({S.PENDING, S.CHECKING, S.PASSED, S.BLOCKED, S.FAILED, S.SET_ASIDE}),
    S.CHECKING: frozenset({S.PENDING, S.PASSED, S.BLOCKED, S.FAILED, S.SET_ASIDE}),
    S.PASSED: frozenset({S.PENDING, S.BLOCKED, S.SET_ASIDE}),
    S.BLOCKED: frozenset({S.PENDING, S.CHECKING, S.PASSED, S.SET_ASIDE}),
    S.FAILED: frozenset({S.PENDING, S.SET_ASIDE}),
    S.SET_ASIDE: frozenset({S.PENDING}),
}

TASKS: Final[dict[T, frozenset[T]]] = {
    T.RUNNING: frozenset({T.WAITING, T.STOPPED, T.COMPLETE, T.PARTIAL, T.FAILED}),
    T.WAITING: frozenset({T.RUNNING, T.STOPPED, T.COMPLETE, T.PARTIAL, T.FAILED}),
    T.STOPPED: frozenset({T.RUNNING, T.PARTIAL, T.FAILED}),
    T.COMPLETE: frozenset({T.RUNNING}),
    T.PARTIAL: frozenset({T.RUNNING}),
    T.FAILED: frozenset({T.RUNNING}),
}


def phase_path(start: P, goal: P) -> tuple[P, ...]:
    """Return the shortest legal way from one phase to another, without the start; empty if already there.

    Going back from a review is one move for a user and two in the table (ITERATE, then the phase): this finds both.
    """
    ways: deque[tuple[P, ...]] = deque([()])
    met = {start}
    while ways:
        way = ways.popleft()
        here = way[-1] if way else start
        if here is goal:
            return way
        for onward in sorted(PHASES[here] - met):
            # ITERATE and BLOCKED have a meaning of their own; a way through BLOCKED would claim it wrongly.
            if onward is not P.BLOCKED or goal is P.BLOCKED:
                met.add(onward)
                ways.append((*way, onward))
    raise IllegalMove(f"no way from {start} to {goal}")
