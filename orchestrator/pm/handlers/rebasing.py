"""`task rebase`: a stopped or ended task's work is moved onto another commit, and tested and accepted again there.

The earlier test results do not apply to the moved work. So the last subtask that was tested is tested again, with
everything before it in its tree, and the success criteria are judged again. Both happen at the next start; the task is
not complete before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Rebase, Undo
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.task import Phase, TaskState, WorkspaceKind
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.policies.reopen import feed, reopen
from orchestrator.pm.state.changes import (
    BaseMoved,
    BranchPlaced,
    CriteriaMarked,
    PhaseMoved,
    RequestAcknowledged,
    TaskMoved,
)
from orchestrator.pm.state.transitions import phase_path

if TYPE_CHECKING:
    from orchestrator.model.facts import RebaseAsked, Rebased
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

SHORT: Final = 10
"""How many characters of a commit's hash are shown."""

_OVER: Final = frozenset({StepState.PASSED, StepState.FAILED, StepState.BLOCKED, StepState.CHECKING})


def rebase_asked(draft: Draft, fact: RebaseAsked) -> None:
    """Move the task's work onto another commit; earlier tests and acceptance no longer count."""
    draft.change(RequestAcknowledged(fact.request))
    if why := _against(draft.state, fact.base, fact.old):
        draft.reply, draft.refused = why, True
        return
    before, short = draft.state.base, fact.base[:SHORT]
    had = {step.id: step.commit for step in draft.state.steps.values() if step.commit in fact.commits}
    stays = fact.old == fact.new  # the branch builds on it already, or it contains the whole branch
    moved = {} if stays else {step: fact.commits[commit] for step, commit in had.items()}
    draft.change(BaseMoved(fact.base, moved))
    draft.notice(
        f"the work was rebased from {before[:SHORT]} onto {short}; its branch was at {fact.old[:SHORT]}"
    )
    draft.reply = f"{draft.state.name} is based on {short}"
    if stays:  # the tested work is unchanged
        return
    draft.act(Rebase(draft.new_id("a"), fact.old, fact.new, before, had))
    again = _opened_again(draft, f"the work was rebased onto {short}")
    if again:
        rest(draft, f"rebased onto {short}; what was tested and accepted must be tested and accepted again")
        draft.reply += f"; at the next start this is done again: {', '.join(again)}"


def rebased(draft: Draft, fact: Rebased) -> None:
    """Handle the outcome: the branch was moved, or the work stayed where it was. It is tested again in both cases."""
    action = draft.state.outbox.get(fact.action)
    if not isinstance(action, Rebase):
        return
    draft.close_actions(Rebase, id=fact.action)
    if not fact.reason:
        draft.change(BranchPlaced(action.new))
    else:
        still = {
            step: commit
            for step, commit in action.commits.items()
            if draft.step(step).state is StepState.PASSED
        }
        draft.change(BaseMoved(action.before, still))
        draft.notice(f"the work stays where it was, on {action.before[:SHORT]}: {fact.reason}")


def _against(state: PMState, base: str, old: str) -> str:
    """Return why a task cannot be rebased now; empty if it can."""
    if state.state in ACTIVE or state.live_runs:
        return f"{state.name} is {state.state}: `task stop {state.id}` first"
    if not state.base:
        return f"{state.name} has no branch of its own: it works in your own tree"
    if any(isinstance(action, Rebase | Undo) for action in state.outbox.values()):
        return f"{state.name} is being rebased, or a step of it undone, already"
    if state.tip and old != state.tip:
        return f"{state.branch} is at {old[:SHORT]}, and the PM left it at {state.tip[:SHORT]}: put it back there first"
    return f"{state.name} is based on {base[:SHORT]} already" if state.base == base else ""


def _opened_again(draft: Draft, why: str) -> list[str]:
    """Reopen the steps that judged the whole of the work; return the ids of these and of those that need them."""
    again = [step.id for step in (_last_test(draft.state), *acceptances(draft.state)) if step is not None]
    before = {step.id: step.attempt for step in draft.state.steps.values()}
    for step in again:
        feed(draft, step, f"{why[0].upper()}{why[1:]} since this was judged: look at what lies there now.")
        reopen(draft, step, why)
    if draft.state.criteria and again:
        draft.change(CriteriaMarked(()))
    return [step.id for step in draft.state.steps.values() if step.attempt != before[step.id]]


def _last_test(state: PMState) -> Step | None:
    """Return the last test that passed and can be repeated, because the work that it judged is on the branch."""
    tests = [
        step
        for step in state.steps.values()
        if step.judges
        and step.state is StepState.PASSED
        and Gate.VERDICT in step.gates
        and step.phase is Phase.TESTING
        and (step.kind is WorkspaceKind.READ_ONLY or state.steps[step.judges].commit)
    ]
    return max(tests, key=lambda step: step.since, default=None)


def acceptances(state: PMState) -> list[Step]:
    """Return the steps that judge the success criteria, and have begun to."""
    return [step for step in state.steps.values() if Gate.CRITERIA in step.gates and step.state in _OVER]


def rest(draft: Draft, why: str) -> None:
    """Put the task into the state of a stopped one, with the phase that fits its work."""
    if draft.state.state is not TaskState.RUNNING:
        draft.change(TaskMoved(TaskState.RUNNING, why, draft.at))
    earliest = draft.state.steps.first(draft.state.steps.unsettled)
    if earliest is not None:
        draft.change(*(PhaseMoved(phase) for phase in phase_path(draft.state.phase, earliest.phase)))
    draft.change(TaskMoved(TaskState.STOPPED, why, draft.at))
