"""What became of work: committed, inspected, resolved as evidence, merged, rebased, undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.model.evidence import Resolution


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
class Rebased:
    """The task's branch was moved to its work made anew; or it could not be, for `reason`."""

    at: float
    action: str
    reason: str = ""
    kind: Literal["rebased"] = "rebased"


@dataclass(frozen=True, slots=True)
class Undone:
    """The file operations of a step were reversed; or they could not be, for `reason`."""

    at: float
    action: str
    reason: str = ""
    kind: Literal["undone"] = "undone"
