"""The result of a task: the counts that every page shows, and what is missing from the request (U11).

A task is complete when every step passed or was replaced by another way to its goal, every success criterion is met
with evidence that exists, no check fails, and there is a change. With `evidence: independent` that evidence must be
more than what the judge wrote itself. Anything less is named here, and the task ends as
*partial* (something was delivered) or *failed* (nothing was).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.formats.amounts import on_word_said
from orchestrator.formats.check_output import failed_alike
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.run import Purpose
from orchestrator.model.task import AcceptedEvidence
from orchestrator.model.turn_end import AgentRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.pm.state.task_state import PMState

_NOTHING: Final = AgentRecord()
_LEAVES_FILES: Final = frozenset({Gate.OUTPUTS, Gate.MEMORY})

NAMED: Final = 5
"""How many shortfalls of one kind are named."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of plan steps in each state. Consultations of the PM agent and replaced steps are not counted.

    `criteria` is the number of success criteria in task.md, `met` how many are met with evidence that exists;
    of `attested` of these nothing shows that but what their judge wrote itself.
    """

    passed: int
    set_aside: int
    open: int
    total: int
    criteria: int
    met: int
    attested: int = 0


def counts(state: PMState) -> Counts:
    """Return the counts that status, list, progress.md and the JSON documents show; fast for a plan of any size."""
    steps = state.steps
    planned = steps.all & ~steps.consultations & ~steps.replaced
    passed, set_aside = planned & steps.passed, planned & steps.given_up
    total = planned.bit_count()
    return Counts(
        passed=passed.bit_count(),
        set_aside=set_aside.bit_count(),
        open=total - passed.bit_count() - set_aside.bit_count(),
        total=total,
        criteria=len(state.brief.criteria),
        met=len(state.brief.criteria) - len(unmet_criteria(state)),
        attested=len(attested_criteria(state)),
    )


def attested_criteria(state: PMState) -> list[str]:
    """Return the success criteria of task.md that are met, as far as only their judge's own words show."""
    on_word = {mark.text for mark in state.criteria if mark.met and mark.evidence and mark.attested}
    return [criterion for criterion in state.brief.criteria if criterion in on_word]


def unmet_criteria(state: PMState) -> list[str]:
    """Return the success criteria of task.md that are not known to be met."""
    met = {mark.text for mark in state.criteria if mark.met and mark.evidence}
    return [criterion for criterion in state.brief.criteria if criterion not in met]


def shortfalls(state: PMState) -> tuple[str, ...]:
    """Return what is missing from the request, in words; empty for a task that is complete.

    It visits every step: call it once the steps of a task are settled.
    """
    missing = (
        _set_aside(state),
        _unmet(state),
        _on_word(state),
        _failing(state),
        _without_work(state),
        _astray(state),
    )
    return tuple(filter(None, missing))


def delivered(state: PMState) -> bool:
    """Return whether any requested part is done: a subtask or order passed with its judges, or a criterion is met."""
    steps = state.steps
    done = any(
        step.subtask and step.judges and not steps.of_subtask(step.subtask) & steps.unsettled
        for step in steps.among(steps.passed)
    )
    loose = any(
        Gate.COMMIT in step.gates and not steps.judges_of(step.id) & steps.unsettled
        for step in steps.among(steps.passed)
    )
    return done or loose or any(mark.met and mark.evidence for mark in state.criteria)


def not_done(state: PMState) -> list[tuple[str, str]]:
    """Return what was set aside: the title of each subtask or step, once, and the reason."""
    found: dict[str, tuple[str, str]] = {}
    for step in state.steps.among(state.steps.given_up & ~state.steps.consultations):
        found.setdefault(step.subtask or step.judges or step.id, (step.title, step.why))
    return list(found.values())


def unchanged_work(state: PMState) -> list[Step]:
    """Return the steps that passed without a change because their reports said that none was needed."""
    return [
        step
        for step in state.steps.values()
        if step.unchanged and not step.commit and step.state is StepState.PASSED
    ]


def accepted_work(state: PMState) -> dict[str, str]:
    """Return the commits that must be on the task's branch, by the steps that made them: merged by their judges.

    In the order in which they were merged.
    """
    steps = state.steps
    merged = [
        (judge.since, work.id, work.commit)
        for judge in steps.among(steps.passed)
        if Gate.MERGED in judge.gates and (work := steps[judge.judges] if judge.judges else judge).commit
    ]
    return {step: commit for _, step, commit in sorted(merged)}


def counts_as_check(state: PMState, step: Step) -> bool:
    """Return whether the check of a step tells of the work: it ran on accepted work, or ahead of its acceptance.

    One that ran before anything was changed tells nothing of it; nor does one of a step that was given up.
    """
    if step.only_check or step.check_exit is None:
        return False
    if Gate.CRITERIA in step.gates:
        return True
    if step.state is not StepState.PASSED:
        return False
    if step.judges:
        return state.steps[step.judges].state is StepState.PASSED
    checked_at = max(
        (
            run.opened_at
            for run in state.runs.values()
            if run.step == step.id and run.purpose is Purpose.CHECK
        ),
        default=0.0,
    )
    accepted = state.steps.among(state.steps.passed)
    return any((each.commit or each.elsewhere) and each.since <= checked_at for each in accepted)


def baseline_of(state: PMState) -> Step | None:
    """Return the step that ran the check before anything was changed, if the plan has one."""
    return state.steps.first(state.steps.baselines)


def fails_as_before(state: PMState, step: Step, exited: int, lines: Sequence[str]) -> bool:
    """Return whether a check of a step failed just as the same check had failed before anything was changed."""
    before = baseline_of(state)
    return (
        before is not None
        and before.agent == step.agent
        and bool(exited)
        and before.check_exit == exited
        and failed_alike(before.check_lines, lines)
        and not _builds_on_mended(state, step)
    )


def _builds_on_mended(state: PMState, step: Step) -> bool:
    """Return whether a check ran on work that builds on accepted work with which it passed: then this work broke it."""
    passed = [each for each in _checked_in_order(state) if each.check_exit == 0]
    work = state.runs.last_at_work_on(step.judges) if step.judges and not step.recheck else None
    return any(work is None or _accepted_at(state, each) <= work.opened_at for each in passed)


def last_check(state: PMState) -> Step | None:
    """Return the step that passed with a check of the work accepted last; None if there is none."""
    return next(reversed(_checked_in_order(state)), None)


def work_checked_last(state: PMState) -> Step | None:
    """Return the work on which the check ran that was accepted last; None if there is none."""
    last = last_check(state)
    return state.steps.get(last.judges) if last is not None else None


def _checked_in_order(state: PMState) -> list[Step]:
    """Return the steps that passed with a check of the work that they judge, in the order of its acceptance."""
    passed = state.steps.among(state.steps.passed)
    checked = [step for step in passed if step.check_exit is not None and step.judges]
    return sorted(checked, key=lambda step: _accepted_at(state, step))


def _accepted_at(state: PMState, judge: Step) -> float:
    """Return when work was accepted, by one of its judges: as the one passed that has it merged, or else the last."""
    judges = list(state.steps.among(state.steps.judges_of(judge.judges) & state.steps.passed))
    merging = [each for each in judges if Gate.MERGED in each.gates]
    return max((each.since for each in merging or judges), default=judge.since)


def checked_work(state: PMState, step: Step) -> str:
    """Return the commit that a step's check is about, as it is now: a rebase changes it. Empty if there is none."""
    if step.only_check:
        return state.base
    return state.steps[step.judges].commit if step.judges else ""


def rebased_since(state: PMState, step: Step) -> bool:
    """Return whether a step's check ran before the work was rebased: it says nothing of the work as it is now."""
    return bool(step.check_commit) and step.check_commit != checked_work(state, step)


def _set_aside(state: PMState) -> str:
    given_up = not_done(state)
    if not given_up:
        return ""
    named = "; ".join(title for title, _ in given_up[:NAMED])
    parts = dict[str, bool]()
    for step in state.steps.among(state.steps.given_up & ~state.steps.consultations):
        part = step.subtask or step.judges or step.id
        parts[part] = parts.get(part, False) or bool(step.subtask or step.judges)
    subtasks = sum(parts.values())
    numbers = ((subtasks, "subtask"), (len(parts) - subtasks, "step"))
    counted = " and ".join(_count(number, what) for number, what in numbers if number)
    return f"{counted} set aside: {named}{_more(len(given_up))}"


def _unmet(state: PMState) -> str:
    unmet = unmet_criteria(state)
    if not unmet:
        return ""
    total, judged = len(state.brief.criteria), {mark.text for mark in state.criteria}
    how = "met" if judged.intersection(unmet) else "judged"
    return (
        f"{len(unmet)} of {total} success criteria not {how}: {'; '.join(unmet[:NAMED])}{_more(len(unmet))}"
    )


def _on_word(state: PMState) -> str:
    """Name the criteria that rest on their judge's word alone, where task.md wants more than that."""
    attested = attested_criteria(state)
    if not attested or state.brief.config.evidence is not AcceptedEvidence.INDEPENDENT:
        return ""
    said = on_word_said(len(attested), len(state.brief.criteria))
    return f"{said}: {'; '.join(attested[:NAMED])}{_more(len(attested))}"


def _failing(state: PMState) -> str:
    """Name the failed checks that no gate judged. A gate passes a failed check only if it fails as before any change.

    That is a shortfall too, unless a later check of accepted work passed.
    """
    failing = [
        step
        for step in state.steps.values()
        if step.check_exit and step.state is StepState.PASSED and not step.only_check
    ]
    last = last_check(state)
    if last is not None and last.check_as_before:
        return f"the check fails as before any change: it exited {last.check_exit} before, and after"
    failing = [step for step in failing if not step.check_as_before]
    if not failing:
        return ""
    named = ", ".join(f"{step.id} (exited {step.check_exit})" for step in failing[:NAMED])
    return f"{_count(len(failing), 'check')} failing: {named}{_more(len(failing))}"


def _without_work(state: PMState) -> str:
    """Say so if no step that passed has changed anything, as far as could be determined.

    A change that was made and finally rejected differs from no change at all: its commits still exist.
    """
    passed = list(state.steps.among(state.steps.passed))
    if any(step.empty for step in passed):
        return "nothing is changed: the commits of its branch take each other back"
    if any(step.commit or (step.elsewhere and not step.uncompared) for step in passed):
        return ""
    if unknown := next((step.elsewhere for step in passed if step.uncompared), ""):
        return f"it is not known whether anything was changed in {unknown}"
    given_up = state.steps.among(state.steps.given_up)
    if any(step.commit or step.starts_from or step.elsewhere for step in given_up):
        return "nothing that was changed was accepted"
    if any(
        _LEAVES_FILES & set(step.gates) and state.records.get(step.agent, _NOTHING).outputs for step in passed
    ):
        return ""
    reasons = [step.unchanged for step in unchanged_work(state)]
    return f"nothing was changed: {reasons[0]}{_more(len(reasons), 1)}" if reasons else "nothing was changed"


def _astray(state: PMState) -> str:
    """Say so if the task's branch does not hold what was accepted, or more than that, and could not be put back."""
    return f"the branch {state.branch} is not at what was accepted: {state.astray}" if state.astray else ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _more(number: int, shown: int = NAMED) -> str:
    return f" and {number - shown} more" if number > shown else ""
