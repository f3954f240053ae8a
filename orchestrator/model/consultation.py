"""The PM as an agent: what it is asked, what it decides, and how it stands between it and the rules (H6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PMAction(StrEnum):
    """The `**Action:**` line of a PM agent's handoff (H6)."""

    ORDER = "ORDER"  # a step that may start is to start, or an agent gets an order beside the plan
    COMPLETE = "COMPLETE"  # nothing is left to order: the rules start what is left
    ASK = "ASK"  # a question to the user
    REPLAN = "REPLAN"  # a subtask is given up, and what it was to reach is planned anew
    WAIT = "WAIT"  # nothing now
    END = "END"  # a run is to be ended


@dataclass(frozen=True, slots=True)
class PMDecision:
    """One decision of the PM agent. Only `action` and `target` steer; the rest is passed on as data (law 7).

    `target` names an agent, a step, a subtask or an instance, `run` the run that says so, `options` are those of a
    question.
    """

    action: PMAction
    run: str = ""
    target: str = ""
    instructions: str = ""
    context: str = ""
    skills: tuple[str, ...] = ()
    criteria: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Directive:
    """What the PM agent adds to the orders of a step's attempt."""

    instructions: str = ""
    context: str = ""
    skills: tuple[str, ...] = ()
    criteria: str = ""


@dataclass(frozen=True, slots=True)
class ConsultationState:
    """How it stands between the rules and the PM agent.

    `number` counts the consultations, `step` is the one that is unsettled. `pending` came up since the last briefing,
    `briefing` is that of the open consultation; `fresh` says whether there is anything that it was not asked about.
    `decided` and `carried` count the decisions of the open consultation, and those of them that could be carried out;
    `freed`: the rules may start what is left. `ordered` are the steps that it wants started and that did not start
    yet; all others wait until `held_until`. `failed` counts consultations in a row of which nothing came.
    """

    number: int = 0
    step: str = ""
    opened_at: float = 0.0
    pending: tuple[str, ...] = ()
    briefing: tuple[str, ...] = ()
    fresh: bool = False
    decided: int = 0
    carried: int = 0
    freed: bool = False
    ordered: tuple[str, ...] = ()
    held_until: float = 0.0
    failed: int = 0
    given_up: bool = False
