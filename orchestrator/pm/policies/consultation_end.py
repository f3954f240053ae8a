"""Ends of consultations: the PM agent decided, or failed to; then the rules go on, and nobody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.consultation import ConsultationState
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending
from orchestrator.pm.plan.advance import close_order, end_run
from orchestrator.pm.policies.reopen import set_aside
from orchestrator.pm.state.consultation_changes import ConsultationBegun, ConsultationClosed
from orchestrator.pm.state.run_changes import RunReported
from orchestrator.pm.state.step_changes import StepMoved

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

_GIVEN_UP: Final = "the PM agent is not asked again until the task is restarted; the rules decide"


def has_decided(draft: Draft, run: Run) -> bool:
    """Return whether a run is that of the open consultation, and has decided at least once."""
    consultation = draft.state.consultation
    return run.step == consultation.step and consultation.decided > 0


def conclude(draft: Draft, run: Run) -> None:
    """Let a consultation pass whose run has decided and has ended, or takes too long to end."""
    consultation, limits = draft.state.consultation, draft.limits
    close_order(draft, run)
    if run.live:
        draft.change(RunReported(run.id, draft.at))
        end_run(draft, draft.state.runs[run.id], Ending.DONE)
    draft.change(StepMoved(run.step, StepState.PASSED, draft.at))
    failed = 0 if consultation.carried else consultation.failed + 1
    given_up = failed >= limits.max_pm_failures
    held_until = 0.0 if consultation.freed or given_up else draft.at + limits.pm_hold_timeout
    draft.change(ConsultationClosed(run.step, held_until, failed, given_up, consultation.fresh))
    if given_up:
        draft.notice(f"nothing that it decided {failed} times in a row could be carried out: {_GIVEN_UP}")


def fail(draft: Draft, step: str, why: str) -> None:
    """Set a consultation aside that failed; the rules start what may start now."""
    failed = draft.state.consultation.failed + 1
    given_up = failed >= draft.limits.max_pm_failures
    set_aside(draft, step, why)
    draft.change(ConsultationClosed(step, failed=failed, given_up=given_up))
    draft.notice(f"{why}: {_GIVEN_UP if given_up else 'the rules decide instead of ' + step}")


def see_patience(draft: Draft) -> None:
    """End a consultation that takes longer than `limits.pm_timeout`."""
    consultation = draft.state.consultation
    if not consultation.step or draft.at < consultation.opened_at + draft.limits.pm_timeout:
        return
    live = draft.runs_of(consultation.step)
    decided = [run for run in live if has_decided(draft, run) and run.ending is Ending.NOT]
    if decided:
        conclude(draft, decided[-1])
    else:
        fail(draft, consultation.step, "the PM agent was silent for too long")


def begin_anew(draft: Draft) -> None:
    """Reset the consultation state, because the task was started again."""
    consultation = draft.state.consultation
    if consultation.step:
        set_aside(draft, consultation.step, "the task was started again")
    if consultation != ConsultationState(number=consultation.number) or draft.state.brief.config.pm:
        draft.change(ConsultationBegun())
