"""The result of a task in five lines: asked, outcome, work, not done, cost and next. Every page shows the same lines.

Statements about the branch come from a look into the repository, and say when that was; what could not be looked up is
shown as unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Final

from orchestrator.formats.amounts import UNCOUNTED, cost_said, on_word_said, span_said, tokens_said
from orchestrator.formats.text import cut, one_line
from orchestrator.model.plan import StepState
from orchestrator.model.task import TaskState
from orchestrator.model.workflow_records import NoteStatus
from orchestrator.pm.state.results import (
    Counts,
    baseline_of,
    checked_work,
    counts,
    last_check,
    not_done,
    rebased_since,
    unmet_criteria,
    work_checked_last,
)
from orchestrator.pm.state.usage_limits import parked
from orchestrator.scribe.summary import first_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.workspaces import BranchSurvey

LONGEST: Final = 240
"""How many characters of a foreign text one of the lines shows."""

NAMED: Final = 5
_AT_WORK: Final = frozenset({TaskState.RUNNING, TaskState.WAITING})
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
class Unfinished:
    """What a step left in its worktree, and nobody has accepted yet: how many files, and in which folder."""

    step: str
    files: int
    folder: str


@dataclass(frozen=True, slots=True)
class BranchLook:
    """A look at a task's branch: what was seen, and when (seconds since the epoch); a `fault` says why it failed.

    `unfinished`: of a task at rest, what lies in worktrees and is not on the branch.
    """

    at: float
    seen: BranchSurvey | None = None
    fault: str = ""
    unfinished: tuple[Unfinished, ...] = ()


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
        work=_work(state, look),
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
    goal = _short(first_sentence(state.brief.goal))
    title = _short(state.brief.title)
    before = _short(first_sentence(state.goal_before), 100)
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
            status += f": {_short(state.why)}" if state.why else ""
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
    words = dict.fromkeys(_short(step.limit.words, 80) for step in parked(state) if step.limit is not None)
    return "; ".join(list(words)[:NAMED]) or "without a word"


def _work(state: PMState, look: BranchLook | None) -> str:
    return "; ".join(
        each
        for each in (_where_it_lies(state, look), _left(look), _handed_in(state), _tested(state, look))
        if each
    )


def _handed_in(state: PMState) -> str:
    """Return where the outputs of a workflow's agents lie: on no branch."""
    files = sum(len(made[-1].files) for made in state.handed_in.values())
    where = f"tasks/{state.name}/orchestration/agents/*/task_output"
    return (
        f"{_count(files, 'file')} handed in by {_count(len(state.handed_in), 'agent')} in {where}"
        if files
        else ""
    )


def _where_it_lies(state: PMState, look: BranchLook | None) -> str:
    """Return where the work is: on the branch, as last seen, or in folders that are not the task's own."""
    elsewhere = list(dict.fromkeys(step.elsewhere for step in state.steps.values() if step.elsewhere))
    if elsewhere:
        places = f"it is in {', '.join(elsewhere[:NAMED])}, on no branch of the task"
    if not state.base:
        return places if elsewhere else "nothing was changed so far"
    branch = _on_branch(state, look)
    return f"{places}; {branch}" if elsewhere else branch


def _on_branch(state: PMState, look: BranchLook | None) -> str:
    if look is None:
        return f"the branch `{state.branch}` has not been looked at yet"
    if look.fault:
        return f"the branch `{state.branch}` could not be looked at: {_short(look.fault)}"
    seen = look.seen
    if seen is None:
        return f"there is no branch `{state.branch}`"
    if seen.gone:
        return (
            f"there is no branch `{state.branch}`: it was at {seen.tip[:10]}, all of it in your tree's HEAD"
        )
    if _is_astray(state, look):
        return f"branch `{state.branch}` is at {seen.tip[:10]}, where the PM left it at {state.tip[:10]}"
    if not seen.count:
        beyond = f" beyond {state.base[:10]}" if any(step.commit for step in state.steps.values()) else ""
        return f"nothing is on the branch `{state.branch}`{beyond}"
    summary = (
        f"branch `{state.branch}` at {seen.tip[:10]}: {_count(seen.count, 'commit')}, "
        f"{_count(seen.files, 'file')} changed, +{seen.added} -{seen.removed}"
    )
    return f"{summary}, all of it in your tree's HEAD" if seen.merged else summary


def _left(look: BranchLook | None) -> str:
    """Return what lies in worktrees, and is not on the branch."""
    left = look.unfinished if look is not None else ()
    said = [f"{_count(each.files, 'file')} changed by {each.step} in {each.folder}" for each in left[:NAMED]]
    said += _rest_of(left, "worktrees")
    return f"not on the branch yet: {', '.join(said)}" if said else ""


def _is_astray(state: PMState, look: BranchLook | None) -> bool:
    """Return whether somebody moved the branch since the task is at rest: what was accepted may not be on it."""
    seen = None if look is None else look.seen
    return seen is not None and bool(state.tip) and seen.tip != state.tip and state.state not in _AT_WORK


def _tested(state: PMState, look: BranchLook | None) -> str:
    """Return how the checks ended, before anything was changed and on the current work."""
    before, after = baseline_of(state), last_check(state)
    if before is None and after is None:
        ahead = [step for step in state.steps.values() if step.check_exit is not None and not step.only_check]
        only = ", ".join(f"ahead of {step.id}: exited {step.check_exit}" for step in ahead[:NAMED])
        return "the PM has run no check on it" + (f", only {only}" if only else "")
    results = []
    if before is not None:
        old = f", on {before.check_commit[:10]}" if rebased_since(state, before) else ""
        results.append(f"check before: {_ended(before)}{old}")
    if after is not None:
        tip = look.seen.tip if look is not None and look.seen is not None else ""
        results.append(f"check after: {_ended(after)}{_stale(state, after, tip)}{check_rewritten(state)}")
    else:
        results.append("check after: none on accepted work so far")
    return ", ".join(results)


def check_rewritten(state: PMState) -> str:
    """Return which files of the check's own command are not as they were before the task."""
    work = work_checked_last(state)
    if work is None or not work.check_files:
        return ""
    return f", by a check that the task has changed itself: {_short(', '.join(work.check_files), 160)}"


def _stale(state: PMState, after: Step, tip: str) -> str:
    """Return on which commit a check ran, if that is not the tip of the branch."""
    commit = after.check_commit or checked_work(state, after)
    if rebased_since(state, after):
        return f", on {commit[:10]} and not on what came after it: the work was rebased since"
    return f", on {commit[:10]} and not on what came after it" if tip and commit and commit != tip else ""


def _ended(step: Step) -> str:
    if step.check_exit is None:
        return "it is still running" if step.state is StepState.WORKING else "no result"
    line = f" ({_short(step.check_lines[-1], 80)})" if step.check_lines else ""
    return f"exited {step.check_exit}{line}"


def _not_done(state: PMState) -> str:
    given_up, unfinished, unmet = not_done(state), _unfinished(state), unmet_criteria(state)
    reasons = [f"{_short(title, 100)} ({_short(why, 120)})" for title, why in given_up[:NAMED]]
    reasons += _rest_of(given_up, "set aside")
    if state.state not in _AT_WORK:
        reasons += [f"{_short(title, 100)} (not finished)" for title in unfinished[:NAMED]]
        reasons += _rest_of(unfinished, "not finished")
        judged = {mark.text for mark in state.criteria}
        reasons += [
            f"criterion not {'met' if each in judged else 'judged'}: {_short(each, 100)}"
            for each in unmet[:NAMED]
        ]
        reasons += _rest_of(unmet, "criteria not met")
    elif not reasons:
        return "nothing was given up so far"
    if not reasons and state.state is not TaskState.COMPLETE:
        return _short(state.why) or "nothing was given up so far"
    return "; ".join(reasons) or "nothing"


def _rest_of(found: Sequence[object], what: str) -> list[str]:
    """Return how many more there are than the ones named."""
    return [f"{len(found) - NAMED} more {what}"] if len(found) > NAMED else []


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
    if (asked := state.open_questions) and state.state in _AT_WORK:
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
    if _is_astray(state, look):
        return f"`task merge {state.id}` says what is different, and how to put the branch back"
    if look is None or look.seen is None or not look.seen.files:
        return "there is nothing to merge"
    if look.seen.merged:
        return "it is merged already"
    return f"`task diff {state.id}` shows what is done, `task merge {state.id}{anyway}` takes it over"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _short(text: str, limit: int = LONGEST) -> str:
    return cut(one_line(text).replace("`", "'"), limit)  # backquotes are for our own commands
