"""What did not go well: asked again, blocked, rejected, crashed, silent. Each with its bound (law 8, HUB 7.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import AfterRejections
from orchestrator.pm.asking import REPLAN, RETRY, STUCK, ask
from orchestrator.pm.concluding import fail
from orchestrator.pm.consulting import is_consultation
from orchestrator.pm.going_back import feed, first_line, may_replan, reopen, replan, set_aside
from orchestrator.pm.loops import times_asked
from orchestrator.pm.skills import GAP_LENGTH, filling
from orchestrator.pm.step_changes import StepLacked, StepMoved, StepRemembered, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Tally
    from orchestrator.pm.draft import Draft

REMEMBERED: Final = 12
REMEMBERED_LENGTH: Final = 400
"""How many blockers of a step are remembered, and how much of each."""

_TO_ADD: Final = " (put one into .claude/skills/NAME/SKILL.md and answer retry: its order will name it)"

_STANDING: Final = frozenset({StepState.PENDING, StepState.WORKING, StepState.CHECKING, StepState.PASSED})


def block(
    draft: Draft,
    step: str,
    text: str,
    options: tuple[str, ...] = STUCK,
    kind: QuestionKind = QuestionKind.STUCK,
) -> None:
    """Let a step wait for the answer to a question. For what the PM agent failed at nobody is asked."""
    if is_consultation(draft.step(step)):
        fail(draft, step, text)
        return
    if draft.step(step).state in _STANDING:
        draft.change(StepMoved(step, StepState.BLOCKED, draft.at, text))
    ask(draft, step, text, options, kind)


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


def blocked(draft: Draft, step: str, report: Report) -> None:
    """An agent reports a blocker: try once more, differently; then ask (HUB 7.1). The same again is a loop (W5)."""
    here, blockers = draft.step(step), report.blockers.strip()
    times = times_asked(here.blockers, blockers)
    draft.change(StepRemembered(step, (*here.blockers, blockers[:REMEMBERED_LENGTH])[-REMEMBERED:]))
    if times >= draft.limits.loops:
        _ask_about_loop(draft, step, times)
        return
    gap, tried = report.skill_gaps.strip(), report.completed.strip()
    if gap:
        draft.change(StepLacked(step, f"{here.gap}\n{gap}".strip()[-GAP_LENGTH:]))
    if here.tally.blocks >= draft.limits.blocks:
        text = f"{here.agent} is blocked on '{here.title}': {first_line(blockers)}"
        if gap:
            text += f"\n  missing skill or context: {first_line(gap)}; {_of_gap(draft, gap)}{_TO_ADD}"
        block(draft, step, text, _with_replan(draft, step))
        return
    _count(draft, step, replace(here.tally, blocks=here.tally.blocks + 1))
    told = [f"Blocked: {blockers}"]
    told += [f"What was tried: {tried}"] if tried else []
    told += [f"Missing skill or context: {gap}", f"For that {_of_gap(draft, gap)}."] if gap else []
    feed(draft, step, "\n".join([*told, "Take a different approach."]))
    reopen(draft, step, f"blocked: {first_line(blockers)}")


def _of_gap(draft: Draft, gap: str) -> str:
    """Say which skills may fill a gap; orders name them (H12)."""
    named = filling(draft.state.skills, gap)
    return f"these skills may help: {', '.join(named)}" if named else "no such skill was found"


def _ask_about_loop(draft: Draft, step: str, times: int) -> None:
    """Stop the normal way, and show the whole history: what was asked, and what was answered (W5)."""
    here = draft.step(step)
    asked = [f"  blocked: {first_line(each)}" for each in here.blockers]
    answers = [
        f"  {question.id} was answered: {first_line(question.answer)}"
        for question in draft.state.questions.values()
        if question.step == step and not question.open
    ]
    text = f"{here.agent} asks for the same the {times}th time on '{here.title}':"
    told = "\n".join([text, *asked, *answers])
    block(draft, step, told, _with_replan(draft, step), QuestionKind.LOOP)


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
    policy = draft.state.brief.config.after_rejections
    if policy is AfterRejections.SET_ASIDE:
        set_aside(draft, step, why)
    elif policy is AfterRejections.REPLAN and may_replan(draft, step):
        replan(draft, step, why)
    else:
        reopen(draft, step, why)
        block(draft, step, f"'{here.title}' was {why}", _with_replan(draft, step))


def crashed(draft: Draft, step: str, how: str, *, keep_tree: bool = False) -> None:
    """A run ended without a report: run it again after a growing pause, then ask (W7).

    `keep_tree`: the next one goes on with the conversation, and so with the work.
    """
    here = draft.step(step)
    crashes = here.tally.crashes + 1
    _count(draft, step, replace(here.tally, crashes=crashes))
    if crashes > draft.limits.crashes and is_consultation(here):
        fail(draft, step, f"{here.agent} failed {crashes} times; the last time it {how}")
        return
    if crashes > draft.limits.crashes:
        draft.change(StepMoved(step, StepState.FAILED, draft.at, how))
        ask(draft, step, f"{here.agent} failed {crashes} times on '{here.title}'; the last time it {how}")
        return
    _again(draft, step, how, crashes, keep_tree=keep_tree)


def lost(draft: Draft, step: str, how: str, *, keep_tree: bool = False) -> None:
    """A run went down with its terminal: that is not the agent's doing, and has a bound of its own.

    `keep_tree` as in `crashed`.
    """
    here = draft.step(step)
    losses = here.tally.losses + 1
    _count(draft, step, replace(here.tally, losses=losses))
    if losses > draft.limits.losses and is_consultation(here):
        fail(draft, step, f"the terminal of {here.agent} was lost {losses} times")
        return
    if losses > draft.limits.losses:
        draft.change(StepMoved(step, StepState.FAILED, draft.at, how))
        ask(draft, step, f"the terminal of {here.agent} was lost {losses} times on '{here.title}'")
        return
    _again(draft, step, how, losses, keep_tree=keep_tree)


def silent(draft: Draft, step: str, how: str) -> None:
    """A run showed no progress for too long and was ended: another goes on with its work; then a person is asked."""
    here = draft.step(step)
    silences = here.tally.silences + 1
    _count(draft, step, replace(here.tally, silences=silences))
    feed(draft, step, f"The last try {how}. Give a sign of progress at least every 20 minutes.")
    if silences >= draft.limits.silences:
        text = f"{here.agent} {how}, {silences} times on '{here.title}'"
        block(draft, step, text, _with_replan(draft, step))
        return
    _again(draft, step, how, 1, keep_tree=True)


def _with_replan(draft: Draft, step: str) -> tuple[str, ...]:
    return (RETRY, REPLAN, *STUCK[1:]) if may_replan(draft, step) else STUCK


def _again(draft: Draft, step: str, how: str, times: int, *, keep_tree: bool = False) -> None:
    later = rested_at(draft, times)
    moved = StepMoved(step, StepState.PENDING, draft.at, how, not_before=later, keep_tree=keep_tree)
    draft.change(moved)


def rested_at(draft: Draft, times: int) -> float:
    """Return when what died so many times may be tried again: later each time."""
    longer: float = draft.limits.first_pause * 4 ** (times - 1)
    return draft.at + min(longer, draft.limits.longest_pause)


def _count(draft: Draft, step: str, tally: Tally) -> None:
    draft.change(StepTallied(step, tally))
