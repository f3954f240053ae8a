"""Facts: what happened. Everything that reaches the PM is one of these.

A fact carries the time (`at`, seconds since the epoch) and, where something new may be named, a `nonce`
that ids are derived from: `decide` reads no clock and draws no random number (law 2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orchestrator.model.activity import Activity
from orchestrator.model.agents import Agent
from orchestrator.model.consultation import PMDecision
from orchestrator.model.coordination import RoleStatus
from orchestrator.model.errors import Fault
from orchestrator.model.event import Event
from orchestrator.model.evidence import Resolution
from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.handoff import Report
from orchestrator.model.run import Delivery, Exit, Leftover, Sight
from orchestrator.model.skills import Skill
from orchestrator.model.task import Brief
from orchestrator.model.tool_request import Judgement
from orchestrator.model.usage import Usage
from orchestrator.model.workflow import PlanEdit
from orchestrator.model.workflow_records import Session


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """The user said `task start`: for the first time, or again after the task ended or was stopped.

    `history` are the reports already in the folder at a first start: name and hash. They are never acted on.
    `skills` are those that an agent could load. `chosen` says of each pool in task.md which box was taken, and why: the
    `brief` has that box in its place. `confirmed` is the digest of the Agent Config that the user agreed to.
    `utc_offset` is by how many seconds local time is ahead of UTC. `links` are the folders in the task's own that were
    links at a first start, each with where it leads. `found` is where the task's branch was at a first start, if it had
    commits of its own: those of a task of that name that no journal knows any more.
    """

    at: float
    nonce: str
    request: str
    task: str
    name: str
    project: str
    brief: Brief
    agents: dict[str, Agent] = field(default_factory=dict)
    base: str = ""
    history: dict[str, str] = field(default_factory=dict)
    skills: tuple[Skill, ...] = ()
    chosen: tuple[str, ...] = ()
    confirmed: str = ""
    utc_offset: int = 0
    links: dict[str, str] | None = None
    found: str = ""
    kind: Literal["task_started"] = "task_started"


@dataclass(frozen=True, slots=True)
class ReportLanded:
    """A file of an agent lies whole in `handoffs/`. Exactly one of `report` and `faults` says something.

    `sha256` is of its bytes; `missing` are the artifacts that it names and that are not on disk (law 6). `withheld` are
    those that lie on the agent's box and are not here, or not wholly, each with the reason.
    """

    at: float
    nonce: str
    name: str
    sha256: str
    instance: str
    report: Report | None = None
    faults: tuple[Fault, ...] = ()
    missing: tuple[str, ...] = ()
    withheld: tuple[tuple[str, str], ...] = ()
    kind: Literal["report_landed"] = "report_landed"


@dataclass(frozen=True, slots=True)
class OperationsSettled:
    """What a run of `hands: operations` handed in was carried out, or none of it: `record` says which, and why.

    Where it was carried out, the handoff of the run lies in `handoffs/`, and lands by itself.
    """

    at: float
    nonce: str
    run: str
    record: OperationsRecord
    kind: Literal["operations_settled"] = "operations_settled"


@dataclass(frozen=True, slots=True)
class NotesLanded:
    """An agent of a workflow, or somebody for it, changed its notes: they are taken before its turn ends.

    `own`: a run of that agent lives, so that the change is its own.
    """

    at: float
    nonce: str
    agent: str
    session: Session
    own: bool
    kind: Literal["notes_landed"] = "notes_landed"


@dataclass(frozen=True, slots=True)
class RoleStatusLanded:
    """The agent of a role changed its status file while its run works: `status` is what it says now."""

    at: float
    nonce: str
    run: str
    status: RoleStatus
    kind: Literal["role_status_landed"] = "role_status_landed"


@dataclass(frozen=True, slots=True)
class EditsRefused:
    """A file says what nobody may write there, or not this one: `edits` are put back.

    `file` is the shared status of a workflow, or the status of a role's agent.
    """

    at: float
    nonce: str
    edits: tuple[str, ...]
    file: str = "shared_status.json"
    kind: Literal["edits_refused"] = "edits_refused"


@dataclass(frozen=True, slots=True)
class DecisionLanded:
    """A handoff of the PM agent lies whole in `handoffs/`, of the run `run` of an open consultation.

    Exactly one of `decision` and `faults` says something. `sha256` is of its bytes.
    """

    at: float
    nonce: str
    name: str
    sha256: str
    run: str
    decision: PMDecision | None = None
    faults: tuple[Fault, ...] = ()
    kind: Literal["decision_landed"] = "decision_landed"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The launcher of a run claimed it and its process lives."""

    at: float
    run: str
    pid: int
    pane: str = ""
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True)
class RunQueued:
    """A run waits for a place in the queue of its engine, which says why."""

    at: float
    run: str
    reason: str
    kind: Literal["run_queued"] = "run_queued"


@dataclass(frozen=True, slots=True)
class RunLeft:
    """A run's program has ended, as `exit` says, and processes that it left behind live: some of them are named."""

    at: float
    nonce: str
    run: str
    exit: Exit
    left: tuple[Leftover, ...]
    kind: Literal["run_left"] = "run_left"


@dataclass(frozen=True, slots=True)
class RunGone:
    """Nothing of a run lives any more, and its folders were scanned after that (law 5).

    `lines` are the last lines that its program printed: cleaned, masked and few.
    """

    at: float
    nonce: str
    run: str
    exit: Exit
    lines: tuple[str, ...] = ()
    kind: Literal["run_gone"] = "run_gone"


@dataclass(frozen=True, slots=True)
class LaunchFailed:
    """A run could not be launched, and no process of it exists or can come to exist.

    `again`: the world was not able to just then; without it, trying the same once more will not help. `tree_lost`: it
    was to go on in a worktree that is gone, with work that was not committed.
    """

    at: float
    nonce: str
    run: str
    reason: str
    again: bool = True
    tree_lost: bool = False
    kind: Literal["launch_failed"] = "launch_failed"


@dataclass(frozen=True, slots=True)
class TreeVanished:
    """The worktree in which a run works is gone, or another folder is in its place, for `reason`."""

    at: float
    nonce: str
    run: str
    reason: str
    kind: Literal["tree_vanished"] = "tree_vanished"


@dataclass(frozen=True, slots=True)
class WorkCommitted:
    """The work of a step is the commit `commit` (empty: nothing was changed) on its workspace's branch.

    `left`: where on its box, as `address:path`, work lies that nobody committed, while nothing new was; `commit` may be
    that of an earlier attempt then. `lost`: why its worktree is not there any more as it was made; what was found in
    its place is kept as the ref `kept`, empty if there was nothing.

    `conflicts` are the files in which the work is at odds with what the task's branch has gained, by the commits
    `others` (`hash subject`); `commit` is then on the commit that the work began on. `unresolved` are files in which
    markers of an earlier conflict were left; nothing was committed.

    The commit has nothing of `repositories`, which were made inside the tree, nor of `ignored`, what git ignores there.
    Where nothing was committed, `submodules` are those that are checked out there: what was changed in them counts as
    nothing. Of each the first few.

    `check_files` are the files of the check's command that differ from the task's base, each as `check.sh (+5 -2)`.
    """

    at: float
    nonce: str
    step: str
    attempt: int
    commit: str
    files: int = 0
    reason: str = ""
    left: str = ""
    lost: str = ""
    kept: str = ""
    conflicts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    check_files: tuple[str, ...] = ()
    kind: Literal["work_committed"] = "work_committed"


@dataclass(frozen=True, slots=True)
class WorkInspected:
    """Whether a step changed anything in the tree `where`, which is not its own to change.

    `changed` is None where that cannot be seen, as in a folder of too many files; or it could not be asked now, for
    `reason`. Of a step that was only to look, `files` are those that were changed meanwhile. In a tree of the task they
    lie as before, and `kept` is the ref that has them; elsewhere they lie as they were found. Of a step that was to
    change them, `check_files` are those of them that the check's command names.
    """

    at: float
    nonce: str
    step: str
    attempt: int
    where: str = ""
    changed: bool | None = None
    reason: str = ""
    files: tuple[str, ...] = ()
    kept: str = ""
    check_files: tuple[str, ...] = ()
    kind: Literal["work_inspected"] = "work_inspected"


@dataclass(frozen=True, slots=True)
class EvidenceResolved:
    """What the references in a step's evidence point at was looked up; or it could not be, for `reason`.

    `empty`: the branch has commits, and all of them together change nothing. `lost` was written by older versions: the
    steps whose accepted commits the branch does not have (`BranchTended` now). `absent` are the files that criteria
    which are marked met name themselves, and that are neither on the branch nor among the artifacts.
    """

    at: float
    nonce: str
    step: str
    attempt: int
    found: tuple[Resolution, ...] = ()
    reason: str = ""
    lost: tuple[str, ...] = ()
    empty: bool = False
    absent: tuple[str, ...] = ()
    kind: Literal["evidence_resolved"] = "evidence_resolved"


@dataclass(frozen=True, slots=True)
class BranchTended:
    """The task's branch was found at `tip` (empty: it was gone), and is at `wanted`, the last accepted commit.

    `kept` is the ref that has what else was on it. It could not be looked at or put back, for `reason`. `step` is the
    one that judges the whole, and waits for this; empty where the task is about to end.
    """

    at: float
    nonce: str
    step: str = ""
    attempt: int = 0
    tip: str = ""
    wanted: str = ""
    kept: str = ""
    reason: str = ""
    kind: Literal["branch_tended"] = "branch_tended"


@dataclass(frozen=True, slots=True)
class WorkMerged:
    """The task's branch was moved forward to a step's commit; or it could not be, for `reason`.

    `tip` is the commit at which the branch is now. `astray` is the one at which it was found, if that is not the one at
    which the PM had left it; `kept` is the ref that has what it had gained.
    Where the branch had gained the commits `others` (`hash subject`) up to `onto`, it was not moved. Then either the
    work was put upon them as `commit`, which its tree now has: `both` are the files that both sides changed, `same`
    says that the change itself came out as it was. Or both sides are at odds in the files `conflicts`. Or nothing was
    done, as somebody was still in its tree: then there is no `commit`.
    """

    at: float
    nonce: str
    step: str
    attempt: int
    commit: str = ""
    reason: str = ""
    tip: str = ""
    astray: str = ""
    kept: str = ""
    onto: str = ""
    both: tuple[str, ...] = ()
    same: bool = True
    conflicts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    kind: Literal["work_merged"] = "work_merged"


@dataclass(frozen=True, slots=True)
class CheckedIn:
    """The heartbeat, or a look on demand. `progress` gives the newest sign of work per live run.

    `asked`: the user asked for it, and may have mended something: what could not be launched is tried again now.
    """

    at: float
    nonce: str
    progress: dict[str, float] = field(default_factory=dict)
    asked: bool = False
    kind: Literal["checked_in"] = "checked_in"


@dataclass(frozen=True, slots=True)
class Looked:
    """A quiet run was looked at; `sight` is None where it could not be, for `reason`."""

    at: float
    nonce: str
    run: str
    sight: Sight | None = None
    reason: str = ""
    kind: Literal["looked"] = "looked"


@dataclass(frozen=True, slots=True)
class Nudged:
    """A line was to be typed to a run, and this became of it."""

    at: float
    nonce: str
    run: str
    action: str
    delivery: Delivery
    reason: str = ""
    kind: Literal["nudged"] = "nudged"


@dataclass(frozen=True, slots=True)
class EventLanded:
    """A run's program told something of itself, in the file `name`; with `waits` it waits for an answer.

    `whole` says of what it took (TAKEN) whether that is its order, to the byte. `judgement` is what the rules say of
    what it wishes (ASKED). `saving` names what its handoff was found under when its turn was over (ENDED), if that is
    a temporary name.
    """

    at: float
    nonce: str
    run: str
    name: str
    event: Event
    waits: bool = False
    whole: bool | None = None
    judgement: Judgement | None = None
    saving: str = ""
    kind: Literal["event_landed"] = "event_landed"


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """What a run has used so far, as its program tells it: at the end of a turn, of the run, or in between."""

    at: float
    nonce: str
    run: str
    usage: Usage
    kind: Literal["usage_seen"] = "usage_seen"


@dataclass(frozen=True, slots=True)
class ActivitySeen:
    """What a run does, by the records of its program: told where it differs from what was believed, and matters."""

    at: float
    nonce: str
    run: str
    activity: Activity
    kind: Literal["activity_seen"] = "activity_seen"


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """The answer that a program waits for lies where it looks."""

    at: float
    action: str
    kind: Literal["answer_given"] = "answer_given"


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A moment came that the state had named (`pm.deadlines.wake_at`)."""

    at: float
    nonce: str
    kind: Literal["time_passed"] = "time_passed"


@dataclass(frozen=True, slots=True)
class ClockMoved:
    """The machine slept for `slept` seconds, or its wall clock was set by `put` (back: below 0)."""

    at: float
    nonce: str
    slept: float = 0.0
    put: float = 0.0
    kind: Literal["clock_moved"] = "clock_moved"


@dataclass(frozen=True, slots=True)
class ZoneChanged:
    """Local time is ahead of UTC by another number of seconds than it was: daylight saving, or another time zone."""

    at: float
    utc_offset: int
    kind: Literal["zone_changed"] = "zone_changed"


@dataclass(frozen=True, slots=True)
class BoxLost:
    """A box cannot be spoken to, on which runs of the task live or are to live. Nothing is known of them meanwhile.

    `refused`: it, or our own ssh, will not without a person's help; `why` then says what that is.
    """

    at: float
    nonce: str
    box: str
    why: str
    refused: bool = False
    kind: Literal["box_lost"] = "box_lost"


@dataclass(frozen=True, slots=True)
class BoxBack:
    """A box that was lost answers again."""

    at: float
    nonce: str
    box: str
    kind: Literal["box_back"] = "box_back"


@dataclass(frozen=True, slots=True)
class FolderLost:
    """The task's folder in its project, `path`, cannot be used: `why`. Copies of the reports taken are in `kept`."""

    at: float
    nonce: str
    path: str
    why: str
    kept: str
    kind: Literal["folder_lost"] = "folder_lost"


@dataclass(frozen=True, slots=True)
class FolderBack:
    """The task's folder can be used; `mended` says what had to be done for it, if anything had."""

    at: float
    nonce: str
    mended: str = ""
    kind: Literal["folder_back"] = "folder_back"


@dataclass(frozen=True, slots=True)
class BriefChanged:
    """task.md was edited while the task runs: goal and criteria count at once, Agent Config from the next start on."""

    at: float
    brief: Brief
    kind: Literal["brief_changed"] = "brief_changed"


@dataclass(frozen=True, slots=True)
class StopAsked:
    """The user said `task stop`."""

    at: float
    request: str
    kind: Literal["stop_asked"] = "stop_asked"


@dataclass(frozen=True, slots=True)
class Answered:
    """The user answered a question. `skills` are those that there are now: one may have been added for it."""

    at: float
    nonce: str
    request: str
    question: str
    text: str
    skills: tuple[Skill, ...] | None = None
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class SpawnAsked:
    """The user wants an agent spawned with instructions of their own (`task spawn`, `task order`)."""

    at: float
    nonce: str
    request: str
    agent: Agent
    instructions: str
    kind: Literal["spawn_asked"] = "spawn_asked"


@dataclass(frozen=True, slots=True)
class AdaptAsked:
    """The user edits the plan of a workflow (`task workflow adapt`), for the reason `why`.

    `base` is the hash of the plan that the edits are meant for; empty: whatever it is now.
    """

    at: float
    nonce: str
    request: str
    edits: tuple[PlanEdit, ...]
    base: str = ""
    why: str = ""
    kind: Literal["adapt_asked"] = "adapt_asked"


@dataclass(frozen=True, slots=True)
class RebaseAsked:
    """The user said `task rebase`: the work of a task that rests is to stand upon the commit `base`.

    It was made anew there as `new`, of what the branch has at `old`. `commits` gives by each commit of the old one what
    became of it; empty: `base` has all of it already.
    """

    at: float
    nonce: str
    request: str
    base: str
    old: str
    new: str
    commits: dict[str, str] = field(default_factory=dict)
    kind: Literal["rebase_asked"] = "rebase_asked"


@dataclass(frozen=True, slots=True)
class Rebased:
    """The task's branch was moved to its work made anew; or it could not be, for `reason`."""

    at: float
    action: str
    reason: str = ""
    kind: Literal["rebased"] = "rebased"


@dataclass(frozen=True, slots=True)
class UndoAsked:
    """The user said `task undo`: the file operations of a step are to be reversed, in a task that rests.

    Where the step's work is on the task's branch, `new` is a commit upon its tip `old` that has the files as they were
    before that work. Both are empty where the files of the step's last run are put back on disk.
    """

    at: float
    nonce: str
    request: str
    step: str
    old: str = ""
    new: str = ""
    kind: Literal["undo_asked"] = "undo_asked"


@dataclass(frozen=True, slots=True)
class Undone:
    """The file operations of a step were reversed; or they could not be, for `reason`."""

    at: float
    action: str
    reason: str = ""
    kind: Literal["undone"] = "undone"


@dataclass(frozen=True, slots=True)
class Intruded:
    """Somebody who may not touch it did: a `pm-….md` that the PM did not write, a name that is no handoff.

    `others` are further such files that came soon after others, by name and hash.
    """

    at: float
    name: str
    sha256: str
    reason: str
    others: tuple[tuple[str, str], ...] = ()
    kind: Literal["intruded"] = "intruded"


@dataclass(frozen=True, slots=True)
class Notified:
    """A message lies in the user's spool: the task has nothing more to do about it."""

    at: float
    action: str
    kind: Literal["notified"] = "notified"


@dataclass(frozen=True, slots=True)
class JournalDamaged:
    """The journal did not read to its end; what follows `kept` lines was set aside as `where`."""

    at: float
    nonce: str
    kept: int
    where: str
    kind: Literal["journal_damaged"] = "journal_damaged"


Fact: TypeAlias = (
    TaskStarted
    | ReportLanded
    | OperationsSettled
    | NotesLanded
    | RoleStatusLanded
    | EditsRefused
    | DecisionLanded
    | RunStarted
    | RunQueued
    | RunLeft
    | RunGone
    | LaunchFailed
    | TreeVanished
    | WorkCommitted
    | WorkInspected
    | EvidenceResolved
    | BranchTended
    | WorkMerged
    | CheckedIn
    | Looked
    | Nudged
    | EventLanded
    | UsageSeen
    | ActivitySeen
    | AnswerGiven
    | TimePassed
    | ClockMoved
    | ZoneChanged
    | BoxLost
    | BoxBack
    | FolderLost
    | FolderBack
    | BriefChanged
    | StopAsked
    | Answered
    | SpawnAsked
    | AdaptAsked
    | RebaseAsked
    | UndoAsked
    | Undone
    | Rebased
    | Intruded
    | Notified
    | JournalDamaged
)
