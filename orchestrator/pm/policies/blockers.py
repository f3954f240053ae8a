"""Blockers: another way is tried once, then a person is asked; the same blocker again is a loop (H9, W5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import USER, WITHDRAWN
from orchestrator.pm.plan.repeated_questions import times_asked
from orchestrator.pm.plan.skills import GAP_LENGTH, filling
from orchestrator.pm.policies.escalations import escalate
from orchestrator.pm.policies.rejections import rest_of
from orchestrator.pm.policies.reopen import feed, first_line, reopen
from orchestrator.pm.state.step_changes import StepLacked, StepRemembered

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.pm.state.draft import Draft
from orchestrator.pm.policies.retries import block, count, with_replan

REMEMBERED: Final = 12

REMEMBERED_LENGTH: Final = 400
"""How many blockers of a step are kept, and how many characters of each."""

_TO_ADD: Final = " (put one into .claude/skills/NAME/SKILL.md and answer retry: its order will name it)"


def blocked(draft: Draft, step: str, report: Report) -> None:
    """Handle a blocker: try once more in another way, then ask (H9). A repeated blocker is a loop (W5)."""
    here, blockers = draft.step(step), report.blockers.strip()
    times = times_asked(here.blockers, blockers)
    draft.change(StepRemembered(step, (*here.blockers, blockers[:REMEMBERED_LENGTH])[-REMEMBERED:]))
    if escalate(draft, step, first_line(blockers)):
        return
    if times >= draft.limits_of(step).max_repeated_questions:
        _ask_about_loop(draft, step, times)
        return
    gap, tried = report.skill_gaps.strip(), report.completed.strip()
    if gap:
        draft.change(StepLacked(step, f"{here.gap}\n{gap}".strip()[-GAP_LENGTH:]))
    if here.tally.blocks >= draft.limits_of(step).max_blocks:
        text = f"{here.agent} is blocked on '{here.title}': {first_line(blockers)}{rest_of(blockers)}"
        if gap:
            text += f"\n  missing skill or context: {first_line(gap)}; {_of_gap(draft, gap)}{_TO_ADD}"
        block(draft, step, text, with_replan(draft, step))
        return
    count(draft, step, replace(here.tally, blocks=here.tally.blocks + 1))
    feedback = [f"Blocked: {blockers}"]
    feedback += [f"What was tried: {tried}"] if tried else []
    feedback += [f"Missing skill or context: {gap}", f"For that {_of_gap(draft, gap)}."] if gap else []
    feed(draft, step, "\n".join([*feedback, "Take a different approach."]))
    reopen(draft, step, f"blocked: {first_line(blockers)}")


def _of_gap(draft: Draft, gap: str) -> str:
    """Return a clause that names the skills that may fill a gap; orders name them (H12)."""
    named = filling(draft.state.skills, gap)
    return f"these skills may help: {', '.join(named)}" if named else "no such skill was found"


def _ask_about_loop(draft: Draft, step: str, times: int) -> None:
    """Stop retrying, and show the whole history of blockers and answers in a question (W5)."""
    here = draft.step(step)
    asked = [f"  blocked: {first_line(each)}" for each in here.blockers]
    answers = [
        f"  {question.id} was answered by {question.by or USER}: {first_line(question.answer)}"
        for question in draft.state.questions.values()
        if question.step == step and not question.open and question.answer != WITHDRAWN
    ]
    text = f"{here.agent} has reported the same blocker {times} times on '{here.title}':"
    history = "\n".join([text, *asked, *answers])
    block(draft, step, history, with_replan(draft, step), QuestionKind.LOOP)
