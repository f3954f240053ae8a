"""The result of a task in five lines: asked, outcome, work, not done, cost and next. Every page shows the same lines.

Statements about the branch come from a look into the repository, and say when that was; what could not be looked up is
shown as unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.projections.outcome_words import NAMED, more_than_named, shortened
from orchestrator.daemon.projections.work_done import AT_WORK, BranchLook, is_astray, work_done
from orchestrator.formats.amounts import UNCOUNTED, cost_said, on_word_said, span_said, tokens_said
from orchestrator.model.plan import StepState
from orchestrator.model.task import TaskState
from orchestrator.model.workflow_records import NoteStatus
from orchestrator.pm.state.results import (
    Counts,
    counts,
    not_done,
    unmet_criteria,
)
from orchestrator.pm.state.usage_limits import parked
from orchestrator.scribe.summary import first_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.question import Question
    from orchestrator.pm.state.task_state import PMState


STATES: Final = {
    TaskState.RUNNING: "at work",
    TaskState.WAITING: "waits for an answer",
    TaskState.STOPPED: "stopped",
    TaskState.COMPLETE: "complete",
    TaskState.PARTIAL: "complete in part",
    TaskState.FAILED: "failed",
}
"""The states of a task in words for people."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The lines, each a sentence that can be shown as it is.

    `branch_seen` is when the branch was looked at, in seconds since the epoch; None if it was not.
    """

    asked: str
    outcome: str
    work: str
    not_done: str
    cost: str
    next: str
    branch_seen: float | None = None

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return the five lines with their names; cost and the next command are one line."""
        return (
            ("Asked", self.asked),
            ("Outcome", self.outcome),
            ("Work", self.work),
            ("Not done", self.not_done),
            ("Cost", f"{self.cost}. Next: {self.next}"),
        )


def outcome_of(state: PMState, look: BranchLook | None) -> Outcome:
    """Return the result of a task so far. `look` is the last look at its branch, None if there was none yet.

    Commands name the task by its id: pages stay as they are when another project gets a task of the same name.
    """
    counted = counts(state)
    return Outcome(
        asked=_asked(state),
        outcome=_outcome(state, counted),
        work=work_done(state, look),
        not_done=_not_done(state),
        cost=_cost(state),
        next=_next(state, look),
        branch_seen=None if look is None or look.fault else look.at,
    )


def steps_said(counted: Counts) -> str:
    """Return how many steps passed, and how many were set aside."""
    aside = f", {counted.set_aside} set aside" if counted.set_aside else ""
    return f"{counted.passed} of {counted.total} steps passed{aside}"


def _asked(state: PMState) -> str:
    goal = shortened(first_sentence(state.brief.goal))
    title = shortened(state.brief.title)
    before = shortened(first_sentence(state.goal_before), 100)
    changed = f" (the goal was changed since the task began; before: {before})" if before else ""
    return f"{title}: {goal}{changed}" if goal and goal != title else f"{title}{changed}"


def _outcome(state: PMState, counted: Counts) -> str:
    status = STATES[state.state]
    match state.state:
        case TaskState.RUNNING:
            status = f"held up by a usage limit ({_limits(state)})" if parked(state) else status
            status += f", phase {state.phase.value}"
        case TaskState.WAITING:
            status += f" to {', '.join(question.id for question in state.open_questions[:NAMED])}"
        case TaskState.COMPLETE if on_word := on_word_said(counted.attested, counted.criteria):
            return f"{status}, but {on_word}; {steps_said(counted)}{_met(counted)}"
        case TaskState.COMPLETE:
            pass
        case TaskState.STOPPED | TaskState.PARTIAL | TaskState.FAILED:
            status += f": {shortened(state.why)}" if state.why else ""
    return f"{status}; {steps_said(counted)}{_met(counted)}{_attested(counted)}"


def _met(counted: Counts) -> str:
    return f", {counted.met} of {counted.criteria} success criteria met" if counted.criteria else ""


def _attested(counted: Counts) -> str:
    """Return how many criteria nothing shows to be met but what their judge wrote itself."""
    if not counted.attested:
        return ""
    return f" ({counted.attested} only by what their judge wrote itself)"


def _limits(state: PMState) -> str:
    """Return the texts of the limits that hold a task up, without the time of the next try, which changes."""
    words = dict.fromkeys(shortened(step.limit.words, 80) for step in parked(state) if step.limit is not None)
    return "; ".join(list(words)[:NAMED]) or "without a word"


def _not_done(state: PMState) -> str:
    given_up, unfinished, unmet = not_done(state), _unfinished(state), unmet_criteria(state)
    reasons = [f"{shortened(title, 100)} ({shortened(why, 120)})" for title, why in given_up[:NAMED]]
    reasons += more_than_named(given_up, "set aside")
    if state.state not in AT_WORK:
        reasons += [f"{shortened(title, 100)} (not finished)" for title in unfinished[:NAMED]]
        reasons += more_than_named(unfinished, "not finished")
        judged = {mark.text for mark in state.criteria}
        reasons += [
            f"criterion not {'met' if each in judged else 'judged'}: {shortened(each, 100)}"
            for each in unmet[:NAMED]
        ]
        reasons += more_than_named(unmet, "criteria not met")
    elif not reasons:
        return "nothing was given up so far"
    if not reasons and state.state is not TaskState.COMPLETE:
        return shortened(state.why) or "nothing was given up so far"
    return "; ".join(reasons) or "nothing"


def _unfinished(state: PMState) -> list[str]:
    """Return the title of each subtask or step that an abandoned task has left: that of the work, not of its judges."""
    left = state.steps.among(state.steps.unsettled & ~state.steps.consultations)
    titles = dict[str, str]()
    for step in sorted(left, key=lambda step: bool(step.judges)):
        titles.setdefault(step.subtask or step.judges or step.id, step.title)
    return list(titles.values())


def _cost(state: PMState) -> str:
    """Return what the task used, as of its last event: passing time alone changes nothing."""
    worked, used = state.worked, state.runs.usage
    amounts = [f"{span_said(worked.time)} at work, {span_said(worked.idle)} of it without an agent"]
    amounts.append(f"{tokens_said(used.tokens)} tokens" if used.reported else "no program reported tokens")
    amounts += [cost_said(used.cost, used.estimate)] if used.dollars is not None else []
    amounts += [UNCOUNTED] if used.partial else []
    return ", ".join(amounts)


def _next(state: PMState, look: BranchLook | None) -> str:
    if (asked := state.open_questions) and state.state in AT_WORK:
        return _answer(state, asked)
    name, project = quote(state.name), quote(state.project)
    match state.state:
        case TaskState.RUNNING | TaskState.WAITING if parked(state):
            return "nothing has to be done; it is tried again by itself"
        case TaskState.RUNNING | TaskState.WAITING if not state.live_runs:
            return "nothing has to be done; it goes on by itself"
        case TaskState.RUNNING | TaskState.WAITING:
            return f"nothing has to be done; `task attach {state.id}` shows the agents"
        case TaskState.COMPLETE:
            further = _take_over(state, look)
        case TaskState.STOPPED if state.brief.skill and state.brief.skill.returned:
            take = _take_over(state, look, anyway=" --anyway")
            further = f"`task skill run --state {quote(state.brief.skill.state_file)}` goes on with its session; {take}"
        case TaskState.STOPPED | TaskState.FAILED:
            further = f"`task start {name} --project {project}` goes on"
        case TaskState.PARTIAL:
            further = _after_part(state, look, f"`task start {name} --project {project}`")
    return f"{_answer(state, asked)}; {further}" if asked else further


def _answer(state: PMState, asked: Sequence[Question]) -> str:
    """Return the command that answers the oldest open question, and how to see the others."""
    first, *others = asked
    more = f"; `task questions {state.id}` shows {len(others)} more" if others else ""
    return f"`task answer {state.id} {first.id} {typed_answer(state, first)}`{more}"


def _after_part(state: PMState, look: BranchLook | None, start: str) -> str:
    """Return what can be done about a task that is complete in part: `start` is the command that starts it again."""
    take = _take_over(state, look, anyway=" --anyway")
    if state.steps.unsettled:
        return f"{start} goes on; {take}"
    if not_done(state):
        return f"{start} tries again what was set aside; {take}"
    # Every step passed, so a start alone finds nothing to do and the task ends the same at once.
    return f"change what task.md asks for, then {start} plans what is still to be done; {take}"


def typed_answer(state: PMState, question: Question) -> str:
    """Return the first answer to a question as it is to be typed: words, if an agent of a workflow waits for words."""
    step = state.steps.get(question.step)
    record = state.records.get(step.agent) if step is not None else None
    notes = record.session.notes if record is not None and record.session is not None else ()
    waits = step is not None and step.state is StepState.BLOCKED
    if waits and any(each.status is NoteStatus.ESCALATED for each in notes):
        return "TEXT"
    return first_answer(question)


def first_answer(question: Question) -> str:
    """Return the first option of a question as it is to be typed: by its number, if its words need quotes."""
    if not question.options:
        return "TEXT"
    first = question.options[0]
    return first if first.isascii() and first.replace("-", "").isalnum() else "1"


def _take_over(state: PMState, look: BranchLook | None, anyway: str = "") -> str:
    """Return how to take the work over, if some of it is on a branch that is not merged yet.

    `anyway` is the option that `task merge` needs for work that is not complete; empty if it needs none.
    """
    if state.base and (look is None or look.fault):
        return "what there is to merge is shown once the branch has been looked at"
    if state.base and look is not None and look.seen is None:
        return f"`task diff {state.id}` says how to get the branch back"
    if is_astray(state, look):
        return f"`task merge {state.id}` says what is different, and how to put the branch back"
    if look is None or look.seen is None or not look.seen.files:
        return "there is nothing to merge"
    if look.seen.merged:
        return "it is merged already"
    return f"`task diff {state.id}` shows what is done, `task merge {state.id}{anyway}` takes it over"
