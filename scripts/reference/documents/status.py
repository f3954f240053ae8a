"""The document of `task status --json`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Life, Turn
from orchestrator.model.task import Phase, TaskState
from scripts.reference.documents.parts import Daemon, Limit, Moment, Use, described


@described
class Counts(TypedDict):
    """Of steps, and of success criteria."""

    passed: int
    """Steps that passed."""
    set_aside: int
    """Steps that were given up."""
    open: int
    """Steps that are neither."""
    total: int
    """All steps."""
    criteria: int
    """Success criteria of task.md."""
    met: int
    """Success criteria known to be met."""
    attested: int
    """Of these, those that nothing shows but what their judge wrote itself."""


@described
class Outcome(TypedDict):
    """The result in sentences."""

    asked: str
    """What the user asked for."""
    outcome: str
    """What came of it so far."""
    work: str
    """Where the work lies."""
    not_done: str
    """What is not done, and why."""
    cost: str
    """What it cost."""
    next: str
    """What to type next; commands name the task by its id."""
    branch_seen: Moment | None
    """When the branch was looked at that `work` describes."""


@described
class Cause(TypedDict):
    """Why the last run or check of a step failed."""

    what: str
    """What happened."""
    run: str
    """The run."""
    lines: list[str]
    """Its last lines of output."""


@described
class Step(TypedDict):
    """One step of the plan."""

    id: str
    """Its id."""
    agent: str
    """The agent that does it."""
    title: str
    """What is to be done."""
    status: StepState
    """Its state."""
    attempts: int
    """Number of the current attempt, begun or not."""
    tries: int
    """How many attempts were begun: a run of an agent or of a check was started for each."""
    phase: Phase
    """Phase of the task to which it belongs."""
    subtask: str
    """The subtask to which it belongs, or empty."""
    needs: list[str]
    """The steps before it: those that must have passed, then those that must only be settled."""
    since: Moment | None
    """When it came into its state."""
    began: Moment | None
    """When work on it first began."""
    said: str
    """What was last said against it."""
    why: str
    """Why it is so."""
    limit: Limit | None
    """The usage limit that it waits for."""
    replaced: bool
    """Whether it was planned anew; it is not counted then."""
    commit: str
    """Its work, or empty."""
    unchanged: str
    """Why nothing was changed, where nothing was."""
    check: int | None
    """Exit status of its check."""
    cause: Cause | None
    """Why its last run or check failed."""


@described
class Agent(Use):
    """A live run, or the latest run of an agent."""

    name: str
    """The agent's name; `dev-2` for a second one at the same time."""
    run: str
    """Id of the run."""
    agent: str
    """The agent's definition."""
    step: str
    """The step on which it works."""
    state: Life
    """Whether there is a process."""
    turn: Turn
    """Whose move it is."""
    evidence: str
    """By what that is known."""
    since: Moment | None
    """Since when its state is so."""
    turn_since: Moment | None
    """Since when its turn is so."""
    host: str
    """`local`, or the box on which it runs."""
    pane: str
    """Its tmux pane."""
    pid: int | None
    """Its process."""
    order: str
    """File name of its order."""


@described
class Failing(TypedDict):
    """Files that cannot be brought from a box."""

    what: str
    """Which files."""
    since: Moment | None
    """Since when."""
    why: str
    """Why."""


@described
class Missing(TypedDict):
    """A run that is over, and not all of whose files are here."""

    instance: str
    """The agent's name."""
    run: str
    """Id of the run."""
    ended: Moment | None
    """When it ended."""


@described
class TaskBox(TypedDict):
    """A box from which not all files of the task are here."""

    address: str
    """The box."""
    lost: str
    """Why it does not answer, or empty."""
    failing: list[Failing]
    """What cannot be brought though it answers."""
    missing: list[Missing]
    """Runs whose files are not all here."""


@described
class Question(TypedDict):
    """An open question."""

    id: str
    """Its id, for `answer`."""
    step: str
    """The step that it holds up, or empty for the whole task."""
    text: str
    """The question."""
    options: list[str]
    """Answers to choose from; empty: free text."""
    asked_at: Moment | None
    """When it was asked."""
    kind: QuestionKind
    """Why it is asked."""
    run: str
    """The live run that it is about, or empty."""
    default: str
    """The answer that is taken at `deadline`, or empty."""
    deadline: Moment | None
    """When `default` is taken."""
    holds: list[str]
    """Steps that wait for the answer."""


@described
class Criterion(TypedDict):
    """A success criterion."""

    text: str
    """As task.md has it."""
    met: bool
    """Whether it is met."""
    evidence: list[str]
    """What shows it, as far as that exists."""
    details: list[str]
    """What was found of each piece of evidence."""
    reason: str
    """Why it is not met."""
    attested: bool
    """Whether nothing shows it but what its judge wrote itself."""


@described
class UseLimits(TypedDict):
    """What a task may use; null: no limit."""

    tokens: float | None
    """Tokens."""
    cost: float | None
    """US dollars, reported and estimated together."""
    time: float | None
    """Seconds at work."""


@described
class TaskUse(Use):
    """What a task has used, and may use."""

    time: float
    """Seconds in which the task ran, until `updated`."""
    idle: float
    """Seconds of these in which no run of it lived."""
    limits: UseLimits
    """What it may use."""
    defaults: list[str]
    """Which of the limits nobody has set."""


@described
class AgentUse(Use):
    """What the runs of one agent have used."""

    agent: str
    """The agent."""
    runs: int
    """How many runs it had."""
    time: float
    """Seconds that these lived."""


@described
class Edit(TypedDict):
    """A change of Agent Config that the next start takes over."""

    key: str
    """The key."""
    was: str
    """Its value now in force."""
    now: str
    """Its value in task.md."""


@described
class ReportFile(TypedDict):
    """The page of `task report` in the task's folder."""

    path: str
    """Its path."""
    written: Moment
    """When it was written."""
    outdated: bool
    """Whether the task went on since."""


@described
class Status(TypedDict):
    """Where one task stands."""

    version: Literal[1]
    """Version of this document."""
    id: str
    """The task's id."""
    task: str
    """Its name."""
    project: str
    """Folder of its project."""
    phase: Phase
    """Its phase; at rest, its last one."""
    state: TaskState
    """Its state."""
    why: str
    """Why it is in its state."""
    limited: Limit | None
    """The usage limit that all its work waits for."""
    counts: Counts
    """Steps and success criteria, counted."""
    outcome: Outcome
    """The result in sentences."""
    steps: list[Step]
    """The plan."""
    agents: list[Agent]
    """Live runs, and the latest run of each agent."""
    boxes: list[TaskBox]
    """Boxes from which not all files are here."""
    questions: list[Question]
    """Open questions."""
    criteria: list[Criterion]
    """Success criteria, once they were judged."""
    usage: TaskUse
    """What it has used."""
    used_by: list[AgentUse]
    """What each agent has used."""
    edited: list[Edit]
    """Changes of Agent Config not in force yet."""
    goal: str
    """What task.md asks for."""
    goal_before: str
    """The goal before the last change of it since the task began; empty if it had no other."""
    brief_fault: str
    """Why the last edit of task.md cannot be taken, with its line; empty if it is in force or waits in `edited`."""
    asked_since: str
    """What task.md asks for since the task came to rest, and nobody has judged, with what takes it up; or empty."""
    branch: str
    """Branch of the work, or empty."""
    base: str
    """Commit where the branch began, or empty."""
    tip: str
    """Commit at which the PM left the branch; empty before a merge."""
    code: str
    """Folder of the repository."""
    started_at: Moment | None
    """When the task was started."""
    moved_at: Moment | None
    """When its state changed last."""
    last_checkin: Moment | None
    """When the PM last looked at the whole."""
    updated: Moment | None
    """When this was written."""
    notices: list[str]
    """The last things that a person should know."""
    noticed: int
    """How many such things there were; `task why NAME noticed -n N` shows the last N of them."""
    report: ReportFile | None
    """The page that `task report` wrote, if it is there."""
    daemon: Daemon
    """How the daemon stands."""
