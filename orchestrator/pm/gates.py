"""Gates: what must hold before a step passes. A claim is not evidence (law 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.model.handoff import CriterionMark, Report, Subtask, Verdict
from orchestrator.model.plan import Gate, Step
from orchestrator.model.question import QuestionKind
from orchestrator.pm.asking import ABANDON, ACCEPT, RETRY
from orchestrator.pm.changes import CriteriaMarked
from orchestrator.pm.passing import go_through
from orchestrator.pm.plan_edits import edit_plan
from orchestrator.pm.setbacks import ask_again, block

if TYPE_CHECKING:
    from orchestrator.pm.draft import Draft
    from orchestrator.pm.state import PMState


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gates say of a report: it must be written again, the work is rejected, or neither."""

    again: str = ""
    rejected: str = ""


def judged(step: Step, report: Report) -> Judgement:
    """Hold a report against the gates that need nothing but the report and the daemon's own check."""
    if Gate.VERDICT not in step.gates:
        return Judgement()
    if report.verdict is None:
        return Judgement(again="the line `**Verdict:** APPROVED` or `**Verdict:** REJECTED` is missing")
    said = report.completed.strip() or "no reason given"
    if report.verdict is Verdict.REJECTED:
        return Judgement(rejected=said)
    if Gate.CHECK in step.gates and step.check_exit:
        return Judgement(
            rejected=f"the check that the PM ran exited {step.check_exit}, whatever was claimed: {said}"
        )
    return Judgement()


def take_subtasks(draft: Draft, step: str, report: Report) -> str:
    """Make the plan's subtasks steps of the plan. Return why not, if not.

    A report without the section is asked for it once, and then taken as one subtask: the goal (H4).
    """
    subtasks = report.subtasks
    if subtasks is None:
        if draft.step(step).tally.asks < draft.limits.asks:
            return "the section `## Subtasks` is missing"
        subtasks = (Subtask(id="all", text=draft.state.brief.goal),)
    return edit_plan(draft, subtasks)


def mark_criteria(draft: Draft, step: str, report: Report) -> None:
    """Pass the last review if every success criterion is marked met with evidence; else a person decides (H10)."""
    told = {_plain(mark.text): mark for mark in report.criteria or ()}
    wanted = draft.state.brief.criteria
    unmarked = [criterion for criterion in wanted if _plain(criterion) not in told]
    if unmarked:
        ask_again(draft, step, f"these success criteria are not marked: {'; '.join(unmarked[:10])}")
        return
    bare = [text for text in wanted if (mark := told[_plain(text)]).met and not mark.evidence]
    if bare:
        ask_again(
            draft, step, f"these criteria are marked met without `(evidence: …)`: {'; '.join(bare[:10])}"
        )
        return
    marks = tuple(replace(told[_plain(criterion)], text=criterion) for criterion in wanted)
    draft.change(CriteriaMarked(marks))
    unmet = [mark for mark in marks if not mark.met]
    if unmet:
        named = "; ".join(f"{mark.text} ({mark.reason or 'no reason given'})" for mark in unmet[:5])
        block(
            draft,
            step,
            f"not every success criterion is met: {named}",
            (RETRY, ACCEPT, ABANDON),
            QuestionKind.CRITERIA,
        )
        return
    go_through(draft, step)


def accepted_by_user(state: PMState, question: str) -> tuple[CriterionMark, ...]:
    """Return a mark for each criterion; the unmet ones are met by the user's own word, which is the evidence."""
    told = {mark.text: mark for mark in state.criteria if mark.met}
    word = (f"accepted by the user in answer to {question}",)
    return tuple(
        told.get(criterion) or CriterionMark(criterion, met=True, evidence=word)
        for criterion in state.brief.criteria
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")
