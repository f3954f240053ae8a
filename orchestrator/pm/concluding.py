"""Ends of consultations: the PM agent has decided, or nothing came of it; then the rules go on, and nobody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.consulting import Counsel
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending
from orchestrator.pm.advance import close_order, end_run
from orchestrator.pm.counsel_changes import ConsultationClosed, CounselBegun
from orchestrator.pm.going_back import set_aside
from orchestrator.pm.run_changes import RunReported
from orchestrator.pm.step_changes import StepMoved

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.pm.draft import Draft

_GIVEN_UP: Final = "the PM agent is not asked any more until the task is started again; the rules go on"


def has_decided(draft: Draft, run: Run) -> bool:
    """Tell whether a run is that of the open consultation, and has decided at least once."""
    counsel = draft.state.counsel
    return run.step == counsel.step and counsel.decided > 0


def conclude(draft: Draft, run: Run) -> None:
    """Let a consultation pass whose run has decided and is over, or takes too long to be."""
    counsel, limits = draft.state.counsel, draft.limits
    close_order(draft, run)
    if run.live:
        draft.change(RunReported(run.id, draft.at))
        end_run(draft, draft.state.runs[run.id], Ending.DONE)
    draft.change(StepMoved(run.step, StepState.PASSED, draft.at))
    failed = 0 if counsel.carried else counsel.failed + 1
    given_up = failed >= limits.pm_failures
    held_until = 0.0 if counsel.freed or given_up else draft.at + limits.pm_wait
    draft.change(ConsultationClosed(run.step, held_until, failed, given_up, counsel.fresh))
    if given_up:
        draft.notice(f"nothing that it decided {failed} times in a row could be carried out: {_GIVEN_UP}")


def fail(draft: Draft, step: str, why: str) -> None:
    """Set a consultation aside of which nothing came; what may start now is started by the rules."""
    failed = draft.state.counsel.failed + 1
    given_up = failed >= draft.limits.pm_failures
    set_aside(draft, step, why)
    draft.change(ConsultationClosed(step, failed=failed, given_up=given_up))
    draft.notice(f"{why}: {_GIVEN_UP if given_up else 'the rules go on without a decision on ' + step}")


def see_patience(draft: Draft) -> None:
    """End a consultation that takes longer than `limits.pm_patience`."""
    counsel = draft.state.counsel
    if not counsel.step or draft.at < counsel.opened_at + draft.limits.pm_patience:
        return
    live = draft.runs_of(counsel.step)
    decided = [run for run in live if has_decided(draft, run) and run.ending is Ending.NOT]
    if decided:
        conclude(draft, decided[-1])
    else:
        fail(draft, counsel.step, "the PM agent was silent for too long")


def begin_anew(draft: Draft) -> None:
    """Begin anew with the PM agent, since its task was started again."""
    counsel = draft.state.counsel
    if counsel.step:
        set_aside(draft, counsel.step, "the task was started again")
    if counsel != Counsel(number=counsel.number) or draft.state.brief.config.pm:
        draft.change(CounselBegun())
