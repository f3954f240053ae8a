"""Boxes: the machines over SSH on which agents live, each kept in sight by somebody who may wait for a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orchestrator.ports.host import Host, Observation


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """What one task has on one box, in one place there.

    Args:
        box: the box.
        task: the task's id.
        name: its name, as in `tasks/NAME`.
        home: its own folder in the PM's state here.
        folder: its folder in the project here.
        place: the folder on the box in which its agents work.
        runs: those of its runs that live there, or are to.
        over: those that have ended, and of whose files not all were brought yet.
        workflow: whether its agents hand in by files, which are sent and brought, too: those of a workflow, or a skill.

    """

    box: str
    task: str
    name: str
    home: Path
    folder: Path
    place: str
    runs: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()
    workflow: bool = False


@dataclass(frozen=True, slots=True)
class RemoteEnvironment:
    """What a run finds on a box: the PM's folder of its task there, and the environment of a login."""

    home: Path
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Belief:
    """Whether a box can be spoken to, and why that is believed. `refused`: only a person can mend it.

    `since` is when that began, in seconds since the epoch; 0 if `why` says it, or nobody knows.
    """

    reachable: bool
    why: str
    refused: bool = False
    since: float = 0.0


class TransferKind(StrEnum):
    """What is brought from a box: what tells of runs (handoffs, events, exits), and what is large."""

    STEERING = "handoffs, events and exits"
    LARGE = "artifacts and logs"


@dataclass(frozen=True, slots=True)
class TransferFailure:
    """What of a task could not be brought from a box that answers.

    Args:
        pull: what does not come. Of runs of which nothing that steers comes, nothing is known.
        since: when the first try failed, in seconds since the epoch.
        why: what failed, and what to do about it.
        tries: how many tries have failed in a row.
        is_pressing: it does not pass by itself, as far as can be seen: a person is to mend it.

    """

    pull: TransferKind
    since: float
    why: str
    tries: int = 1
    is_pressing: bool = False


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen of a run on a box, and when that was asked, in seconds since the epoch here."""

    observation: Observation
    at: float


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """What lies at a path on a box: a file of so many lines, or a folder.

    `is_empty`: the file has not a byte, or no file in the folder has one. `lines` is None for a file that is too large
    for its lines to be counted.
    """

    is_folder: bool
    is_empty: bool = False
    lines: int | None = 0


class Relation(StrEnum):
    """How HEAD of a repository on a box stands to a commit."""

    HAS = "has"  # it is that commit, or builds on it
    LACKS = "lacks"  # the commit is not known there: it must be sent first
    BEHIND = "behind"  # HEAD led to that commit, or is none yet
    APART = "apart"  # HEAD has commits that this one does not build on


@dataclass(frozen=True, slots=True)
class CloneState:
    """A repository on a box, seen from a commit. `head` is the commit on which it stands; empty if it has none.

    `changed`: files that git tracks differ from HEAD, or a merge or rebase is under way. `mixed`: HEAD has what was
    sent for another task, and the commit has not.
    """

    relation: Relation
    head: str = ""
    changed: bool = False
    mixed: bool = False


class Boxes(Protocol):
    """All boxes. What only looks, or only notes, waits for nobody: the deciding thread may call it.

    A box is called `[user@]host[:port]`, as task.md does.
    """

    def keep(self, task: str, remote_tasks: tuple[RemoteTask, ...]) -> None:
        """Note what a task has on boxes: from now on that is kept in sight, and nothing else of it.

        What comes to lie there appears in the task's folders here, answers that lie in a run's folder are sent, and of
        a transcript that is named there (places.run_transcript_there) a copy is kept. Once a whole pull
        has come to its end that began after the exit of a run, the mark `places.run_outstanding` of it is removed.
        """
        ...

    def release(self, task: str) -> bool:
        """Let no file of a task be changed here any more, also by what is under way, until it is kept again.

        Return False if one is being changed at this moment: then nothing was done.
        """
        ...

    def seen(self, box: str, folder: Path) -> Sighting | None:
        """Return what was last seen of a run, by its folder here; None if nothing was yet.

        It is said to be gone only when all was brought that it had left (law 5).
        """
        ...

    def belief(self, box: str, task: str = "") -> Belief | None:
        """Return what is believed of a box; None where nobody has tried yet.

        With a task: whether anything is known of its runs there. A box that answers, and from which nothing that tells
        of them can be brought, is not reachable for it.
        """
        ...

    def troubles(self, box: str, task: str) -> tuple[TransferFailure, ...]:
        """Return what of a task cannot be brought from a box that answers, the longest first."""
        ...

    def environ(self, box: str) -> Mapping[str, str]:
        """Return the environment of a login on a box, as far as it is known."""
        ...

    def hurry(self, box: str) -> None:
        """There is something to be sent, or to be looked at: an answer, a run that was launched."""
        ...

    def call_again(self) -> None:
        """Somebody may have mended something: try every box that is lost, and everything that could not be brought."""
        ...

    # From here on each call may wait, and is for the hands. All raise Unavailable while the box is lost, too where it
    # refuses: that is a question of its own.

    def host(self, box: str) -> Host:
        """Return the box as a host. Folders of runs are those here."""
        ...

    def ground(self, remote_task: RemoteTask) -> RemoteEnvironment:
        """Make the task's folders there, if they are missing, and tell of them."""
        ...

    def send(self, remote_task: RemoteTask, instance: str) -> None:
        """Send what lies in the task's handoffs and artifacts here, and in an instance's scratchpad.

        Nothing that is there is replaced.
        """
        ...

    def send_workflow(self, remote_task: RemoteTask, sent: Path) -> None:
        """Send the files of a workflow to a box, over those that lie there; what is replaced is kept there.

        `sent` is a folder with what is sent last: the shared status as the run is to find it, and whose it is. Raises
        Unavailable.
        """
        ...

    def handed_in(self, remote_task: RemoteTask) -> Path | None:
        """Return the folder here with the files of a workflow as they were brought from a box; None if there is none.

        Whatever is known of the end of a turn there was written after these.
        """
        ...

    def show(self, remote_task: RemoteTask) -> None:
        """Have a window in the task's session here show its session there; one for all agents of a box."""
        ...

    def leave(self, box: str, task: str) -> None:
        """Let go of what a task that has ended has there: its windows and its session, and the window here.

        What is kept here for bringing it is freed. A run that lives there is left alone.
        """
        ...

    def changed(self, box: str, place: str, seconds: float) -> bool:
        """Tell whether anything was changed in a tree there in the last `seconds`."""
        ...

    def bring(self, box: str, place: str, project: Path, ref: str) -> str:
        """Fetch HEAD of a repository there into a ref of one here; return its commit.

        Raises Refused, with the reason, where there is no repository or no commit.
        """
        ...

    def clone_state(self, box: str, place: str, commit: str, ref: str) -> CloneState:
        """Return how HEAD of a repository there stands to a commit, which was sent if `ref` there has it.

        Raises Refused where there is no repository.
        """
        ...

    def send_commit(self, box: str, place: str, project: Path, commit: str, ref: str) -> None:
        """Send a commit of the repository at `project` into a ref of one there: what that lacks of it, and no more.

        Nothing is checked out. It may be repeated. Raises Refused, with the reason, where that can never be.
        """
        ...

    def advance_head(self, box: str, place: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
        """Let HEAD of a repository there, with its files, stand on a commit that was sent, if it still is as `seen`.

        A HEAD that has commits which this one has not is kept there first, on a ref beneath `kept`. Nothing is
        overwritten: Refused is raised where a file is in the way. It may be repeated.
        """
        ...

    def uncommitted(self, box: str, place: str) -> bool:
        """Tell whether anything lies uncommitted in a repository there, new files too, but for what it ignores."""
        ...

    def fingerprint(self, box: str, place: str, without: str) -> str:
        """Return how a tree there stands, as `Workspaces.fingerprint` does; `without` is a path in it."""
        ...

    def differing(self, box: str, place: str, before: str, now: str) -> tuple[str, ...] | None:
        """Return the files in which a tree there differs, as `Workspaces.differing` does."""
        ...

    def file_at(self, box: str, place: str, path: str, task: str) -> RemoteFile | None:
        """Return what lies at a path, absolute or in the folder `place` there.

        None if nothing does, or if it is not beneath that folder: a link that leads out of it leads nowhere. So it is
        with that folder itself, with what is git's own, and with what a task has beneath `task` (`tasks/NAME`), but
        for its artifacts.
        """
        ...

    def commit_at(self, box: str, place: str, name: str, base: str, since: float) -> str:
        """Return the full hash of a commit that HEAD of a repository there has, by a full or shortened one.

        Empty if it has no such commit, or if that was there before a task began: `base`, the commit from which that
        began, has it; or, where that is not known there, it is older than `since` (seconds since the epoch).
        """
        ...


def reached(boxes: Boxes, box: str) -> bool:
    """Tell whether a box can be spoken to, as far as is known."""
    belief = boxes.belief(box)
    return belief is not None and belief.reachable
