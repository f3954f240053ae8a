"""What a task's report consists of, as plain values.

Each item carries `line`, the number of the journal line that it comes from, so that a reader can look it up. Times are
seconds since the epoch. All texts are fit to be shown: secrets are masked, control characters visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class SpanKind(StrEnum):
    """What a stretch of time was spent on."""

    WORK = "work"  # an agent's program ran
    CHECK = "check"  # a command of the daemon ran
    LIMIT = "limit"  # a usage limit held a step up
    QUESTION = "question"  # a person was waited for
    BOX = "box"  # a box did not answer
    IDLE = "idle"  # no program ran, and nothing above explains it
    STOPPED = "stopped"  # the task was stopped, or over


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in a lane. `until` is None if it had not ended when the journal was read."""

    kind: SpanKind
    since: float
    until: float | None
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Lane:
    """The spans of one agent, or of one cause of waiting."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a step. `outcome` says in words what came of it in the end: a later judge may have rejected it."""

    number: int
    began: float | None
    ended: float | None
    outcome: str
    why: str
    feedback: str
    commit: str
    line: int


@dataclass(frozen=True, slots=True)
class StepStory:
    """A step of the plan, and its attempts, oldest first."""

    id: str
    agent: str
    title: str
    status: str
    why: str
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class QuestionStory:
    """A question, and its answer. `answered_at` is None while it is open; `by` is empty if the user answered."""

    id: str
    step: str
    text: str
    asked_at: float
    line: int
    answer: str = ""
    answered_at: float | None = None
    by: str = ""
    answer_line: int = 0


@dataclass(frozen=True, slots=True)
class CheckStory:
    """A command of the daemon that tested the work. `exit` is None if it did not end by itself."""

    step: str
    attempt: int
    at: float
    exit: int | None
    output: tuple[str, ...]
    line: int

    @property
    def passed(self) -> bool:
        """Whether it ended with status 0."""
        return self.exit == 0


@dataclass(frozen=True, slots=True)
class Incident:
    """Something out of the ordinary, with the last lines of what failed, if it failed."""

    at: float
    text: str
    output: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One journal line in sentences: the first is what happened, the others what was decided."""

    line: int
    at: float
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """A commit on the task's branch. `diff` is empty if it was left out, `cut` if not all of it is there."""

    commit: str
    at: float
    subject: str
    stat: str
    diff: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that reports named. `where` it is now: `the task's folder`, `the branch` or, if nowhere, empty."""

    path: str
    steps: tuple[str, ...]
    where: str
    line: int


@dataclass(frozen=True, slots=True)
class TaskReport:
    """All of it. `view` is what `task status NAME --json` shows. `commits` is None if they could not be read."""

    name: str
    id: str
    project: str
    made_at: float
    began: float | None
    ended: float | None
    view: Mapping[str, Any]
    lanes: tuple[Lane, ...] = ()
    steps: tuple[StepStory, ...] = ()
    questions: tuple[QuestionStory, ...] = ()
    checks: tuple[CheckStory, ...] = ()
    incidents: tuple[Incident, ...] = ()
    decisions: tuple[Decision, ...] = ()
    decisions_left_out: int = 0
    commits: tuple[CommitSeen, ...] | None = ()
    artifacts: tuple[Artifact, ...] = ()
    waits: tuple[Span, ...] = ()
    trust: tuple[str, ...] = ()
    unknown: tuple[str, ...] = field(default=())
