"""The documents of `task memory … --json` and `task observe --json`, field by field."""

from __future__ import annotations

from typing_extensions import TypedDict

from orchestrator.model.memory import MemoryKind
from orchestrator.records.observed_sources import SourceKind
from scripts.reference.documents.parts import Moment, described


@described
class LeftOut(TypedDict):
    """A file that was left out."""

    path: str
    """The file."""
    reason: str
    """Why."""


@described
class MemoryText(TypedDict):
    """A memory, its secrets masked."""

    id: str
    """Its id, as the file is named."""
    content: str
    """What was learned."""
    type: MemoryKind
    """What kind of knowledge it is."""
    importance: float
    """How much it matters, from 0 to 1."""
    tags: list[str]
    """Words by which it is found."""
    created: Moment
    """When it was written."""
    misled: Moment | None
    """When it was marked as misleading."""


@described
class FoundMemory(MemoryText):
    """A memory, its secrets masked, and how well it matches."""

    project: str
    """Folder of its project."""
    relevance: float
    """How well it matches the words, from 0 to 1, in proportion to the best match."""
    score: float
    """What it is ordered by: of relevance, importance and age."""


@described
class MemorySearch(TypedDict):
    """Memories that match, the best first."""

    memories: list[FoundMemory]
    """The memories, as many as were asked for."""
    found: int
    """How many match."""
    refused: list[LeftOut]
    """Files among the memories that are none."""


@described
class MemoryExport(TypedDict):
    """All memories that were asked for."""

    memories: list[FoundMemory]
    """The memories."""
    refused: list[LeftOut]
    """Files among the memories that are none."""


@described
class ShownMemory(MemoryText):
    """A memory, its secrets masked, and who names it."""

    forgotten: bool
    """Whether it was moved away."""
    created_by: list[str]
    """Ids of the handoffs for which it was written."""
    referenced_by: list[str]
    """Ids of the handoffs for which it was consulted."""


@described
class MemoryShow(TypedDict):
    """One memory."""

    memory: ShownMemory
    """The memory."""


@described
class MemoryAdd(TypedDict):
    """A memory was written."""

    id: str
    """Its id."""
    path: str
    """Its file."""
    masked: bool
    """Whether something in it was masked."""


@described
class MemoryForget(TypedDict):
    """A memory was moved away, or back."""

    id: str
    """Its id."""
    path: str
    """Where its file lies now."""
    forgotten: bool
    """Whether it is forgotten now."""


@described
class MemoryMark(TypedDict):
    """A memory was marked as misleading, or the mark was taken back."""

    id: str
    """Its id."""
    misled: Moment | None
    """When it was marked; null: it is not marked."""


# The observer -------------------------------------------------------------------------------------


@described
class Took(TypedDict):
    """How long something took, in seconds; null where nothing was timed. Percentiles are nearest ranks."""

    count: int
    """How many were timed."""
    mean: float | None
    """Their mean."""
    median: float | None
    """Their median."""
    p90: float | None
    """Nine in ten took no longer."""
    longest: float | None
    """The longest."""


@described
class RouteSeen(TypedDict):
    """What one role handed on to another."""

    source: str
    """Who handed on: a role, or the agent of a step."""
    target: str
    """Who went on; `end`: nobody."""
    count: int
    """How many."""
    durations: Took
    """How long the source took."""
    decided: int
    """Of how many it is known whether they were of use."""
    good: int
    """How many were: not rejected, not planned again, passed."""
    bottleneck: bool
    """Whether two or more were timed and their median is more than twice that of all."""


@described
class StuckHandoff(TypedDict):
    """What nobody took for more than 24 hours, or an attempt that did not end for so long."""

    task: str
    """The task."""
    id: str
    """The handoff, or the step and its attempt."""
    source: str
    """Who handed on, or is at work."""
    at: Moment
    """Since when it waits."""
    waited: float
    """For how many seconds."""


@described
class DaySeverities(TypedDict):
    """Issues that first came up on one day."""

    day: str
    """The day, in UTC."""
    critical: int
    """Critical ones."""
    high: int
    """Of high severity."""
    medium: int
    """Of medium severity."""
    low: int
    """Of low severity."""


@described
class Severities(TypedDict):
    """Issues by severity."""

    critical: int
    """Critical ones."""
    high: int
    """Of high severity."""
    medium: int
    """Of medium severity."""
    low: int
    """Of low severity."""


@described
class SuccessSeen(TypedDict):
    """How much was of use."""

    decided: int
    """Of how many it is known."""
    good: int
    """How many were."""


@described
class ReworkSeen(TypedDict):
    """How much was done again."""

    handoffs: int
    """All that was handed on."""
    reworked: int
    """Plans that did not hold, and second and later attempts."""
    replanned: int
    """Of these, handoffs of the type `requires_replanning`."""


@described
class QuestionsSeen(TypedDict):
    """How long questions waited."""

    answered: Took
    """Those that were answered."""
    open: int
    """How many wait."""
    longest_open: float | None
    """For how many seconds the first of them does."""


@described
class RoleUse(TypedDict):
    """What a role used, over all the time of the tasks that were at work in the period."""

    role: str
    """The role, or the agent."""
    runs: int
    """Its runs."""
    time: float
    """Seconds that they took."""
    tokens: int | None
    """Tokens; null: no program told."""
    cost: float | None
    """US dollars that programs reported."""
    estimate: float | None
    """US dollars that were estimated beside."""


@described
class Advice(TypedDict):
    """What figures recommend."""

    text: str
    """The recommendation, with its figures."""
    figures: dict[str, float]
    """The figures that it comes from, by name; times in seconds."""


@described
class ReadSource(TypedDict):
    """A place that was read."""

    kind: SourceKind
    """What lies there."""
    path: str
    """The folder."""
    handoffs: int
    """How many handoffs of it count."""
    tasks: int
    """How many journals of tasks of it count."""
    left_out: int
    """Handoffs, or tasks, that were found there and do not belong into the report, or were counted already."""


@described
class Observe(TypedDict):
    """How handoffs, questions and time went in a period."""

    since: Moment
    """Its beginning."""
    until: Moment
    """Its end, which does not belong to it."""
    made_at: Moment
    """When this was made."""
    read_since: str
    """The earliest day of the archive that was read."""
    handoffs: int
    """What was handed on."""
    completed_chains: int
    """Chains and tasks that were completed."""
    active: int
    """What was handed on and is not done with, and attempts at work."""
    success: SuccessSeen
    """How much was of use."""
    rework: ReworkSeen
    """How much was done again."""
    durations: Took
    """How long all took."""
    transitions: list[RouteSeen]
    """What went from whom to whom, the most frequent first."""
    stuck: list[StuckHandoff]
    """What waits for more than 24 hours."""
    severities: list[DaySeverities]
    """Issues by the day on which they first came up; days without one are left out."""
    severities_before: Severities
    """Those of as long a time before."""
    critical_open: int
    """Critical issues of the period that the newest handoff of their task still has."""
    questions: QuestionsSeen
    """How long questions waited."""
    dead_time: float
    """Seconds in which a task was at work and no program ran."""
    time_at_work: float
    """Seconds in which tasks were at work."""
    usage: list[RoleUse]
    """Tokens and cost by role."""
    recommendations: list[Advice]
    """What the figures recommend."""
    read: list[ReadSource]
    """What was read."""
    unread: list[LeftOut]
    """Files that are no records, or could not be read. They are not counted."""
