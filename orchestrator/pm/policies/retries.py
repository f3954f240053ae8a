"""Retries: a handoff written again, a crash, a lost terminal, a silence, a stall, a loop.

Each has its bound (law 8, H9). If the conversation may be the cause, the retries escalate: the same conversation
again, then a new conversation in the same tree [start_afresh], then a person.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import ABANDON, ANEW, POLICY, REPLAN, RETRY, SET_ASIDE, STUCK, USER, ask
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.plan.preparation_faults import asked_already
from orchestrator.pm.policies.causes import with_cause
from orchestrator.pm.policies.consultation_end import fail
from orchestrator.pm.policies.reopen import feed, first_line, may_replan
from orchestrator.pm.state.run_changes import RunSpent
from orchestrator.pm.state.step_changes import StepHurried, StepMoved, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.plan import Step, Tally
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft


_UNPREPARED: Final = (RETRY, SET_ASIDE, ABANDON)
_STANDING: Final = frozenset({StepState.PENDING, StepState.WORKING, StepState.CHECKING, StepState.PASSED})


def block(
    draft: Draft,
    step: str,
    text: str,
    options: tuple[str, ...] = STUCK,
    kind: QuestionKind = QuestionKind.STUCK,
) -> None:
    """Block a step on a question. If the step is a consultation, fail it instead: its failures ask nobody."""
    if is_consultation(draft.step(step)):
        fail(draft, step, text)
        return
    if draft.step(step).state in _STANDING:
        draft.change(StepMoved(step, StepState.BLOCKED, draft.at, text))
    ask(draft, step, text, options, kind)


def ask_again(draft: Draft, step: str, reasons: str) -> None:
    """Have the agent write its handoff again, for these reasons (H6); if that did not help, ask a person."""
    if not written_again(draft, step, reasons):
        here = draft.step(step)
        # The reasons speak to the agent; a person reads them as what was said to it.
        how = "though it was asked again; it was told" if here.tally.asks or here.tally.fresh else "because"
        text = f"what {here.agent} hands in for '{here.title}' is not accepted, {how}: {reasons}"
        block(draft, step, with_cause(draft, step, text))


def written_again(draft: Draft, step: str, reasons: str) -> bool:
    """Have the agent write its handoff again, for these reasons. Return False if the bounds are used up.

    First the same conversation is asked, `limits.max_report_requests` times; then a new one.
    """
    here = draft.step(step)
    if here.tally.asks < draft.limits_of(step).max_report_requests:
        count(draft, step, replace(here.tally, asks=here.tally.asks + 1))
        feed(
            draft,
            step,
            f"Your handoff was not accepted: {reasons}. Write it again; what you have done stays done.",
        )
        why = f"asked again: {reasons}"
        draft.change(StepMoved(step, StepState.PENDING, draft.at, why, keep_tree=True))
        return True
    return start_afresh(draft, step, reasons)


def start_afresh(draft: Draft, step: str, why: str) -> bool:
    """Let a new conversation continue in a step's tree, because the old one fails. Return whether it will.

    Allowed up to `limits.max_fresh_starts` times per attempt, and only if there was a conversation: a program that
    keeps none starts afresh with each run anyway. The new one is shown what is in the tree and how the last run ended.
    """
    here, run = draft.step(step), draft.state.runs.last_at_work_on(step)
    if here.tally.fresh >= draft.limits_of(step).max_fresh_starts or run is None or not run.session:
        return False
    silences = min(here.tally.silences, max(draft.limits_of(step).max_inactive_runs - 1, 0))
    tally = replace(here.tally, fresh=here.tally.fresh + 1, asks=0, crashes=0, stalls=0, silences=silences)
    draft.change(StepTallied(step, tally), RunSpent(run.id))
    feed(
        draft,
        step,
        f"The conversation that worked on this did not get it done: {why}. You begin a new one. What it did lies in "
        f"your working directory (see `git status` and `git diff`) and in your scratchpad: look there first, then do "
        f"what is missing and hand in.",
    )
    reason = f"goes on in a new conversation: {first_line(why)}"
    draft.change(StepMoved(step, StepState.PENDING, draft.at, reason, keep_tree=True))
    return True


def crashed(draft: Draft, step: str, how: str, *, keep_tree: bool = False) -> None:
    """Retry after a run that ended without a report: after a growing pause, then afresh, then ask (W7).

    `keep_tree`: the next run continues the conversation, and so the work.
    """
    here = draft.step(step)
    crashes = here.tally.crashes + 1
    if crashes <= draft.limits_of(step).max_crashes:
        count(draft, step, replace(here.tally, crashes=crashes))
        _again(draft, step, _with_last_line(here, how), crashes, keep_tree=keep_tree)
    elif is_consultation(here):
        fail(draft, step, f"{here.agent} failed {crashes} times; the last time it {how}")
    elif not start_afresh(draft, step, f"it failed {crashes} times, and the last time it {how}"):
        count(draft, step, replace(here.tally, crashes=crashes))
        draft.change(StepMoved(step, StepState.FAILED, draft.at, _with_last_line(here, how)))
        since = since_answer(draft, step)
        text = f"{here.agent} failed {crashes} times on '{here.title}'{since}; the last time it {how}"
        ask(draft, step, with_cause(draft, step, text))


def since_answer(draft: Draft, step: str) -> str:
    """Say since when something is counted anew: the last answer to a question about the step; nothing if none was."""
    given = [
        each for each in draft.state.questions.values() if each.step == step and each.by in {USER, POLICY}
    ]
    last = max(given, key=lambda each: each.answered_at or 0.0, default=None)
    if last is None:
        return ""
    return f" since {last.id} was answered" + ("" if last.by == USER else f" by {last.by}")


def _with_last_line(step: Step, how: str) -> str:
    """Return how a run ended, with the last line that it printed if that is not included yet."""
    last = step.cause.last if step.cause is not None else ""
    return f"{how} ({first_line(last)})" if last and last not in how else how


def lost(draft: Draft, step: str, how: str, *, keep_tree: bool = False, began: bool = True) -> None:
    """Retry after a run that went down with its terminal: not the agent's fault, so it has a bound of its own.

    `keep_tree` as in `crashed`. `began` is False if the run never got a terminal.
    """
    here = draft.step(step)
    what = "lost its terminal" if began else "could not be launched"
    losses = here.tally.losses + 1
    count(draft, step, replace(here.tally, losses=losses))
    if losses > draft.limits_of(step).max_losses and is_consultation(here):
        fail(draft, step, f"{here.agent} {what} {losses} times; the last time: {how}")
        return
    if losses > draft.limits_of(step).max_losses:
        draft.change(StepMoved(step, StepState.FAILED, draft.at, how))
        ask(draft, step, f"{here.agent} {what} {losses} times on '{here.title}'; the last time: {how}")
        return
    _again(draft, step, how, losses, keep_tree=keep_tree)


def not_launched(draft: Draft, run: Run, how: str) -> None:
    """Retry a run that could not be launched on its box, after a growing pause; then ask.

    The fault lies with the machine, not with the agent: while this is counted, no agent has worked there.
    """
    here = draft.step(run.step)
    launches = here.tally.launches + 1
    count(draft, run.step, replace(here.tally, launches=launches))
    if launches < draft.limits_of(run.step).max_failed_launches:
        _again(draft, run.step, how, launches, keep_tree=here.keep_tree)
        return
    text = (
        f"{here.agent} {how}\nThat was tried {launches} times in a row. Fix it (`task doctor {run.host}` tests it), "
        f"then answer {RETRY}."
    )
    block(draft, run.step, text, with_replan(draft, run.step))


def not_prepared(draft: Draft, run: Run, how: str) -> None:
    """Retry a step whose worktree could not be made ready, after a growing pause; then ask.

    The fault lies with the commands or the project, not with the agent, which has not begun. If the same fault is asked
    about already, nothing more is asked, and the step waits for that answer (`pm/plan/preparation_faults.py`).
    """
    here = draft.step(run.step)
    times = here.tally.preparations + 1
    count(draft, run.step, replace(here.tally, preparations=times))
    if times < draft.limits_of(run.step).max_failed_preparations:
        _again(draft, run.step, f"its worktree was not made ready: {how}", times, keep_tree=here.keep_tree)
        return
    asked = asked_already(draft.state, draft.step(run.step))
    if asked is not None:
        why = f"its worktree was not made ready either: {how}; {asked.id} asks about it"
        draft.change(StepMoved(run.step, StepState.PENDING, draft.at, why, keep_tree=here.keep_tree))
        return
    counted = "once" if times == 1 else f"{times} times in a row"
    text = (
        f"the worktree of '{here.title}' could not be made ready, tried {counted}: {how}. Mend the project, then "
        f"answer {RETRY}; or change `prepare:` in task.md, then `task start {draft.state.id}` goes on with it"
    )
    block(draft, run.step, with_cause(draft, run.step, text), _UNPREPARED, QuestionKind.PREPARATION)


def try_launches_now(draft: Draft) -> None:
    """Retry failed launches now instead of after their pause: the user may have fixed something."""
    for step in draft.state.steps.among(draft.state.steps.pausing):
        if step.tally.launches and step.state is StepState.PENDING and step.not_before > draft.at:
            draft.change(StepHurried(step.id))


def silent(draft: Draft, step: str, how: str, bound: str = "") -> None:
    """Retry after a run that was ended because it showed no progress: another run continues its work; then ask.

    `bound`: a sentence for the next run about the limit that this one reached.
    """
    here = draft.step(step)
    silences = here.tally.silences + 1
    count(draft, step, replace(here.tally, silences=silences))
    feed(draft, step, f"The last try {how}. {bound}".rstrip())
    if silences < draft.limits_of(step).max_inactive_runs:
        _again(draft, step, how, 1, keep_tree=True)
    elif not start_afresh(draft, step, f"it {how}, {silences} times"):
        text = f"{here.agent} {how}, {silences} times on '{here.title}'"
        block(draft, step, with_cause(draft, step, text), with_replan(draft, step))


def stalled(draft: Draft, run: Run, how: str) -> None:
    """Retry after a run that waited in vain for its model, or at a dialog that our hook missed.

    Its conversation is resumed `limits.max_stalls` times in a row; then a new one begins, then a person is asked. A
    stall after long work counts as the first again.
    """
    here = draft.step(run.step)
    worked = run.novel_at - run.since >= draft.limits.inactivity_timeout
    stalls = 1 if worked else here.tally.stalls + 1
    if stalls <= draft.limits_of(run.step).max_stalls:
        count(draft, run.step, replace(here.tally, stalls=stalls))
        _again(draft, run.step, how, stalls, keep_tree=True)
    elif not start_afresh(draft, run.step, f"it {how}, {stalls} times in a row"):
        count(draft, run.step, replace(here.tally, stalls=stalls))
        text = f"{here.agent} {how}, {stalls} times in a row on '{here.title}'"
        block(draft, run.step, with_cause(draft, run.step, text), with_replan(draft, run.step))


def went_in_circles(draft: Draft, run: Run) -> None:
    """Retry after a run that was warned and still went round in circles: start afresh in another way; then ask."""
    here = draft.step(run.step)
    why = (
        f"it kept going round in circles after a warning: the same calls with the same results, most often "
        f"`{run.repeated}`"
    )
    if not start_afresh(draft, run.step, f"{why}; take a different approach"):
        text = f"{here.agent} goes round in circles on '{here.title}', most often with: {run.repeated}"
        block(draft, run.step, with_cause(draft, run.step, text), with_replan(draft, run.step))


def with_replan(draft: Draft, step: str) -> tuple[str, ...]:
    """Return the options for a step that reached a bound, with `replan` where its subtask may be planned anew."""
    return (RETRY, ANEW, REPLAN, *STUCK[2:]) if may_replan(draft, step) else STUCK


def _again(draft: Draft, step: str, how: str, times: int, *, keep_tree: bool = False) -> None:
    later = rested_at(draft, times)
    moved = StepMoved(step, StepState.PENDING, draft.at, how, not_before=later, keep_tree=keep_tree)
    draft.change(moved)


def rested_at(draft: Draft, times: int) -> float:
    """Return when to try again after so many failures in a row, in seconds since the epoch: later each time."""
    longer: float = draft.limits.retry_pause * 4 ** (times - 1)
    return draft.at + min(longer, draft.limits.max_retry_pause)


def count(draft: Draft, step: str, tally: Tally) -> None:
    """Note how often something has gone wrong with a step."""
    draft.change(StepTallied(step, tally))
