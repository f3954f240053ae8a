"""Agents of `hands: operations`: what follows when their file operations were carried out, or refused (F2, F5).

What cannot be carried out goes back with its reasons, in the next order of the same step; after
`limits.max_operation_tries` a person is asked. Deletes that nobody has confirmed are a question; once they are
confirmed, the next run hands in the same text again, and its program is not asked anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.hands import Hands
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Purpose
from orchestrator.pm.plan.advance import close_order
from orchestrator.pm.plan.asking import ABANDON, APPROVE, REJECT, SET_ASIDE
from orchestrator.pm.policies.reopen import feed, reopen
from orchestrator.pm.policies.retries import block, count
from orchestrator.pm.policies.turn_ends import hands_in_by_files
from orchestrator.pm.state.changes import OperationsRecorded
from orchestrator.pm.state.run_changes import RunReported
from orchestrator.pm.state.step_changes import StepMoved

if TYPE_CHECKING:
    from orchestrator.model.facts import OperationsSettled
    from orchestrator.model.file_operations import OperationsRecord
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

NAMED: Final = 50
"""How many files a question about deletes names."""


def hands_in_by_operations(state: PMState, run: Run) -> bool:
    """Return whether a run's program writes text, whose file operations the PM carries out."""
    agent = state.agents.get(run.agent)
    return run.purpose is Purpose.WORK and agent is not None and agent.hands is Hands.OPERATIONS


def cannot_hand_in_by_operations(step: Step) -> str:
    """Return why no agent of `hands: operations` can work on a step; empty if one can."""
    if Gate.DECISION in step.gates:
        return "the PM agent decides, and changes no file"
    if hands_in_by_files(step):
        return "its agent hands in by files of its own"
    return ""


def confirmed_record(state: PMState, run: Run) -> OperationsRecord | None:
    """Return the operations that a run is to hand in again, as the deletes in them were confirmed; None if none are."""
    last = next((each for each in reversed(state.operations) if _step_of(state, each) == run.step), None)
    if last is None or not last.unconfirmed or last.run == run.id:
        return None
    asked = [each for each in state.questions.values() if each.kind is QuestionKind.DELETES]
    answers = [
        each.answer.strip().lower() for each in asked if (each.step, each.asked_at) == (run.step, last.at)
    ]
    return last if answers[-1:] == [APPROVE] else None


def applied_runs(state: PMState, step: str) -> tuple[str, ...]:
    """Return the runs of a step whose file operations were carried out and not undone since, oldest first."""
    known = (
        each.run
        for each in state.operations
        if each.done and not each.undone and _step_of(state, each) == step
    )
    return (*state.operated.get(step, ()), *known)


def operations_settled(draft: Draft, fact: OperationsSettled) -> None:
    """Record what became of a run's operations. If none was carried out, close its order and go on with the step."""
    run, record = draft.state.runs.get(fact.run), fact.record
    if run is None or _is_recorded(draft.state, record):
        return
    draft.change(OperationsRecorded(record))
    if record.done or run.order not in draft.state.orders:
        return  # its handoff follows, or nobody waits for one any more
    close_order(draft, run)
    draft.change(RunReported(run.id, fact.at))
    step = draft.step(run.step)
    if (step.attempt, step.state) != (run.attempt, StepState.WORKING):
        draft.notice(
            f"the file operations of {run.id} were ignored: {step.id} was reopened or given up meanwhile"
        )
    elif record.unconfirmed:
        text = _deletes_said(step, record)
        block(draft, step.id, text, (APPROVE, REJECT, SET_ASIDE, ABANDON), QuestionKind.DELETES)
    else:
        _tried_again(draft, step, record)


def deletes_answered(draft: Draft, question: Question, text: str) -> None:
    """Handle the answer to a question about deletes: the next run hands the same in again, or is told what was said."""
    if text.strip().lower() != APPROVE:
        said = "" if text.strip().lower() == REJECT else f": {text}"
        feed(draft, question.step, f"The deletes are not confirmed{said}. Hand in operations without them.")
    reopen(draft, question.step, f"goes on in answer to {question.id}", carries=True)


def _is_recorded(state: PMState, record: OperationsRecord) -> bool:
    return any(each.run == record.run for each in state.operations)


def _step_of(state: PMState, record: OperationsRecord) -> str:
    run = state.runs.get(record.run)
    return run.step if run is not None else ""


def _tried_again(draft: Draft, step: Step, record: OperationsRecord) -> None:
    """Give the faults back to the agent, each with its operation's index; after the bound, ask a person."""
    faults = "\n".join(f"- {each}" for each in record.faults)
    undone = " What had been carried out was rolled back." if record.rolled_back else ""
    tries = step.tally.operations + 1
    if tries >= draft.limits_of(step.id).max_operation_tries:
        text = (
            f"{step.agent} handed in file operations for '{step.title}' {tries} times, and none could be carried out."
            f"{undone} The last time:\n{faults}"
        )
        block(draft, step.id, text)
        return
    count(draft, step.id, replace(step.tally, operations=tries))
    feed(
        draft,
        step.id,
        f"JSON validation errors:\n{faults}\n\nNothing of it was carried out.{undone} Please correct and resubmit all "
        "operations, in the format given above.",
    )
    why = f"its file operations were refused: {record.faults[0] if record.faults else 'no reason'}"
    draft.change(StepMoved(step.id, StepState.PENDING, draft.at, why, keep_tree=True))


def _deletes_said(step: Step, record: OperationsRecord) -> str:
    """Return the question about deletes, with the first lines of the first files (F5)."""
    paths = [path for path, _ in record.unconfirmed]
    lines = [f"{step.agent} wants to delete {len(paths)} file{'s' * (len(paths) != 1)} for '{step.title}':"]
    for path, preview in record.unconfirmed[:NAMED]:
        lines += [f"- {path}", *(f"    {line}" for line in preview.splitlines())]
    lines += [f"- and {len(paths) - NAMED} more"] if len(paths) > NAMED else []
    return "\n".join([*lines, "Nothing was carried out yet. Confirm?"])
