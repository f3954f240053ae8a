"""The task's branch on a box: sent into the repository there before a run begins, which then begins upon it.

::

    HEAD there has the commit ──────────────────────────▶ nothing to do
    HEAD led to it, and no file is changed ─────────────▶ HEAD moves forward
    HEAD has the work of another task ──────────────────▶ HEAD is kept on a ref there, and moves
    the step was at work there before ──────────────────▶ HEAD stays; its order says what to merge
    HEAD has other work of the task ────────────────────▶ HEAD is kept on a ref there, and moves
    an agent of the task died there after its commit ───▶ that is fetched, kept on a ref there, and HEAD moves
    anything else is somebody's: it may be lost ────────▶ a person is asked

Another task's work must not come along, and what a step's own agent made must not be taken from it. Work of the task is
put upon its branch as other commits: so HEAD has those that were made there, and the branch has not.

It comes with `bring: branch` alone. Each part may be repeated, and none is done once a run was launched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.core.task_paths import shared_place, tree_of
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.plan import Gate
from orchestrator.model.run import Purpose
from orchestrator.model.task import Bring
from orchestrator.pm.plan.work_location import location_of
from orchestrator.ports.boxes import CloneState, Relation
from orchestrator.ports.workspaces import Holder

if TYPE_CHECKING:
    from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.model.task import Location
    from orchestrator.pm.state.task_state import PMState

_SHORT: Final = 12
_REFS: Final = "refs/orchestrator"


class Move(Enum):
    """What becomes of HEAD on a box ahead of a run."""

    NONE = "it has the commit"
    FORWARD = "it is let stand on the commit"
    LEFT = "it stays, and the agent brings both together"
    ASK = "a person is asked"


@dataclass(frozen=True, slots=True)
class BranchThere:
    """A commit that a repository on a box has, for the order of a run.

    `of` says what it is, `ref` is where it is kept there, `in_head` whether HEAD is known to have it. `kept` is where
    commits are kept that HEAD had before; empty if the run changes nothing.
    """

    of: str
    commit: str
    ref: str
    in_head: bool
    kept: str = ""

    def __str__(self) -> str:
        """Return it as an order says it."""
        at = f"{self.of[0].upper()}{self.of[1:]} is at {self.commit[:_SHORT]}, here also {self.ref}"
        if self.in_head:
            lines = [f"{at}: HEAD has it"]
        else:
            lines = [
                f"{at}. HEAD may not have it: run `git merge {self.ref}` first, and resolve what conflicts"
            ]
        if self.kept:
            lines.append(
                f"Work that HEAD had before, and has no more, is kept: `git for-each-ref {self.kept}`"
            )
        return "\n".join(lines)


def move_of(seen: CloneState, commit: str, holder: Holder, *, goes_on: bool) -> Move:
    """Return what becomes of HEAD on a box, ahead of a run that begins with a commit.

    `holder` is who has what HEAD is at, in the repository here. `goes_on`: the step was at work there before.
    """
    if seen.head == commit:
        return Move.NONE
    if holder is Holder.OTHERS or (seen.mixed and holder is Holder.NOBODY):
        return Move.ASK if seen.changed or holder is Holder.NOBODY else Move.FORWARD
    if seen.relation is Relation.HAS:
        return Move.NONE
    if goes_on:
        forward = seen.relation is Relation.BEHIND and not seen.changed
        return Move.FORWARD if forward else Move.LEFT
    if seen.changed or not (seen.relation is Relation.BEHIND or holder is Holder.TASK):
        return Move.ASK
    return Move.FORWARD


def branch_there(
    adapters: Adapters, state: PMState, step: Step, run: Run, where: TaskPaths, *, launched: bool
) -> BranchThere | None:
    """Send the commit that a run on a box begins with, and let HEAD there stand on it; None if code stays there.

    `launched`: the run may be at work there, so that nothing is done any more.

    Raises:
        Refused: a person must do something there first, or it is too much.
        Unavailable: the box cannot do it now.

    """
    place = location_of(state.brief.config, run.agent)
    commit, of = _begins_at(state, step)
    if not (run.on_box and place is not None and commit and state.brief.config.bring is Bring.BRANCH):
        return None
    ref, kept = f"{_REFS}/{state.branch}/tip", f"{_REFS}/{state.branch}/kept"
    goes_on = _was_at_work(state, step, run)
    in_head = False
    if not launched:
        seen = _sent(adapters, place, where, commit, ref)
        holder = _holder(adapters, state, where, seen, commit)
        move = move_of(seen, commit, holder, goes_on=goes_on)
        is_unknown = move is Move.ASK and holder is Holder.NOBODY and not (seen.changed or seen.mixed)
        if is_unknown and _fetched_of_the_dead(adapters, state, run, where, seen):
            move = move_of(seen, commit, Holder.TASK, goes_on=goes_on)
        if move is Move.ASK:
            raise Refused(_question(place, seen, of, commit, ref))
        if move is Move.FORWARD:
            adapters.boxes.advance_head(place.host, place.path, seen, commit, ref, kept)
        in_head = move is not Move.LEFT
    return BranchThere(of, commit, ref, in_head, kept if goes_on else "")


def _holder(adapters: Adapters, state: PMState, where: TaskPaths, seen: CloneState, commit: str) -> Holder:
    """Return who has here what HEAD on a box is at. Nobody is asked where it does not matter."""
    if seen.head in {"", commit} or seen.relation is Relation.BEHIND:
        return Holder.NOBODY
    return adapters.workspaces.holder(where.code, state.branch, seen.head)


def _fetched_of_the_dead(
    adapters: Adapters, state: PMState, run: Run, where: TaskPaths, seen: CloneState
) -> bool:
    """Fetch what HEAD on a box is at, if the last agent of the task there died before that was done; else return False.

    Before that agent began, everything in HEAD was known. Its step's next order says where the work is kept there.

    Raises:
        Refused: it is too much.
        Unavailable: HEAD moved meanwhile, or the box cannot do it now.

    """
    place = shared_place(state, run)
    there = [each for each in state.runs.values() if _worked_in(state, each, place) and each.id != run.id]
    last = max(there, key=lambda each: (each.opened_at, each.id), default=None)
    if last is None or last.live or last.reported_at is not None:
        return False
    tree, location = tree_of(state, state.steps[last.step], where), location_of(state.brief.config, run.agent)
    if tree is None or location is None:
        return False
    ref = f"{tree.keep_prefix}left-{seen.head}"
    if adapters.boxes.bring(location.host, location.path, where.code, ref) != seen.head:
        raise Unavailable(f"{location.host}: HEAD of {location.path} moved while it was fetched")
    return True


def _worked_in(state: PMState, run: Run, place: str) -> bool:
    """Return whether a run was at work in a place, as one whose work is committed."""
    step = state.steps.get(run.step)
    is_committed = step is not None and Gate.COMMIT in step.gates
    return is_committed and _lived_for_work(run) and shared_place(state, run) == place


def _sent(adapters: Adapters, place: Location, where: TaskPaths, commit: str, ref: str) -> CloneState:
    """Send a commit if it is missing on a box, and return how HEAD there stands to it."""
    boxes = adapters.boxes
    seen = boxes.clone_state(place.host, place.path, commit, ref)
    if seen.relation is not Relation.LACKS:
        return seen
    boxes.send_commit(place.host, place.path, where.code, commit, ref)
    seen = boxes.clone_state(place.host, place.path, commit, ref)
    if seen.relation is Relation.LACKS:
        raise Unavailable(f"{place.host}: {place.path} says that it has not {commit[:_SHORT]}, which it took")
    return seen


def _begins_at(state: PMState, step: Step) -> tuple[str, str]:
    """Return the commit with which a run of a step begins, and what that is."""
    judged = state.steps.get(step.judges)
    if judged is not None and judged.commit:
        return judged.commit, "the work that you judge"
    return state.tip or state.base, f"the task's branch {state.branch}"


def _was_at_work(state: PMState, step: Step, run: Run) -> bool:
    """Return whether the step's own work may lie where a run is to begin: an earlier run of it lived on that box."""
    return Gate.COMMIT in step.gates and any(
        each.step == step.id and each.id != run.id and each.host == run.host and _lived_for_work(each)
        for each in state.runs.values()
    )


def _lived_for_work(run: Run) -> bool:
    return run.purpose is Purpose.WORK and (run.lasted > 0 or run.pid is not None)


def _question(place: Location, seen: CloneState, of: str, commit: str, ref: str) -> str:
    has = (
        "files there are changed and not committed"
        if seen.changed
        else f"its HEAD {seen.head[:_SHORT]} has commits that are none of the task's"
    )
    return (
        f"{place.path} on {place.host} is not at {commit[:_SHORT]}, where {of} is, and was not brought there, because "
        f"{has}. That commit is there as {ref}: commit what is to stay and `git merge {ref}` there, or move it away"
    )
