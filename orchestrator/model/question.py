"""Questions: what only somebody else can answer (law 10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.model.budget import Measure
from orchestrator.model.permission import PermissionRule


class QuestionKind(StrEnum):
    """Why somebody is asked."""

    STUCK = "stuck"  # a bound was reached: blocked, rejected, crashed, silent
    LOOP = "loop"  # the same is asked again and again
    CRITERIA = "criteria"  # success criteria are not met
    DIALOG = "dialog"  # an agent waits at a dialog on its screen
    APPROVAL = "approval"  # something was to be approved before it is done
    PERMISSION = "permission"  # an agent wants to do what no rule allows
    DELETES = "deletes"  # an agent's file operations delete files
    PREPARATION = "preparation"  # a worktree could not be made ready
    ACCOUNT = "account"  # a program's login or credit is gone
    PM = "pm"  # the PM agent asks
    BUDGET = "budget"  # the task has used what it may
    BOX = "box"  # a box refuses, or has not answered for long
    TERMINATION = "termination"  # a run was asked to end, and nothing shows that it is gone
    FOLDER = "folder"  # the task's folder in its project is gone, or cannot be used
    DAMAGE = "damage"  # the journal was damaged


OPTIONS_ONLY: Final = frozenset({QuestionKind.PREPARATION, QuestionKind.FOLDER, QuestionKind.DAMAGE})
"""Kinds of which nothing but an option is an answer: no agent reads other words, and nothing else can be meant."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that a person must say. It holds up `step` and what needs that step, and nothing else.

    `run` is the live run that it is about, where it is about one. At `deadline` (seconds since the epoch), where
    policy gives one, nobody having answered, `default` is taken for the answer. `by` is who answered. `permission` is
    the rule that an answer of `always` gives, `measure` what the task has used up.
    """

    id: str
    step: str
    text: str
    options: tuple[str, ...]
    asked_at: float
    answer: str = ""
    answered_at: float | None = None
    kind: QuestionKind = QuestionKind.STUCK
    run: str = ""
    default: str = ""
    deadline: float | None = None
    by: str = ""
    permission: PermissionRule | None = None
    measure: Measure | None = None

    @property
    def open(self) -> bool:
        """True until it is answered."""
        return self.answered_at is None
