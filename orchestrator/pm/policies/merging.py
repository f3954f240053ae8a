"""Work comes onto the task's branch: in turn, put upon what the branch has gained, and tested as it will lie there.

::

    passed its judges ─▶ its turn ─▶ the branch is where the work began ─▶ moved forward: merged
                                  └▶ the branch has gained others' work
                                       ├─ they fit ─▶ put upon it ─▶ tested again where it counts ─▶ merged
                                       │                                └─ fails ─▶ a conflict
                                       └─ they do not: a conflict ─▶ a new attempt that is shown both sides

A lost race is nobody's rejection: conflicts are counted against a bound of their own, and then a person is asked.
What is tested again, `recheck:` of task.md says. The check is run again whenever the branch has gained anything
(`always`), or only where both sides changed the same files (`overlap`). The agents judge again where the change itself
came out otherwise than they saw it; and where files overlap and no check can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.actions import Merge
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.task import Recheck
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.merge_queue import first_in_queue, is_merging, work_judged_by
from orchestrator.pm.policies.causes import strayed
from orchestrator.pm.policies.completion import go_through, pass_step
from orchestrator.pm.policies.conflicts import NAMED, at_odds, conflicted, listed
from orchestrator.pm.policies.gates import GATES, held_by
from orchestrator.pm.policies.gates.kind import awaited
from orchestrator.pm.policies.reopen import feed, reopen
from orchestrator.pm.policies.retries import block
from orchestrator.pm.state.changes import BranchPlaced
from orchestrator.pm.state.step_changes import StepCommitted, StepQueued, StepReopened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.facts import WorkMerged
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft


def merge_next(draft: Draft) -> None:
    """Have the first in the queue merged, if nobody's work is being merged and it waits for nothing else."""
    steps = draft.state.steps
    if not steps.queued or draft.state.state not in ACTIVE or is_merging(draft.state):
        return
    step = first_in_queue(draft.state)
    if step is None or step.state is not StepState.CHECKING or not steps.ready & steps.mark(step.id):
        return
    if held_by(draft.state, step) is GATES[Gate.MERGED]:
        go_through(draft, step.id)


def work_merged(draft: Draft, fact: WorkMerged) -> None:
    """Handle the outcome of a merge: the branch moved forward, the work was put upon it, it conflicts, or it failed."""
    asked = draft.close_actions(Merge, step=fact.step, attempt=fact.attempt)
    if asked and fact.astray:
        left = draft.state.tip or draft.state.base
        draft.notice(strayed(draft.state.branch, fact.astray, left, fact.kept))
    if asked and fact.tip:
        draft.change(BranchPlaced(fact.tip))
    if not (asked and awaited(draft, fact.step, fact.attempt)):
        return
    work = work_judged_by(draft.state, draft.step(fact.step))
    if fact.reason:
        block(draft, fact.step, f"the work of {work.id} could not be merged: {fact.reason}")
    elif fact.conflicts:
        conflicted(draft, work.id, at_odds(fact.conflicts, fact.others))
    elif fact.onto and not fact.commit:
        draft.change(StepQueued(fact.step, draft.step(fact.step).queued_at, behind=True))
    elif fact.onto:
        draft.change(StepCommitted(work.id, fact.commit, work.ignored, work.check_files))
        _test_again(draft, fact, work)
    else:
        go_through(draft, fact.step, past=Gate.MERGED)


def rechecked(draft: Draft, step: str) -> None:
    """Handle the end of a check of work that was put upon the branch: its exit status alone decides."""
    here = draft.step(step)
    rejected = GATES[Gate.CHECK].judge(here, Report(ReportStatus.COMPLETE)).rejected
    if rejected:
        text = (
            f"it passed by itself, but not together with what the task's branch gained meanwhile: {rejected}"
        )
        conflicted(draft, here.judges or step, text)
    else:
        pass_step(draft, step)


def _test_again(draft: Draft, fact: WorkMerged, work: Step) -> None:
    """Have work tested again that was put upon what the branch has gained; merge it at once if that is not needed."""
    steps = draft.state.steps
    judges = [step for step in steps.among(steps.judges_of(work.id)) if step.needs]
    checks = [step for step in judges if _has_check(draft, step)]
    always = draft.state.brief.config.recheck is Recheck.ALWAYS
    if judges and (not fact.same or (fact.both and not checks)):
        _judge_again(draft, fact, judges)
    elif checks and (always or fact.both):
        for step in checks:
            why = "its check runs again, on what was merged meanwhile and this work together"
            draft.change(StepReopened(step.id, step.attempt + 1, draft.at, why, recheck=True))
    else:
        go_through(draft, fact.step)


def _judge_again(draft: Draft, fact: WorkMerged, judges: Sequence[Step]) -> None:
    """Have the agents judge work again of which they have not seen what came of it."""
    theirs = f": {'; '.join(fact.others[:NAMED])}" if fact.others else ""
    both = f" Both changed {listed(fact.both)}." if fact.both else ""
    for step in judges:
        feed(
            draft,
            step.id,
            f"This work passed by itself. It was then put upon what others merged meanwhile{theirs}.{both} Judge "
            f"whether both still do what they were to do.",
        )
        if draft.step(step.id).state is not StepState.PENDING:
            reopen(draft, step.id, "it is judged again, together with what was merged meanwhile", queued=True)


def _has_check(draft: Draft, step: Step) -> bool:
    agent = draft.state.agents.get(step.agent)
    return agent is not None and bool(agent.check) and Gate.CHECK in step.gates
