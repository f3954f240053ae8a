"""The changes of one step, and the state that follows from each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from orchestrator.model.cause import Cause
from orchestrator.model.consultation import Directive
from orchestrator.model.plan import Step, StepState, Tally
from orchestrator.model.usage_limit import UsageLimit


@dataclass(frozen=True, slots=True)
class StepAdded:
    """The plan has one more step."""

    step: Step
    kind: Literal["step_added"] = "step_added"


@dataclass(frozen=True, slots=True)
class StepRewired:
    """A step waits for other steps than before."""

    step: str
    after: tuple[str, ...]
    kind: Literal["step_rewired"] = "step_rewired"


@dataclass(frozen=True, slots=True)
class StepRevised:
    """The plan says something else of a step: `planned` has it as it is planned now. What was done of it stays."""

    step: str
    planned: Step
    kind: Literal["step_revised"] = "step_revised"


@dataclass(frozen=True, slots=True)
class StepMoved:
    """A step is in another state. `not_before` and `keep_tree` say how its next run begins.

    `limited`: it waits until then because of a usage limit.
    `replaced`: it is set aside because the plan reaches its goal in another way. `anew`: the work that this attempt was
    to continue is gone; the next run begins clean.
    """

    step: str
    to: StepState
    at: float
    why: str = ""
    not_before: float = 0.0
    keep_tree: bool = False
    replaced: bool = False
    limited: bool = False
    anew: bool = False
    kind: Literal["step_moved"] = "step_moved"


@dataclass(frozen=True, slots=True)
class StepTallied:
    """The failure counts of a step changed, or were reset."""

    step: str
    tally: Tally
    kind: Literal["step_tallied"] = "step_tallied"


@dataclass(frozen=True, slots=True)
class StepLimited:
    """What is known of the usage limit that holds a step up; None: it no longer does.

    `not_before` is when it is retried, if that changed.
    """

    step: str
    limit: UsageLimit | None = None
    not_before: float | None = None
    kind: Literal["step_limited"] = "step_limited"


@dataclass(frozen=True, slots=True)
class StepHurried:
    """A pausing step is retried now: the user may have fixed what held it up."""

    step: str
    kind: Literal["step_hurried"] = "step_hurried"


@dataclass(frozen=True, slots=True)
class StepFed:
    """The feedback that the next order of a step must contain."""

    step: str
    feedback: tuple[str, ...]
    kind: Literal["step_fed"] = "step_fed"


@dataclass(frozen=True, slots=True)
class StepRemembered:
    """The blockers that the agents of a step have reported so far."""

    step: str
    blockers: tuple[str, ...]
    kind: Literal["step_remembered"] = "step_remembered"


@dataclass(frozen=True, slots=True)
class StepLacked:
    """The skill or context that the agents of a step have reported as missing so far."""

    step: str
    gap: str
    kind: Literal["step_lacked"] = "step_lacked"


@dataclass(frozen=True, slots=True)
class StepReopened:
    """A step begins its next attempt. What earlier attempts produced no longer counts.

    `carries`: the next attempt begins with the work and the conversation of the last one. `queued`: the step keeps its
    place in the merge queue. `recheck`: only its check is run again; what its agent reported stands.
    """

    step: str
    attempt: int
    at: float
    why: str
    carries: bool = False
    queued: bool = False
    recheck: bool = False
    kind: Literal["step_reopened"] = "step_reopened"


@dataclass(frozen=True, slots=True)
class StepReported:
    """A report of a step was accepted. `unchanged` is the reason that it gives for changing nothing."""

    step: str
    report: str
    artifacts: tuple[str, ...]
    unchanged: str = ""
    kind: Literal["step_reported"] = "step_reported"


@dataclass(frozen=True, slots=True)
class StepChecked:
    """The check that the daemon ran for a step ended with `exit`, and printed these lines last.

    It ran on `commit`; empty if it ran on no commit of the task. `as_before`: it failed just as it had before anything
    was changed.
    """

    step: str
    exit: int
    lines: tuple[str, ...] = ()
    commit: str = ""
    as_before: bool = False
    kind: Literal["step_checked"] = "step_checked"


@dataclass(frozen=True, slots=True)
class StepTroubled:
    """A run or check of a step failed, for this cause."""

    step: str
    cause: Cause
    kind: Literal["step_troubled"] = "step_troubled"


@dataclass(frozen=True, slots=True)
class StepApproved:
    """The user approves of a step's work."""

    step: str
    kind: Literal["step_approved"] = "step_approved"


@dataclass(frozen=True, slots=True)
class StepCommitted:
    """The work of a step is a commit, which has nothing of what git ignores in its tree: the first few.

    `check_files` are the files of the check's command in which it differs from the task's base.
    """

    step: str
    commit: str
    ignored: tuple[str, ...] = ()
    check_files: tuple[str, ...] = ()
    kind: Literal["step_committed"] = "step_committed"


@dataclass(frozen=True, slots=True)
class StepQueued:
    """The work that a step judges waits to be merged, since `at`. `behind`: the branch has gained others' work."""

    step: str
    at: float
    behind: bool = False
    kind: Literal["step_queued"] = "step_queued"


@dataclass(frozen=True, slots=True)
class StepPrepared:
    """The worktree of a step was made ready for its next run."""

    step: str
    kind: Literal["step_prepared"] = "step_prepared"


@dataclass(frozen=True, slots=True)
class TreeBegun:
    """A run of a step begins clean, in this life of its tree."""

    step: str
    life: int
    kind: Literal["tree_begun"] = "tree_begun"


@dataclass(frozen=True, slots=True)
class StepInspected:
    """The work of a step is in the tree `where`, which is not the task's own; empty: nothing was changed there.

    `uncompared`: nobody can tell whether anything was changed there. `check_files` are the files of the check's command
    that it changed.
    """

    step: str
    where: str
    uncompared: bool = False
    check_files: tuple[str, ...] = ()
    kind: Literal["step_inspected"] = "step_inspected"


@dataclass(frozen=True, slots=True)
class StepStrewed:
    """A step changed these files, though it was only to look. If they were taken out, the ref `kept` has them."""

    step: str
    files: tuple[str, ...]
    kept: str = ""
    kind: Literal["step_strewed"] = "step_strewed"


@dataclass(frozen=True, slots=True)
class BranchJudged:
    """A step judges a whole branch; its commits together change something, or nothing."""

    step: str
    empty: bool
    kind: Literal["branch_judged"] = "branch_judged"


@dataclass(frozen=True, slots=True)
class StepOrdered:
    """The PM agent wants a step to start, with these additions to its order."""

    step: str
    directive: Directive | None = None
    kind: Literal["step_ordered"] = "step_ordered"


StepChange: TypeAlias = (
    StepRewired
    | StepRevised
    | StepMoved
    | StepTallied
    | StepLimited
    | StepHurried
    | StepFed
    | StepRemembered
    | StepLacked
    | StepReopened
    | StepReported
    | StepChecked
    | StepTroubled
    | StepApproved
    | StepCommitted
    | StepQueued
    | StepPrepared
    | TreeBegun
    | StepInspected
    | StepStrewed
    | BranchJudged
    | StepOrdered
)
"""The changes of a step that exists already."""
