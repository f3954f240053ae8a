"""Turns that failed because the model's service did: parked, retried, handed over, or asked about (U3).

The failed run would stay at its prompt, so it is ended; another run continues its conversation in its tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.event import Failure
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending
from orchestrator.pm.plan.advance import end_run
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.policies.consultation_end import fail
from orchestrator.pm.policies.reopen import feed, first_line
from orchestrator.pm.policies.retries import block, crashed
from orchestrator.pm.state import overloads
from orchestrator.pm.state.run_changes import RunSpent
from orchestrator.pm.state.step_changes import StepLimited, StepMoved, StepTallied
from orchestrator.pm.state.usage_limits import DAY, HOUR, next_try, outlasts, refused

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.model.usage_limit import Reset, UsageLimit
    from orchestrator.pm.state.draft import Draft

_ACCOUNT: Final = {Failure.LOGIN: "is not logged in any more", Failure.CREDIT: "has no credit left"}
_FULL: Final = (
    "The conversation of the last run grew too long. You begin with an empty one: what was done lies in your working "
    "directory, the handoffs and your scratchpad. Look there first, then go on with what is missing."
)


def turn_failed(draft: Draft, run: Run, failure: Failure, text: str, reset: Reset | None, at: float) -> None:
    """Decide how a step goes on after a turn failed.

    Args:
        draft: the decision in the making.
        run: the run whose turn it was.
        failure: the kind of failure that its program reported.
        text: the program's message.
        reset: when a limit ends, if the message says that.
        at: when the service refused, as far as known; a message on a screen may be older than the look.

    """
    message = first_line(text) if text.strip() else failure.value
    end_run(draft, run, Ending.FAILED)
    match failure:
        case Failure.LIMIT:
            _limited(draft, run, refused(draft.step(run.step).limit, message, reset, at))
        case Failure.OVERLOAD:
            _overloaded(draft, run, message)
        case Failure.LOGIN | Failure.CREDIT:
            _ask_about_account(draft, run, f"{_ACCOUNT[failure]}: {message}")
        case Failure.CONTEXT:
            _full(draft, run, message)
        case Failure.OTHER:
            crashed(draft, run.step, f"had a turn that failed: {message}", keep_tree=True)


def _limited(draft: Draft, run: Run, limit: UsageLimit) -> None:
    here = draft.step(run.step)
    draft.change(StepTallied(run.step, replace(here.tally, limits=here.tally.limits + 1)))
    if outlasts(limit, draft.limits):
        _ask_about_account(draft, run, _outlasting(limit))
        return
    later = max(next_try(limit, draft.limits), draft.at)
    if is_consultation(here) and later > draft.at + draft.limits.pm_timeout:
        fail(draft, run.step, f"{run.agent} is limited: {limit.words}")
        return
    draft.change(StepLimited(run.step, limit))
    _go_on(draft, run, f"limited: {limit.words}", later, limited=True)


def _outlasting(limit: UsageLimit) -> str:
    days = (max(limit.reset.moments) - limit.at if limit.reset else 0.0) / DAY
    if days > 1:
        return f"is limited for {days:.0f} days more: {limit.words}"
    return f"was limited {limit.refusals} times in a row, in {(limit.at - limit.since) / DAY:.0f} days: {limit.words}"


def _overloaded(draft: Draft, run: Run, message: str) -> None:
    tally = overloads.overloaded(draft.step(run.step).tally, draft.at)
    draft.change(StepTallied(run.step, tally))
    if overloads.outlasts(tally, draft.limits, draft.at):
        hours = (draft.at - tally.overloaded_since) / HOUR
        text = (
            f"found its service overloaded {tally.overloads} times in a row, in {hours:.0f} hours: {message}"
        )
        _ask_about_account(draft, run, text)
        return
    _go_on(draft, run, f"overloaded: {message}", draft.at + overloads.pause(tally, draft.limits, draft.at))


def _full(draft: Draft, run: Run, message: str) -> None:
    """Hand over to a new conversation, whose memory is the reports and the files that were written."""
    times = draft.step(run.step).tally.contexts + 1
    draft.change(StepTallied(run.step, replace(draft.step(run.step).tally, contexts=times)), RunSpent(run.id))
    if times > draft.limits_of(run.step).max_context_overflows:
        title = draft.step(run.step).title
        block(draft, run.step, f"{run.agent} filled its context {times} times on '{title}': {message}")
        return
    if _FULL not in draft.step(run.step).feedback:
        feed(draft, run.step, _FULL)
    _go_on(draft, run, f"its context was full: {message}", draft.at)


def _ask_about_account(draft: Draft, run: Run, text: str) -> None:
    title = draft.step(run.step).title
    block(draft, run.step, f"{run.agent} {text} ('{title}')", kind=QuestionKind.ACCOUNT)


def _go_on(draft: Draft, run: Run, why: str, later: float, *, limited: bool = False) -> None:
    pending, at = StepState.PENDING, draft.at
    moved = StepMoved(run.step, pending, at, why, not_before=later, keep_tree=True, limited=limited)
    draft.change(moved)
