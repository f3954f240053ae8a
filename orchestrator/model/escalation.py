"""Escalated notes of a workflow's agent, on their way to an answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.model.workflow import PlanEdit
from orchestrator.model.workflow_records import NoteKind, Resolver


class Via(StrEnum):
    """Who has to answer a note next."""

    USER = "user"  # the user is asked
    ARCHITECT = "architect"  # the plan's architect gets a task
    RESOLVER = "resolver"  # the plan's resolver answers, routes, or checks an answer
    LOOP = "loop"  # the plan's loop agent finds out why the question keeps coming back
    NOBODY = "nobody"  # it has its answer


class CaseState(StrEnum):
    """Where an escalation stands."""

    WAITING = "waiting"  # others came first
    ASKED = "asked"  # somebody is at work on an answer
    SETTLED = "settled"  # each note has its answer, or does not matter any more


@dataclass(frozen=True, slots=True)
class CaseNote:
    """One escalated note. `answer` is what was answered so far, by `by`; it counts once `via` is NOBODY.

    `question` is the note's description, and `put` how a resolver asks for it when it passes the note on. `checked` are
    the agents that the resolver looked at for conflicts, `overrides` the earlier answers that it contradicts. `edits`
    wait for the user's approval.
    """

    id: str
    kind: NoteKind
    question: str
    via: Via
    answer: str = ""
    by: Resolver = Resolver.EXECUTOR
    checked: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    edits: tuple[PlanEdit, ...] = ()
    put: str = ""

    @property
    def wording(self) -> str:
        """What whoever has to answer next is asked."""
        return self.put or self.question


@dataclass(frozen=True, slots=True)
class EscalationCase:
    """All escalated notes of one agent, raised together by `step`; `number` gives the order in which they came.

    `to` is whom it waits for now, and `answering` the step of the agent that was asked. `depth` counts how often an
    agent that was asked passed a note on, `loop` says that the same was asked too often, and `bounded` that other
    agents answered so many escalations of this agent in a row that the user is asked about this one.
    """

    number: int
    step: str
    agent: str
    task_id: str
    at: float
    notes: tuple[CaseNote, ...]
    state: CaseState = CaseState.WAITING
    to: Via = Via.NOBODY
    answering: str = ""
    loop: bool = False
    depth: int = 0
    bounded: bool = False

    @property
    def open(self) -> bool:
        """Return whether an answer is still awaited."""
        return self.state is not CaseState.SETTLED
