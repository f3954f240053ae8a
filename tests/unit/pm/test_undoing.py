"""`task undo`: a step whose file operations were reversed counts as not done, with all that depends on it."""

from __future__ import annotations

import json

import pytest

from orchestrator.daemon.journal.codec import decoded_state, dumped_state
from orchestrator.model import facts as f
from orchestrator.model.actions import Undo
from orchestrator.model.consultation import PMAction
from orchestrator.model.file_operations import OperationDone, OperationKind, OperationsRecord
from orchestrator.model.plan import StepState
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.policies.operations import applied_runs
from orchestrator.pm.state import fold
from tests.unit.pm.story import MET, Story

DONE = (OperationDone(OperationKind.CREATE, "/tree/a.py", "what the goal asks for", 12),)


def applied(story: Story, step: str) -> str:
    """The file operations of a step's run are carried out; return the run."""
    run = story.comes_alive(step)
    record = OperationsRecord(story.at, run.id, "dev", "Do it", 1, DONE)
    story.feed(f.OperationsSettled(story.at, story.nonce(), run.id, record))
    return run.id


def complete(*subtasks: str) -> Story:
    """A complete task whose developer handed in file operations for each subtask, one after the other."""
    story = Story()
    story.planned(*subtasks)
    for subtask in subtasks:
        applied(story, f"dev:{subtask}")
    for subtask in subtasks:
        story.commit = f"c-{subtask}-"
        story.finishes(subtask)
        story.at += 100
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    return story


def test_a_step_on_the_branch_is_undone_and_done_again() -> None:
    story = complete("a", "b")
    decision = story.undoes("dev:a", story.state.tip, "back")
    assert [(each.old, each.new) for each in decision.actions if isinstance(each, Undo)] == [
        ("c-b-1", "back")
    ]
    assert (story.task(), story.state.tip, story.phase()) == (TaskState.STOPPED, "back", Phase.DEVELOPING)
    assert story.state.criteria == ()
    states = {step: story.step(step).state for step in ("dev:a", "test:a", "accept", "dev:b", "test:b")}
    assert states == {
        "dev:a": StepState.PENDING,
        "test:a": StepState.PENDING,
        "accept": StepState.PENDING,
        "dev:b": StepState.PASSED,
        "test:b": StepState.PASSED,
    }
    story.starts()
    assert story.works_on() == {"dev:a"}
    assert "The user reversed what you changed" in story.order_of("dev:a").instructions
    story.commit = "again-"
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_nothing_is_opened_before_the_files_are_reversed() -> None:
    story = complete("a")
    story.works = False
    story.undoes("dev:a", story.state.tip, "back")
    assert (story.task(), story.step("dev:a").state) == (TaskState.COMPLETE, StepState.PASSED)


def test_what_could_not_be_undone_stays_as_it_is() -> None:
    story = complete("a")
    story.undo_refused = "changed since: /tree/a.py"
    story.undoes("dev:a")
    assert (story.task(), story.step("dev:a").state) == (TaskState.COMPLETE, StepState.PASSED)
    assert "dev:a were not undone: changed since: /tree/a.py" in story.state.notices[-1]
    assert applied_runs(story.state, "dev:a")


def test_what_was_undone_is_not_undone_again() -> None:
    story = complete("a")
    story.undoes("dev:a", story.state.tip, "back")
    assert [bool(each.undone) for each in story.state.operations] == [True]
    again = story.undoes("dev:a")
    assert again.refused
    assert "dev:a has no file operations that could be undone" in again.reply


@pytest.mark.parametrize("step", ["test:a", "dev:none"])
def test_a_step_that_applied_nothing_is_refused(step: str) -> None:
    decision = complete("a").undoes(step)
    assert decision.refused
    assert not decision.actions


def test_a_task_at_work_is_stopped_first() -> None:
    story = Story()
    story.planned("a")
    applied(story, "dev:a")
    decision = story.undoes("dev:a")
    assert decision.refused
    assert "`task stop" in decision.reply
    story.stops()
    story.ends("dev:a")
    assert not story.undoes("dev:a").refused
    assert story.task() is TaskState.STOPPED


def test_a_branch_that_moved_on_meanwhile_is_refused() -> None:
    decision = complete("a").undoes("dev:a", "elsewhere", "back")
    assert decision.refused
    assert "the PM left it at c-a-1" in decision.reply


def test_undo_reaches_steps_whose_records_are_gone(monkeypatch) -> None:
    """Of old records only the runs are kept, by step: each can be undone, once, also after the state was read anew."""
    monkeypatch.setattr(fold, "OPERATIONS_KEPT", 1)
    story = complete("a", "b", "c")
    assert [each.run for each in story.state.operations] == list(applied_runs(story.state, "dev:c"))
    story.state = decoded_state(json.loads(dumped_state(story.state)))
    assert len(applied_runs(story.state, "dev:a")) == 1
    story.undoes("dev:a", story.state.tip, "back")
    assert story.step("dev:a").state is StepState.PENDING
    assert story.undoes("dev:a", story.state.tip, "back").refused
    assert len(applied_runs(story.state, "dev:b")) == 1


def test_what_a_consultation_did_is_undone_without_asking_it_again() -> None:
    """The PM agent handed in file operations with its decision. That consultation is over, and stays so."""
    story = Story(pm="command")
    story.starts()
    consulted = story.state.consultation.step
    applied(story, consulted)
    story.is_led(PMAction.ORDER, "explore")
    story.stops()
    for run in story.state.live_runs:
        story.ends(run=run)
    assert story.step(consulted).state is StepState.PASSED
    story.undoes(consulted, story.state.tip, "back")
    assert (story.state.tip, story.step(consulted).state) == ("back", StepState.PASSED)
    story.starts()
    assert story.state.consultation.step != consulted
