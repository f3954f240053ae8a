"""The document of `task report --json`, field by field."""

from __future__ import annotations

from typing_extensions import TypedDict

from orchestrator.model.task import TaskState
from orchestrator.reporting.task_report import SpanKind
from scripts.reference.documents.parts import Moment, described
from scripts.reference.documents.status import AgentUse, Criterion, Outcome, TaskUse


@described
class ReportSpan(TypedDict):
    """A stretch of time."""

    kind: SpanKind
    """What it was spent on."""
    since: Moment
    """When it began."""
    until: Moment | None
    """When it ended; null if it had not when the report was made."""
    text: str
    """What it was, in words."""
    line: int
    """The journal line that tells of it; 0 if none does."""


@described
class ReportLane(TypedDict):
    """The spans of one agent, or of one cause of waiting."""

    name: str
    """The agent, or the cause."""
    spans: list[ReportSpan]
    """Its spans, the earliest first."""


@described
class ReportAttempt(TypedDict):
    """One try at a step."""

    number: int
    """Its number."""
    began: Moment | None
    """When its first run was opened."""
    ended: Moment | None
    """When it was decided."""
    outcome: str
    """What came of it in the end, in words."""
    why: str
    """Why."""
    feedback: str
    """What it was told to mend."""
    commit: str
    """Its work, or empty."""
    line: int
    """The journal line that tells of it."""


@described
class ReportStep(TypedDict):
    """A step of the plan."""

    id: str
    """Its id."""
    agent: str
    """The agent that does it."""
    title: str
    """What is to be done."""
    status: str
    """Its state, in words."""
    why: str
    """Why it is in its state."""
    attempts: list[ReportAttempt]
    """Its attempts, oldest first."""


@described
class ReportQuestion(TypedDict):
    """A question, and its answer."""

    id: str
    """Its id."""
    step: str
    """The step that it held up, or empty."""
    text: str
    """The question."""
    asked_at: Moment
    """When it was asked."""
    line: int
    """The journal line that asks it."""
    answer: str
    """The answer."""
    answered_at: Moment | None
    """When it was answered; null while it is open."""
    by: str
    """Who answered; empty: the user."""
    answer_line: int
    """The journal line of the answer; 0 while it is open."""


@described
class ReportCheck(TypedDict):
    """A command of the daemon that tested the work."""

    step: str
    """The step whose work it tested."""
    attempt: int
    """Which attempt at it."""
    at: Moment
    """When it ended."""
    exit: int | None
    """Its exit status; null if it did not end by itself."""
    output: list[str]
    """Its last lines."""
    line: int
    """The journal line that tells of it."""


@described
class ReportIncident(TypedDict):
    """Something out of the ordinary."""

    at: Moment
    """When."""
    text: str
    """What happened."""
    output: list[str]
    """The last lines of what failed."""
    line: int
    """The journal line that tells of it."""


@described
class ReportDecision(TypedDict):
    """One journal line."""

    line: int
    """Its number."""
    at: Moment
    """When it was written."""
    sentences: list[str]
    """What happened, then what was decided."""


@described
class ReportCommit(TypedDict):
    """A commit on the task's branch."""

    commit: str
    """Its hash."""
    at: Moment
    """When it was made."""
    subject: str
    """The first line of its message."""
    stat: str
    """Its statistics, as git prints them."""
    diff: str
    """Its diff, or the beginning of it."""
    cut: bool
    """Whether not all of the diff is there."""


@described
class ReportArtifact(TypedDict):
    """A file that a report named."""

    path: str
    """Its path as the report has it."""
    steps: list[str]
    """The steps whose agents named it."""
    where: str
    """Where it is now: `the task's folder`, `the branch` or, if nowhere, empty."""
    line: int
    """The journal line of the report that first named it."""


@described
class TaskReport(TypedDict):
    """One task."""

    task: str
    """Its name."""
    state: TaskState
    """Its state."""
    why: str
    """Why it is in its state."""
    outcome: Outcome
    """The result in sentences."""
    criteria: list[Criterion]
    """Success criteria, once they were judged."""
    usage: TaskUse
    """What it has used."""
    used_by: list[AgentUse]
    """What each agent has used."""
    id: str
    """Its id."""
    project: str
    """Folder of its project."""
    made_at: Moment
    """When this report was made."""
    began: Moment | None
    """When the task began."""
    ended: Moment | None
    """When it ended; null while it is at work."""
    lanes: list[ReportLane]
    """Who worked when, and what was waited for."""
    steps: list[ReportStep]
    """The plan, with its attempts."""
    questions: list[ReportQuestion]
    """All questions."""
    checks: list[ReportCheck]
    """All checks that the daemon ran."""
    incidents: list[ReportIncident]
    """What was out of the ordinary."""
    decisions: list[ReportDecision]
    """The newest decisions, oldest first."""
    decisions_left_out: int
    """How many older ones there are."""
    commits: list[ReportCommit] | None
    """The commits of the task's branch, oldest first; null if they could not be read."""
    artifacts: list[ReportArtifact]
    """Files that reports named."""
    waits: list[ReportSpan]
    """What was waited for longest."""
    trust: list[str]
    """On what the result rests."""
    unknown: list[str]
    """What is not known."""


@described
class Reports(TypedDict):
    """What happened in a task, or in all."""

    reports: list[TaskReport]
    """One for each task, the one that changed last first."""
