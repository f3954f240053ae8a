"""Turns that failed because the model's service did: parked, tried again, handed over, or asked about (U3).

The failed run is ended, since it stays at its prompt, and another goes on with its conversation and its tree.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.event import Failure
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending
from orchestrator.pm.advance import end_run
from orchestrator.pm.concluding import fail
from orchestrator.pm.consulting import is_consultation
from orchestrator.pm.going_back import feed, first_line
from orchestrator.pm.run_changes import RunSpent
from orchestrator.pm.setbacks import block, crashed
from orchestrator.pm.step_changes import StepMoved, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.pm.draft import Draft

GRACE: Final = 5.0
"""Seconds after the end of a limit until it is tried again."""

_ACCOUNT: Final = {Failure.LOGIN: "is not logged in any more", Failure.CREDIT: "has no credit left"}
_FULL: Final = (
    "The conversation of the last run grew too long. You begin with an empty one: what was done lies in your working "
    "directory, the handoffs and your scratchpad. Look there first, then go on with what is missing."
)


def turn_failed(draft: Draft, run: Run, failure: Failure, text: str, again_at: float | None) -> None:
    """Decide how a step goes on whose run's turn failed.

    Args:
        draft: the decision in the making.
        run: the run whose turn it was.
        failure: what kind of failure its program told.
        text: what it said.
        again_at: when a limit ends, if it said that; seconds since the epoch.

    """
    said = first_line(text) if text.strip() else failure.value
    end_run(draft, run, Ending.FAILED)
    match failure:
        case Failure.LIMIT:
            _limited(draft, run, said, again_at)
        case Failure.OVERLOAD:
            _overloaded(draft, run, said)
        case Failure.LOGIN | Failure.CREDIT:
            _ask_about_account(draft, run, f"{_ACCOUNT[failure]}: {said}")
        case Failure.CONTEXT:
            _full(draft, run, said)
        case Failure.OTHER:
            crashed(draft, run.step, f"had a turn that failed: {said}", keep_tree=True)


def _limited(draft: Draft, run: Run, said: str, again_at: float | None) -> None:
    times = draft.step(run.step).tally.limits + 1
    tally = replace(draft.step(run.step).tally, limits=times)
    draft.change(StepTallied(run.step, tally))
    if times > draft.limits.limits:
        _ask_about_account(draft, run, f"was limited {times} times in a row: {said}")
        return
    pause = min(draft.limits.limit_pause * 2.0 ** (times - 1), draft.limits.longest_wait)
    later = draft.at + pause if again_at is None else max(again_at, draft.at) + GRACE
    if is_consultation(draft.step(run.step)) and later > draft.at + draft.limits.pm_patience:
        fail(draft, run.step, f"{run.agent} is limited: {said}")
        return
    clock = time.strftime("%H:%M", time.localtime(later))
    _go_on(draft, run, f"limited, goes on at {clock}: {said}", later)


def _overloaded(draft: Draft, run: Run, said: str) -> None:
    times = draft.step(run.step).tally.overloads + 1
    draft.change(StepTallied(run.step, replace(draft.step(run.step).tally, overloads=times)))
    if times > draft.limits.overloads:
        _ask_about_account(draft, run, f"found its service overloaded {times} times in a row: {said}")
        return
    pause = min(draft.limits.overload_pause * 2.0 ** (times - 1), draft.limits.longest_wait)
    _go_on(draft, run, f"overloaded: {said}", draft.at + pause)


def _full(draft: Draft, run: Run, said: str) -> None:
    """Hand over to a fresh conversation: what was handed in and laid down is its memory."""
    times = draft.step(run.step).tally.contexts + 1
    draft.change(StepTallied(run.step, replace(draft.step(run.step).tally, contexts=times)), RunSpent(run.id))
    if times > draft.limits.contexts:
        title = draft.step(run.step).title
        block(draft, run.step, f"{run.agent} filled its context {times} times on '{title}': {said}")
        return
    if _FULL not in draft.step(run.step).feedback:
        feed(draft, run.step, _FULL)
    _go_on(draft, run, f"its context was full: {said}", draft.at)


def _ask_about_account(draft: Draft, run: Run, text: str) -> None:
    title = draft.step(run.step).title
    block(draft, run.step, f"{run.agent} {text} ('{title}')", kind=QuestionKind.ACCOUNT)


def _go_on(draft: Draft, run: Run, why: str, later: float) -> None:
    moved = StepMoved(run.step, StepState.PENDING, draft.at, why, not_before=later, keep_tree=True)
    draft.change(moved)
