"""What did not go well: asked again, blocked, rejected, crashed, silent. Each with its bound (law 8, HUB 7.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Step, StepState
from orchestrator.model.question import Question
from orchestrator.model.run import Ending
from orchestrator.model.task import AfterRejections
from orchestrator.pm.advance import end_run
from orchestrator.pm.changes import (
    QuestionAnswered,
    QuestionAsked,
    StepFed,
    StepMoved,
    StepReopened,
    StepTallied,
)

if TYPE_CHECKING:
    from orchestrator.model.plan import Tally
    from orchestrator.pm.draft import Draft

RETRY: Final = "retry"
SET_ASIDE: Final = "set-aside"
ABANDON: Final = "abandon"
ACCEPT: Final = "accept"
CONTINUE: Final = "continue"
WITHDRAWN: Final = "(withdrawn)"

FEEDBACK_KEPT: Final = 8
"""Older feedback is dropped: an order must stay readable."""


def ask(draft: Draft, step: str, text: str, options: tuple[str, ...] = (RETRY, SET_ASIDE, ABANDON)) -> None:
    """Ask the user about a step, or about the whole task where `step` is empty.

    Asked once: while a question about the same step is open, nothing more is asked.
    """
    if any(question.step == step for question in draft.state.open_questions):
        return
    number = len(draft.state.questions) + 1
    draft.change(QuestionAsked(Question(f"q{number}", step, text, options, draft.at)))


def withdraw(draft: Draft, step: str) -> None:
    """Close what is asked about a step: it goes on another way, and the answer no longer matters."""
    for question in draft.state.open_questions:
        if question.step == step:
            draft.change(QuestionAnswered(question.id, WITHDRAWN, draft.at))


def feed(draft: Draft, step: str, text: str) -> None:
    """Add to what the next order of a step says."""
    kept = (*draft.step(step).feedback, text.strip())[-FEEDBACK_KEPT:]
    draft.change(StepFed(step, kept))


def ask_again(draft: Draft, step: str, reasons: str) -> None:
    """Have the agent write its handoff again, once, with the reasons; after that a person is asked (H6)."""
    here = draft.step(step)
    if here.tally.asks >= draft.limits.asks:
        block(
            draft,
            step,
            f"{here.agent} was asked again and its handoff for '{here.title}' still fails: {reasons}",
        )
        return
    _count(draft, step, replace(here.tally, asks=here.tally.asks + 1))
    feed(draft, step, f"Write your handoff again: {reasons}. The work itself need not be done twice.")
    draft.change(StepMoved(step, StepState.PENDING, draft.at, f"asked again: {reasons}", keep_tree=True))


def block(draft: Draft, step: str, text: str, options: tuple[str, ...] = (RETRY, SET_ASIDE, ABANDON)) -> None:
    """Let a step wait for the answer to a question."""
    if draft.step(step).state in {StepState.PENDING, StepState.WORKING, StepState.CHECKING, StepState.PASSED}:
        draft.change(StepMoved(step, StepState.BLOCKED, draft.at, text))
    ask(draft, step, text, options)


def blocked(draft: Draft, step: str, blockers: str, skill_gaps: str) -> None:
    """An agent reports a blocker: try once more, differently; then ask (HUB 7.1)."""
    here = draft.step(step)
    if here.tally.blocks >= draft.limits.blocks:
        block(draft, step, f"{here.agent} is blocked on '{here.title}': {first_line(blockers)}")
        return
    _count(draft, step, replace(here.tally, blocks=here.tally.blocks + 1))
    gap = f"\nMissing skill or context: {skill_gaps.strip()}" if skill_gaps.strip() else ""
    feed(draft, step, f"Blocked: {blockers.strip()}{gap}\nTake a different approach.")
    reopen(draft, step, f"blocked: {first_line(blockers)}")


def reject(draft: Draft, judge: str, feedback: str) -> None:
    """A judge rejects: the step that it judges is done again with the feedback, up to the bound (HUB 7.1)."""
    step = draft.step(judge).judges or judge
    here = draft.step(step)
    _count(draft, step, replace(here.tally, rejections=here.tally.rejections + 1))
    feed(draft, step, f"Rejected by {judge}: {feedback}")
    if here.tally.rejections + 1 < draft.limits.rejections:
        reopen(draft, step, f"rejected by {judge}: {first_line(feedback)}")
        return
    why = f"rejected {draft.limits.rejections} times, last: {first_line(feedback)}"
    if draft.state.brief.config.after_rejections is AfterRejections.SET_ASIDE:
        set_aside(draft, step, why)
        return
    reopen(draft, step, why)
    block(draft, step, f"'{here.title}' was {why}")


def crashed(draft: Draft, step: str, how: str) -> None:
    """A run ended without a report: run it again after a growing pause, then ask (W7)."""
    here = draft.step(step)
    crashes = here.tally.crashes + 1
    _count(draft, step, replace(here.tally, crashes=crashes))
    if crashes > draft.limits.crashes:
        draft.change(StepMoved(step, StepState.FAILED, draft.at, how))
        ask(draft, step, f"{here.agent} failed {crashes} times on '{here.title}'; the last time it {how}")
        return
    _again(draft, step, how, crashes)


def lost(draft: Draft, step: str, how: str) -> None:
    """A run went down with its terminal: that is not the agent's doing, and has a bound of its own."""
    here = draft.step(step)
    losses = here.tally.losses + 1
    _count(draft, step, replace(here.tally, losses=losses))
    if losses > draft.limits.losses:
        draft.change(StepMoved(step, StepState.FAILED, draft.at, how))
        ask(draft, step, f"the terminal of {here.agent} was lost {losses} times on '{here.title}'")
        return
    _again(draft, step, how, losses)


def silent(draft: Draft, step: str, how: str) -> None:
    """A run showed no sign of work for too long, was ended, and is tried again; then a person is asked."""
    here = draft.step(step)
    silences = here.tally.silences + 1
    _count(draft, step, replace(here.tally, silences=silences))
    feed(draft, step, f"The last try {how}. Give a sign of progress at least every 20 minutes.")
    if silences >= draft.limits.silences:
        block(draft, step, f"{here.agent} {how}, {silences} times on '{here.title}'")
        return
    _again(draft, step, how, 1)


def reopen(draft: Draft, step: str, why: str) -> None:
    """Begin the next attempt of a step. What needed it is to be done again as well (design, section 7)."""
    for each in (step, *_dependents(draft, step)):
        here = draft.step(each)
        if here.state not in {StepState.PENDING, StepState.SET_ASIDE} or each == step:
            _overtake(draft, each)
            draft.change(StepReopened(each, here.attempt + 1, draft.at, why))


def set_aside(draft: Draft, step: str, why: str) -> None:
    """Give a step up, and with it its whole subtask and who judges it; the rest goes on."""
    subtask = draft.step(step).subtask
    for each in list(draft.state.steps.values()):
        mine = step in {each.id, each.judges} or (subtask and each.subtask == subtask)
        if mine and each.state is not StepState.SET_ASIDE:
            _overtake(draft, each.id)
            draft.change(StepMoved(each.id, StepState.SET_ASIDE, draft.at, why))


def first_line(text: str) -> str:
    """Return the first line of a text that says something, cut to a readable length."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
    return line if len(line) <= 200 else line[:199] + "…"  # noqa: PLR2004  (a length, named by its use)


def _overtake(draft: Draft, step: str) -> None:
    """Let go of a step as it was: what is asked about it, and the runs whose work no longer counts.

    A run that has reported is leaving by itself.
    """
    withdraw(draft, step)
    for run in draft.runs_of(step):
        if run.reported_at is None:
            end_run(draft, run, Ending.OVERTAKEN)


def _again(draft: Draft, step: str, how: str, times: int) -> None:
    pause = min(draft.limits.first_pause * 4 ** (times - 1), draft.limits.longest_pause)
    draft.change(StepMoved(step, StepState.PENDING, draft.at, how, not_before=draft.at + pause))


def _count(draft: Draft, step: str, tally: Tally) -> None:
    draft.change(StepTallied(step, tally))


def _dependents(draft: Draft, step: str) -> list[str]:
    """Return the steps that need or judge `step`, directly or not, in plan order."""
    found = {step}
    steps: list[Step] = list(draft.state.steps.values())
    grown = True
    while grown:
        more = {
            each.id
            for each in steps
            if each.id not in found and found.intersection((*each.needs, each.judges))
        }
        grown = bool(more)
        found |= more
    return [each.id for each in steps if each.id in found and each.id != step]
