"""What a task's work is, where it lies, and how its checks ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.projections.outcome_words import NAMED, counted_as, more_than_named, shortened
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import TaskState
from orchestrator.pm.state.results import (
    baseline_of,
    checked_work,
    last_check,
    rebased_since,
    work_checked_last,
)

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.workspaces import BranchSurvey


AT_WORK: Final = frozenset({TaskState.RUNNING, TaskState.WAITING})


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a step left in its worktree, and nobody has accepted yet: how many files, and in which folder."""

    step: str
    files: int
    folder: str


@dataclass(frozen=True, slots=True)
class BranchLook:
    """A look at a task's branch: what was seen, and when (seconds since the epoch); a `fault` says why it failed.

    `unfinished`: of a task at rest, what lies in worktrees and is not on the branch.
    """

    at: float
    seen: BranchSurvey | None = None
    fault: str = ""
    unfinished: tuple[Unfinished, ...] = ()


def work_done(state: PMState, look: BranchLook | None) -> str:
    """Return what was done, where it lies, what is not on the branch yet, and how the checks ended."""
    return "; ".join(
        each
        for each in (_where_it_lies(state, look), _left(look), _handed_in(state), _tested(state, look))
        if each
    )


def _handed_in(state: PMState) -> str:
    """Return where the outputs of a workflow's agents lie: on no branch."""
    files = sum(len(made[-1].files) for made in state.handed_in.values())
    if not files:
        return ""
    where = f"in tasks/{state.name}/orchestration/agents/*/task_output"
    asked = (each.id for each in state.open_questions if each.kind is QuestionKind.FOLDER)
    if question := next(asked, ""):
        where = f"in the task's folder, which is not there to be used ({question})"
    return f"{counted_as(files, 'file')} handed in by {counted_as(len(state.handed_in), 'agent')} {where}"


def _where_it_lies(state: PMState, look: BranchLook | None) -> str:
    """Return where the work is: on the branch, as last seen, or in folders that are not the task's own."""
    elsewhere = list(dict.fromkeys(step.elsewhere for step in state.steps.values() if step.elsewhere))
    if elsewhere:
        places = f"it is in {', '.join(elsewhere[:NAMED])}, on no branch of the task"
    if not state.base:
        return places if elsewhere else "nothing was changed so far"
    branch = _on_branch(state, look)
    return f"{places}; {branch}" if elsewhere else branch


def _on_branch(state: PMState, look: BranchLook | None) -> str:
    if look is None:
        return f"the branch `{state.branch}` has not been looked at yet"
    if look.fault:
        return f"the branch `{state.branch}` could not be looked at: {shortened(look.fault)}"
    seen = look.seen
    if seen is None:
        return f"there is no branch `{state.branch}`"
    if seen.gone:
        return (
            f"there is no branch `{state.branch}`: it was at {seen.tip[:10]}, all of it in your tree's HEAD"
        )
    if is_astray(state, look):
        return f"branch `{state.branch}` is at {seen.tip[:10]}, where the PM left it at {state.tip[:10]}"
    if not seen.count:
        beyond = f" beyond {state.base[:10]}" if any(step.commit for step in state.steps.values()) else ""
        back = f", though the PM left it at {state.tip[:10]}: it is put back there ahead of the next merge"
        lacks = state.tip not in {"", seen.tip, state.base}
        return f"nothing is on the branch `{state.branch}`{beyond}{back if lacks else ''}"
    summary = (
        f"branch `{state.branch}` at {seen.tip[:10]}: {counted_as(seen.count, 'commit')}, "
        f"{counted_as(seen.files, 'file')} changed, +{seen.added} -{seen.removed}"
    )
    return f"{summary}, all of it in your tree's HEAD" if seen.merged else summary


def _left(look: BranchLook | None) -> str:
    """Return what lies in worktrees, and is not on the branch."""
    left = look.unfinished if look is not None else ()
    said = [
        f"{counted_as(each.files, 'file')} changed by {each.step} in {each.folder}" for each in left[:NAMED]
    ]
    said += more_than_named(left, "worktrees")
    return f"not on the branch yet: {', '.join(said)}" if said else ""


def is_astray(state: PMState, look: BranchLook | None) -> bool:
    """Return whether somebody moved the branch since the task is at rest: what was accepted may not be on it."""
    seen = None if look is None else look.seen
    return seen is not None and bool(state.tip) and seen.tip != state.tip and state.state not in AT_WORK


def _tested(state: PMState, look: BranchLook | None) -> str:
    """Return how the checks ended, before anything was changed and on the current work."""
    before, after = baseline_of(state), last_check(state)
    if before is None and after is None:
        ahead = [step for step in state.steps.values() if step.check_exit is not None and not step.only_check]
        only = ", ".join(f"ahead of {step.id}: exited {step.check_exit}" for step in ahead[:NAMED])
        return "the PM has run no check on it" + (f", only {only}" if only else "")
    results = []
    if before is not None:
        old = f", on {before.check_commit[:10]}" if rebased_since(state, before) else ""
        results.append(f"check before: {_ended(before)}{old}")
    if after is not None:
        tip = look.seen.tip if look is not None and look.seen is not None else ""
        results.append(f"check after: {_ended(after)}{_stale(state, after, tip)}{check_rewritten(state)}")
    else:
        results.append("check after: none on accepted work so far")
    return ", ".join(results)


def check_rewritten(state: PMState) -> str:
    """Return which files of the check's own command are not as they were before the task."""
    work = work_checked_last(state)
    if work is None or not work.check_files:
        return ""
    return f", by a check whose command names what the task has changed: {shortened(', '.join(work.check_files), 160)}"


def _stale(state: PMState, after: Step, tip: str) -> str:
    """Return on which commit a check ran, if that is not the tip of the branch."""
    commit = after.check_commit or checked_work(state, after)
    if rebased_since(state, after):
        return f", on {commit[:10]} and not on what came after it: the work was rebased since"
    return f", on {commit[:10]} and not on what came after it" if tip and commit and commit != tip else ""


def _ended(step: Step) -> str:
    if step.check_exit is None:
        return "it is still running" if step.state is StepState.WORKING else "no result"
    line = f" ({shortened(step.check_lines[-1], 80)})" if step.check_lines else ""
    return f"exited {step.check_exit}{line}"
