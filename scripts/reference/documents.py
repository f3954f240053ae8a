"""The documents that `--json` prints, field by field: the JSON Schemas and the page about them are made of this.

Fields may be added within a version of the program; none is renamed or removed. A test holds real output of each verb
against these, so a field that is missing here fails it.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, WithJsonSchema, with_config
from typing_extensions import TypedDict

from orchestrator.cli.findings import Severity
from orchestrator.model.notification import NotificationRule
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Life, Turn
from orchestrator.model.task import Phase, TaskState
from orchestrator.notifications.envelope import Standing
from orchestrator.ports.box_link import Way
from orchestrator.ports.sender import SendResult

Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""RFC 3339, in UTC."""

_described: Final = with_config(ConfigDict(use_attribute_docstrings=True))


# Parts of several --------------------------------------------------------------------------------


@_described
class Daemon(TypedDict):
    """How the daemon stands, on which the rest depends."""

    up: bool
    """Whether it runs."""
    as_of: Moment | None
    """Until when it watched."""
    room: bool
    """Whether the disk that holds its state has room."""


@_described
class Limit(TypedDict):
    """A usage limit that work waits for."""

    since: Moment
    """When it was first met."""
    refused_at: Moment
    """When the service last refused."""
    refusals: int
    """How often in a row it has refused."""
    words: str
    """What the service says."""
    resets_at: Moment | None
    """When the limit ends, as far as that was shown."""
    next_try: Moment
    """When the work is tried again."""


@_described
class Use(TypedDict):
    """Tokens and money, as far as programs report them; null where none did."""

    tokens: int | None
    """All tokens, in and out."""
    input: int | None
    """Tokens in."""
    output: int | None
    """Tokens out."""
    cached: int | None
    """Tokens of `input` that came from a cache."""
    cost: float | None
    """US dollars, as programs reported them."""
    estimate: float | None
    """US dollars of what no program reported the cost of."""
    prices: str | None
    """The day of the prices that the estimate was made by."""
    unpriced: list[str]
    """Models that have no price."""
    partial: bool
    """Whether more was used than is counted: a transcript on a box is too large to be copied."""
    context: int | None
    """Tokens of the last request."""
    window: int | None
    """Tokens that a request may have."""


@_described
class Finding(TypedDict):
    """One thing that was found."""

    topic: str
    """What it is about."""
    severity: Severity
    """How grave it is; only `missing` keeps a task from running."""
    text: str
    """What was found."""
    fix: str
    """What to type to mend it, or empty."""


# status -------------------------------------------------------------------------------------------


@_described
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
    """Success criteria that are known to be met."""
    attested: int
    """Of these, those that nothing shows but what their judge wrote itself."""


@_described
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


@_described
class Cause(TypedDict):
    """Why the last run or check of a step failed."""

    what: str
    """What happened."""
    run: str
    """The run."""
    lines: list[str]
    """Its last lines of output."""


@_described
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
    """Why it is in its state."""
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


@_described
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


@_described
class Failing(TypedDict):
    """Files that cannot be brought from a box."""

    what: str
    """Which files."""
    since: Moment | None
    """Since when."""
    why: str
    """Why."""


@_described
class Missing(TypedDict):
    """A run that is over, and not all of whose files are here."""

    instance: str
    """The agent's name."""
    run: str
    """Id of the run."""
    ended: Moment | None
    """When it ended."""


@_described
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


@_described
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


@_described
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


@_described
class UseLimits(TypedDict):
    """What a task may use; null: no limit."""

    tokens: float | None
    """Tokens."""
    cost: float | None
    """US dollars, reported and estimated together."""
    time: float | None
    """Seconds at work."""


@_described
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


@_described
class AgentUse(Use):
    """What the runs of one agent have used."""

    agent: str
    """The agent."""
    runs: int
    """How many runs it had."""
    time: float
    """Seconds that these lived."""


@_described
class Edit(TypedDict):
    """A change of Agent Config that the next start takes over."""

    key: str
    """The key."""
    was: str
    """Its value now in force."""
    now: str
    """Its value in task.md."""


@_described
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
    """Its phase."""
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
    """Changes of Agent Config that are not in force yet."""
    brief_fault: str
    """Why the last edit of task.md cannot be taken, with its line; empty if it is in force or waits in `edited`."""
    branch: str
    """Branch of the work, or empty."""
    base: str
    """Commit that the branch began with, or empty."""
    tip: str
    """Commit at which the PM left the branch; empty before anything was merged."""
    code: str
    """Folder whose repository has the branch."""
    started_at: Moment | None
    """When the task was started."""
    last_checkin: Moment | None
    """When the PM last looked at the whole."""
    updated: Moment | None
    """When this was written."""
    notices: list[str]
    """The last things that a person should know."""
    noticed: int
    """How many such things there were; `task why NAME noticed -n N` shows the last N of them."""
    daemon: Daemon
    """How the daemon stands."""


# Of all tasks -------------------------------------------------------------------------------------


@_described
class ListedTask(TypedDict):
    """A task in a list."""

    id: str
    """Its id."""
    task: str
    """Its name."""
    project: str | None
    """Folder of its project."""
    phase: Phase | None
    """Its phase."""
    state: TaskState | Literal["requested", "damaged", "removing"]
    """Its state; `requested`: not begun; `damaged`: unreadable; `removing`: it is being deleted or archived."""
    limited: Limit | None
    """The usage limit that all its work waits for."""
    steps_passed: int
    """Steps that passed."""
    steps_set_aside: int
    """Steps that were given up."""
    steps_total: int
    """All steps."""
    agents_live: int
    """Live runs."""
    questions_open: int
    """Open questions."""
    last_checkin: Moment | None
    """When the PM last looked at the whole."""
    updated: Moment | None
    """When its state was last written."""


@_described
class List(TypedDict):
    """All tasks."""

    tasks: list[ListedTask]
    """The tasks, the one that changed last first."""
    daemon: Daemon
    """How the daemon stands."""


@_described
class ArchivedTask(TypedDict):
    """An archived task."""

    id: str
    """Its id."""
    task: str
    """Its name."""
    project: str
    """Folder of its project."""
    state: str
    """Its state when it was archived."""
    archived_at: Moment | None
    """When it was archived."""
    size: int
    """Bytes of its file."""
    file: str
    """Its file."""


@_described
class Archived(TypedDict):
    """All archived tasks."""

    archived: list[ArchivedTask]
    """The tasks, the one that was archived last first."""


@_described
class AskedQuestion(Question):
    """An open question, and whose it is."""

    task: str
    """Name of the task."""
    task_id: str
    """Id of the task."""
    project: str
    """Folder of its project."""


@_described
class Questions(TypedDict):
    """All open questions."""

    questions: list[AskedQuestion]
    """The questions, task by task."""


@_described
class Decision(TypedDict):
    """One decision of the PM."""

    at: Moment
    """When it was made."""
    sentences: list[str]
    """What happened, and what the PM did."""


@_described
class Why(TypedDict):
    """Why the PM did what it did."""

    decisions: list[Decision]
    """The decisions, oldest first."""


# Of machines --------------------------------------------------------------------------------------


@_described
class FailingTask(Failing):
    """Files of one task that cannot be brought from a box."""

    task: str
    """Name of the task."""
    task_id: str
    """Id of the task."""


@_described
class Box(TypedDict):
    """A box, as the daemon last found it."""

    address: str
    """The box."""
    state: Way | Literal[""]
    """Whether it can be reached."""
    since: Moment | None
    """Since when that is so."""
    why: str
    """Why."""
    advice: str
    """What to do about it."""
    offered: str | None
    """Fingerprint of the key that it shows."""
    known: str | None
    """Fingerprint of the key on file."""
    pool: str | None
    """Its pool."""
    cap: int | None
    """How many runs at once; the others wait."""
    runs: int
    """Live runs there."""
    tasks: list[str]
    """Tasks that use it."""
    pulled_at: Moment | None
    """When all files were last brought from there."""
    failing: list[FailingTask]
    """What cannot be brought though it answers."""
    missing: int
    """Runs that ended there and not all of whose files are here."""
    overflowing: bool
    """Whether it reports more changes than are looked at."""


@_described
class Hosts(TypedDict):
    """All boxes."""

    boxes: list[Box]
    """The boxes."""
    daemon: Daemon
    """How the daemon stands."""


@_described
class Cli(TypedDict):
    """An agent CLI on this machine."""

    name: str
    """Name of its runtime."""
    path: str | None
    """Where its program is; null: it is not installed."""
    version: str | None
    """Its version."""
    logins: list[str]
    """Files and variables with a login that an agent would find."""
    held_back: list[str]
    """Variables with a login that reach no agent."""
    signals: str | None
    """How it reports what it does; null: this version has no runtime for it."""
    tested: bool
    """Whether its runtime was tested against the real program."""
    install: str
    """Command that installs it."""


@_described
class OwnRuntime(TypedDict):
    """A runtime that the settings define."""

    name: str
    """Its name."""
    program: str
    """Its program, as written."""
    path: str | None
    """Where that is; null: nowhere."""
    signals: str
    """How it reports what it does."""


@_described
class Doctor(TypedDict):
    """Whether a task could run on this machine."""

    can_run: bool
    """Whether it could; the exit code is 0 then, else 1."""
    clis: list[Cli]
    """Agent CLIs."""
    runtimes: list[OwnRuntime]
    """Runtimes that the settings define."""
    findings: list[Finding]
    """All that was found."""


@_described
class BoxSeen(TypedDict):
    """A box as `doctor` finds it; null: it did not say."""

    address: str
    """The box."""
    cwd: str | None
    """The folder that was asked for."""
    state: Way
    """Whether it can be reached."""
    since: Moment | None
    """Since when that is so."""
    why: str
    """Why."""
    advice: str
    """What to do about it."""
    offered: str | None
    """Fingerprint of the key that it shows."""
    known: str | None
    """Fingerprint of the key on file."""
    system: str | None
    """Its operating system."""
    home: str | None
    """Home of the user there."""
    disk: int | None
    """Bytes free."""
    clock_offset: float | None
    """Seconds by which its clock is ahead."""
    lingering: str | None
    """Whether processes of the user survive a logout: `yes`, `no`, `unneeded`."""
    tmux: str | None
    """Version of tmux."""
    rsync: str | None
    """Version of rsync."""
    git: str | None
    """Version of git."""
    programs: dict[str, str | None]
    """Version of each agent CLI; null: it is not there."""
    commands: dict[str, bool]
    """Whether each command is there."""


@_described
class DoctorHost(TypedDict):
    """Whether agents could work on a box."""

    can_run: bool
    """Whether they could; the exit code is 0 then, else 1."""
    box: BoxSeen
    """The box."""
    findings: list[Finding]
    """All that was found."""


@_described
class StartCheck(TypedDict):
    """Whether a task could start."""

    can_run: bool
    """Whether it could; the exit code is 0 then, else 1."""
    findings: list[Finding]
    """All that was found."""


# Of the program -----------------------------------------------------------------------------------


@_described
class Template(TypedDict):
    """A template for tasks."""

    name: str
    """Its name."""
    description: str
    """The first line of its goal."""
    folder: str
    """Its folder."""


@_described
class Templates(TypedDict):
    """All templates."""

    templates: list[Template]
    """The templates, by name."""


@_described
class Setting(TypedDict):
    """One setting."""

    key: str
    """Its section and key."""
    value: str
    """Its value, as it would be written."""
    source: str
    """`default`, FILE:LINE, or the environment variable that it comes from."""


@_described
class Config(TypedDict):
    """All settings."""

    settings: list[Setting]
    """The settings."""
    in_force: bool | None
    """Whether the daemon goes by this file as it is now; null: it is down."""


@_described
class Sent(TypedDict):
    """A test message over one channel."""

    name: str
    """The channel."""
    scheme: str
    """What kind of channel it is."""
    result: SendResult
    """What became of the message."""
    reason: str
    """Why."""


@_described
class NotifyTest(TypedDict):
    """What became of a test message."""

    channels: list[Sent]
    """Each channel."""


@_described
class Delivery(TypedDict):
    """How far one channel is with a message."""

    name: str
    """The channel."""
    state: Standing
    """How far it is."""
    tries: int
    """How often it was tried."""
    last_try: Moment | None
    """When it was last tried."""
    reason: str
    """Why it is not delivered."""


@_described
class Waits(TypedDict):
    """A channel that a message waits for."""

    channel: str
    """The channel."""
    until: Moment
    """When it is tried."""
    why: str
    """What it waits for."""


@_described
class Message(TypedDict):
    """A message to the user."""

    id: str
    """Its id."""
    at: Moment
    """When it happened."""
    rule: NotificationRule
    """Why it is sent."""
    state: Literal["waiting", "delivered", "failed", "unknown", "not_sent"]
    """What became of it; `not_sent`: no channel was set for it, or the question was answered before."""
    title: str
    """Its title."""
    text: str
    """Its text."""
    task_id: str | None
    """The task that it is about."""
    question: str | None
    """The question that it is about."""
    why: str
    """Why it was not sent."""
    channels: list[Delivery]
    """How far each channel is."""
    waiting_for: list[Waits]
    """Channels that it waits for."""


@_described
class NotifyList(TypedDict):
    """Messages to the user."""

    notifications: list[Message]
    """The messages, the newest first."""


@_described
class DaemonStatus(TypedDict):
    """The daemon."""

    up: bool
    """Whether it runs."""
    pid: int | None
    """Its process."""
    started_at: Moment | None
    """When it was started."""
    beat_at: Moment | None
    """When it last gave a sign of life."""
    version: str | None
    """Its version."""
    tasks: int
    """How many tasks there are."""
    unit: str | None
    """File of the service manager that looks after it."""
