"""Actions: what is to be done in the world. Each stays in the outbox until a fact tells its outcome (law 3).

`Launch` is *claimed*: its claim file decides who did it. `Nudge` is done *at most once*: claimed before it is
begun, and unknown if that was not the end of it. All others are *repeatable* (law 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orchestrator.model.event import Reply
from orchestrator.model.evidence import Reference
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.notification import NotificationRule


@dataclass(frozen=True, slots=True)
class Launch:
    """Prepare the workspace of a run, publish its order, and open it in a pane.

    Outcome: `RunStarted` or `LaunchFailed`.
    """

    id: str
    run: str
    kind: Literal["launch"] = "launch"


@dataclass(frozen=True, slots=True)
class End:
    """End a run: TERM, and KILL for its whole group after the grace. Outcome: `RunGone`."""

    id: str
    run: str
    kind: Literal["end"] = "end"


@dataclass(frozen=True, slots=True)
class Look:
    """Look at what a quiet run does: its output, its processes, its tree, its screen. Outcome: `Looked`."""

    id: str
    run: str
    kind: Literal["look"] = "look"


@dataclass(frozen=True, slots=True)
class Nudge:
    """Type one line to a run. Outcome: `Nudged`."""

    id: str
    run: str
    text: str
    kind: Literal["nudge"] = "nudge"


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the event `name` of a run, whose program waits for it. Outcome: `AnswerGiven`."""

    id: str
    run: str
    name: str
    reply: Reply
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class Commit:
    """Put the work of a step on its workspace's branch as one commit. Outcome: `WorkCommitted`."""

    id: str
    step: str
    attempt: int
    kind: Literal["commit"] = "commit"


@dataclass(frozen=True, slots=True)
class Inspect:
    """See whether a step changed anything in a tree that is not its own to change. Outcome: `WorkInspected`.

    Where that is not the task's, its work lies there. Where it is, the step was only to look: what it changed is kept,
    and taken out of the tree.
    """

    id: str
    step: str
    attempt: int
    kind: Literal["inspect"] = "inspect"


@dataclass(frozen=True, slots=True)
class ResolveEvidence:
    """Look up what the `marks` of a step's report give as evidence. Outcome: `EvidenceResolved`.

    `references` are those that only a look at the disk or the repository can settle.
    """

    id: str
    step: str
    attempt: int
    marks: tuple[CriterionMark, ...]
    references: tuple[Reference, ...]
    kind: Literal["resolve_evidence"] = "resolve_evidence"


@dataclass(frozen=True, slots=True)
class TendBranch:
    """See that the task's branch stands on the last accepted commit, and put it back there. Outcome: `BranchTended`.

    With a `step`, that judges the whole: `marks` and `references` are what its evidence is looked up by afterwards.
    Without one, everything is settled, and the task is about to end.
    """

    id: str
    step: str = ""
    attempt: int = 0
    marks: tuple[CriterionMark, ...] = ()
    references: tuple[Reference, ...] = ()
    kind: Literal["tend_branch"] = "tend_branch"


@dataclass(frozen=True, slots=True)
class Merge:
    """Move the task's branch forward to a step's commit, or put that upon what it has gained. Outcome: `WorkMerged`.

    `forward_only`: somebody is still in the tree of the work, in which nothing may be changed then.
    """

    id: str
    step: str
    attempt: int
    commit: str
    forward_only: bool = False
    kind: Literal["merge"] = "merge"


@dataclass(frozen=True, slots=True)
class Rebase:
    """Move the task's branch from `old` to `new`, its work made anew upon another commit. Outcome: `Rebased`.

    `before` is the base as it was, `commits` what the steps had handed in, by step: where the branch cannot be moved,
    that holds again.
    """

    id: str
    old: str
    new: str
    before: str
    commits: dict[str, str] = field(default_factory=dict)
    kind: Literal["rebase"] = "rebase"


@dataclass(frozen=True, slots=True)
class Undo:
    """Reverse the file operations of a step. Outcome: `Undone`.

    Either the task's branch is moved from `old` to `new`, which reverses the step's commit; or, where `new` is empty,
    the files that `run` changed are put back on disk.
    """

    id: str
    step: str
    run: str
    old: str = ""
    new: str = ""
    kind: Literal["undo"] = "undo"


@dataclass(frozen=True, slots=True)
class Notify:
    """Put a message into the user's spool, from where it is sent (law 4). Outcome: `Notified`.

    `id` is the message's own. `at` is when it happened; with `question` it is that question's `asked_at`. At `until` a
    question that nobody answered is taken to be `default`, and a limited run is tried again.
    """

    id: str
    rule: NotificationRule
    title: str
    text: str
    at: float
    question: str = ""
    until: float | None = None
    default: str = ""
    kind: Literal["notify"] = "notify"


Action: TypeAlias = (
    Launch
    | End
    | Look
    | Nudge
    | Answer
    | Commit
    | Inspect
    | ResolveEvidence
    | TendBranch
    | Merge
    | Rebase
    | Undo
    | Notify
)
