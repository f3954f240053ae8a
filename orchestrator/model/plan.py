"""A plan: an acyclic graph of steps, each with its agent, needs, workspace, gates and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.model.cause import Cause
from orchestrator.model.consultation import Directive
from orchestrator.model.task import Phase, WorkspaceKind
from orchestrator.model.usage_limit import UsageLimit


class StepState(StrEnum):
    """The state of one step."""

    PENDING = "pending"  # waits for its turn, for what it needs, or for the end of a pause
    WORKING = "working"  # an agent has the order
    CHECKING = "checking"  # reported; the gate is not yet through
    PASSED = "passed"  # its report and every gate are through
    BLOCKED = "blocked"  # waits for the answer to a question
    FAILED = "failed"  # a bound was reached and nothing more is tried by itself
    SET_ASIDE = "set_aside"  # given up, by the user or by policy; the rest of the plan goes on


class Gate(StrEnum):
    """The gates that ship: what must hold before a step passes, beyond a valid report whose artifacts exist.

    A step names its gates as text, as installed packages bring others (`pm.policies.gates`).
    """

    VERDICT = "verdict"  # the report says APPROVED
    CHECK = "check"  # the command that the daemon ran before the agent exited 0
    SUBTASKS = "subtasks"  # the report's subtasks make a valid edit of the plan
    CRITERIA = "criteria"  # each success criterion is marked met, with evidence that exists
    COMMIT = "commit"  # the work is a commit on the workspace's branch
    CHANGED = "changed"  # the work lies in a tree that is not the task's own, which was seen to change
    MERGED = "merged"  # the work was brought onto the task's branch, and what came of it was tested
    APPROVED = "approved"  # the user approves of it, where task.md says so
    REVIEWED = "reviewed"  # a review step that the report asked for has approved
    HANDOFF = "handoff"  # what it hands on to the next role is complete for its transition
    MEMORY = "memory"  # its agent's memory file exists and is complete
    NOTES = "notes"  # the files that it left say that it is done, and each of its notes is resolved
    OUTPUTS = "outputs"  # the outputs and the evidence that the plan names exist
    POC = "poc"  # the proof of concept that it judges holds, or the user wants to go on all the same
    RESOLUTION = "resolution"  # the escalated notes have answers, checked against the tasks of others
    JOINT = "joint"  # the verdict on the work that it judges was given at a checkpoint
    CHECKPOINT = "checkpoint"  # each piece of work that it judges together has its verdict
    DECISION = "decision"  # the PM agent has decided at least once


@dataclass(frozen=True, slots=True)
class Tally:
    """What has gone wrong with a step, counted against the bounds of `Limits`.

    `rejections`, `blocks` and `replans` span attempts; the others start again with each attempt. `limits` and
    `overloads` are of the model's service, `launches` are those that failed on a box: these are counted in a row.
    `rejudged` counts how often it judged again, as its tree or the branch was changed while it judged.
    `overloaded_since` is when the first overload of the row came, in seconds since the epoch; 0 if there is none.
    `fresh` counts the conversations that were given up within an attempt for a new one that went on with the same tree.
    `conflicts` counts how often the work did not fit to what the task's branch had gained meanwhile; it spans attempts
    like `rejections`. `operations` counts how often file operations could not be carried out, `preparations` how often
    in a row the worktree could not be made ready.
    """

    rejections: int = 0
    blocks: int = 0
    crashes: int = 0
    losses: int = 0
    asks: int = 0
    silences: int = 0
    replans: int = 0
    limits: int = 0
    overloads: int = 0
    contexts: int = 0
    stalls: int = 0
    fresh: int = 0
    launches: int = 0
    rejudged: int = 0
    overloaded_since: float = 0.0
    conflicts: int = 0
    operations: int = 0
    preparations: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a plan.

    `needs` must have passed; `after` must only be settled (passed or set aside) and gives the order.
    A rejection by this step reopens `judges`. `workspace` names a tree of `kind`; steps of one name share it.
    The next run finds the tree as the last one left it where `keep_tree` is set, and clean otherwise: then in another
    life of it, of which `tree_life` is the last that this step began, 0 if none. `blockers`
    are all that its agents were blocked by, whatever the attempt; `gap` is what they said to lack of skills.
    `limit` is the last usage limit that held it up, until its agent works again; `limited` says that it waits for that
    now, and not because of what else went wrong since.
    `directive` is what the PM agent adds to this attempt's orders. `commit` is the work of this attempt, `last_commit`
    of the last one before it that had any: that was not good enough. With `carries` this attempt goes on with the
    conversation of the last one, and with its tree: as it lies there, or clean with the work of the commit
    `starts_from`.

    `since` is when it came into its state, `began_at` when work on it first began; seconds since the epoch.

    `unchanged` is why the report of this attempt hands in no change, `elsewhere` the tree that is not the task's own in
    which its work was seen to lie. `cause` is why its last run or check failed.
    `check_lines` are the last lines that its check printed, however that ended, `check_commit` is the commit on which
    it ran, as far as the PM knows one. `check_as_before`: it failed, and just as the same check had failed before
    anything was changed. `only_check`: the step is its check, and no agent follows it. `recheck`: in this
    attempt only its check is run, because the work that it judges was put upon what the task's branch had gained.
    `claims` are the paths that its work may change: no two subtasks at work may claim the same (`pm.state.claims`).
    `queued_at` is since when the work that it judges waits to be merged, 0 if it does not; `behind`: the branch was
    seen to have gained others' work by then. `bounds` are limits of this step alone, by the name that they have in
    `Limits`; of the steps of one `group` only so many run at once as the plan allows. `replaced`: it was set aside
    because the plan reaches its goal in another way. `empty`: when it judged the whole, all commits of the branch
    together were seen to change nothing. `unplanned`: the PM agent ordered it outside the plan. `uncompared`: its work
    is said to lie `elsewhere`, and nobody can tell whether anything was changed there. `strewn` are the files that it
    changed in this attempt though it was only to look, and `strewn_kept` the ref that has them, if they were taken out.
    `ignored` is what git ignores in the tree of its commit. `check_files` are the files of the check's command that are
    not as they were before the task, each with its changed lines where they are known.
    `prepared`: the worktree was made ready for this try, as `prepare:` of task.md says.
    """

    id: str
    agent: str
    title: str
    instructions: str
    phase: Phase
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    kind: WorkspaceKind = WorkspaceKind.READ_ONLY
    workspace: str = ""
    gates: tuple[str, ...] = ()
    judges: str = ""
    subtask: str = ""
    done_when: str = ""
    state: StepState = StepState.PENDING
    attempt: int = 1
    tally: Tally = Tally()
    feedback: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    why: str = ""
    since: float = 0.0
    began_at: float = 0.0
    not_before: float = 0.0
    keep_tree: bool = False
    tree_life: int = 0
    approved: bool = False
    check_exit: int | None = None
    commit: str = ""
    last_commit: str = ""
    report: str = ""
    artifacts: tuple[str, ...] = ()
    gap: str = ""
    directive: Directive | None = None
    limit: UsageLimit | None = None
    limited: bool = False
    carries: bool = False
    starts_from: str = ""
    unchanged: str = ""
    elsewhere: str = ""
    cause: Cause | None = None
    check_lines: tuple[str, ...] = ()
    check_as_before: bool = False
    only_check: bool = False
    replaced: bool = False
    empty: bool = False
    uncompared: bool = False
    strewn: tuple[str, ...] = ()
    strewn_kept: str = ""
    ignored: tuple[str, ...] = ()
    check_files: tuple[str, ...] = ()
    check_commit: str = ""
    unplanned: bool = False
    claims: tuple[str, ...] = ()
    queued_at: float = 0.0
    behind: bool = False
    recheck: bool = False
    bounds: tuple[tuple[str, int], ...] = ()
    group: str = ""
    prepared: bool = False

    @property
    def settled(self) -> bool:
        """True when nothing more will come of this step by itself."""
        return self.state in {StepState.PASSED, StepState.SET_ASIDE}
