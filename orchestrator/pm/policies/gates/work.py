"""The gates that look at the work itself: the user's approval, the commit, the change, the merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Commit, Inspect, Merge
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import APPROVE, REJECT, ask
from orchestrator.pm.plan.merge_queue import first_in_queue, is_merging, is_quiet, work_judged_by
from orchestrator.pm.policies.gates.kind import GateKind, begin_checking
from orchestrator.pm.state.step_changes import StepQueued

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

SHOWN: Final = 20
"""How many subtasks a question about a plan lists."""


class ApprovalGate(GateKind):
    """The user approves of the work, if task.md asks for that."""

    def holds(self, state: PMState, step: Step) -> bool:
        """Hold the step until the user has approved."""
        del state
        return not step.approved

    def order(self, draft: Draft, step: str) -> None:
        """Ask the user, with the subtasks that are planned."""
        begin_checking(draft, step, "waits for approval")
        text = _for_approval(draft.state, draft.step(step))
        ask(draft, step, text, (APPROVE, REJECT), QuestionKind.APPROVAL)


class CommitGate(GateKind):
    """The work is a commit on the workspace's branch."""

    def holds(self, state: PMState, step: Step) -> bool:
        """Hold the step until its work is committed."""
        del state
        return not step.commit

    def order(self, draft: Draft, step: str) -> None:
        """Have the work committed."""
        begin_checking(draft, step, "its work is being committed")
        draft.act(Commit(id=draft.new_id("a"), step=step, attempt=draft.step(step).attempt))


class ChangeGate(GateKind):
    """The daemon saw a change in a tree that is not the task's own."""

    def holds(self, state: PMState, step: Step) -> bool:
        """Hold the step until the daemon has looked at that tree."""
        del state
        return not step.elsewhere

    def order(self, draft: Draft, step: str) -> None:
        """Have the daemon look for changes."""
        begin_checking(draft, step, "the daemon checks whether anything was changed")
        draft.act(Inspect(id=draft.new_id("a"), step=step, attempt=draft.step(step).attempt))


class MergeGate(GateKind):
    """The work was brought onto the task's branch, in its turn. The outcome of the merge lets the step pass."""

    def holds(self, state: PMState, step: Step) -> bool:
        """Hold the step if there is a commit, its own or that of the work that it judges."""
        return bool(_commit_of(state, step))

    def order(self, draft: Draft, step: str) -> None:
        """Have the commit merged, if it is first in the queue; otherwise let it wait for its turn."""
        if not draft.step(step).queued_at:
            draft.change(StepQueued(step, draft.at))
        first, here = first_in_queue(draft.state), draft.step(step)
        if first is None or first.id != step or is_merging(draft.state):
            begin_checking(draft, step, "waits for its turn to be merged")
            return
        quiet = is_quiet(draft.state, work_judged_by(draft.state, here))
        if here.behind and not quiet:
            begin_checking(draft, step, "waits to be merged until its judges have left its tree")
            return
        begin_checking(draft, step, "its work is being merged")
        commit = _commit_of(draft.state, here)
        draft.act(Merge(draft.new_id("a"), step, here.attempt, commit, forward_only=not quiet))


def _for_approval(state: PMState, step: Step) -> str:
    planned = [each for each in state.steps.values() if each.subtask and not each.judges and not each.settled]
    if not planned:
        return f"Do you approve of '{step.title}' (handoffs/{step.report})? It plans nothing more to be done."
    listed = "".join(f"\n  {each.subtask}: {each.title}" for each in planned[:SHOWN])
    more = f"\n  and {len(planned) - SHOWN} more" if len(planned) > SHOWN else ""
    return f"Do you approve of '{step.title}' (handoffs/{step.report})?{listed}{more}"


def _commit_of(state: PMState, step: Step) -> str:
    return step.commit or (state.steps[step.judges].commit if step.judges else "")
