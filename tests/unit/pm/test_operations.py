"""Agents of `hands: operations`: what follows when their operations were carried out, refused, or wait (F2, F5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model import facts as f
from orchestrator.model.file_operations import OperationDone, OperationKind, OperationsRecord
from orchestrator.model.hands import Hands
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Run
from orchestrator.model.task import Unanswered
from orchestrator.pm.policies.operations import confirmed_record
from tests.unit.pm.story import Story

DONE = (OperationDone(OperationKind.CREATE, "/tree/a.py", "what the goal asks for", 12),)
FAULTS = ("Operation 0: Missing description", "Operation 2: Invalid operation 'move'")
DELETES = (("/tree/old.py", "import os\nimport sys"),)


def at_work(limits: Limits | None = None, **config: Any) -> Story:
    """A story whose developer writes text, and is at work."""
    story = Story(limits=limits, **config)
    story.agents["dev"] = replace(story.agents["dev"], hands=Hands.OPERATIONS)
    story.planned("a")
    return story


def settles(story: Story, **became: Any) -> Run:
    """The developer's process has ended, and this became of its operations; return its run."""
    run = story.comes_alive("dev:a")
    record = OperationsRecord(story.at, run.id, "dev", "Do a", 3, **became)
    story.feed(f.OperationsSettled(story.at, story.nonce(), run.id, record))
    return run


def refused(story: Story) -> None:
    run = settles(story, faults=FAULTS)
    story.ends(run=run)


def test_carried_out_it_waits_for_the_handoff_that_follows() -> None:
    story = at_work()
    run = settles(story, done=DONE)
    assert story.step("dev:a").state is StepState.WORKING
    assert [each.run for each in story.state.operations] == [run.id]
    story.reports("dev:a", run=run)
    story.ends(run=run)
    assert story.step("dev:a").state is StepState.PASSED


def test_faults_go_back_with_their_indices_three_times() -> None:
    """The bound is of its own: a handoff that is missing is asked for all the same."""
    story = at_work()
    for _ in range(2):
        refused(story)
        order = story.order_of("dev:a").instructions
        assert "- Operation 0: Missing description\n- Operation 2: Invalid operation 'move'" in order
        assert "Nothing of it was carried out. Please correct and resubmit" in order
    refused(story)
    assert story.step("dev:a").state is StepState.BLOCKED
    assert "3 times, and none could be carried out" in story.question().text
    assert "Operation 2: Invalid operation" in story.question().text


def test_after_the_answer_the_tries_are_counted_anew() -> None:
    story = at_work(Limits(max_operation_tries=1))
    refused(story)
    story.answers(story.question().id, "use full content")
    assert "use full content" in story.order_of("dev:a").instructions


def test_what_was_rolled_back_is_said() -> None:
    story = at_work()
    settles(story, faults=("Operation 1: was changed by somebody else",), rolled_back=True)
    assert "What had been carried out was rolled back." in story.step("dev:a").feedback[-1]


def test_deletes_are_a_question_with_the_first_lines() -> None:
    story = at_work()
    run = settles(story, unconfirmed=DELETES)
    story.ends(run=run)
    question = story.question()
    assert question.kind is QuestionKind.DELETES
    assert "wants to delete 1 file" in question.text
    assert "- /tree/old.py\n    import os\n    import sys" in question.text
    assert story.step("dev:a").state is StepState.BLOCKED


def test_confirmed_deletes_are_handed_in_again_by_the_next_run() -> None:
    """The next run of the step hands in the same text, and only that one: what comes of it ends the confirmation."""
    story = at_work()
    first = settles(story, unconfirmed=DELETES)
    story.ends(run=first)
    story.answers(story.question().id, "approve")
    second = story.run_of("dev:a")
    record = confirmed_record(story.state, second)
    assert record is not None
    assert record.run == first.id
    refused(story)
    assert confirmed_record(story.state, story.run_of("dev:a")) is None


@pytest.mark.parametrize("answer", ["reject", "keep that file"])
def test_deletes_that_are_not_confirmed_go_back(answer: str) -> None:
    story = at_work()
    story.ends(run=settles(story, unconfirmed=DELETES))
    story.answers(story.question().id, answer)
    assert confirmed_record(story.state, story.run_of("dev:a")) is None
    order = story.order_of("dev:a").instructions
    assert "The deletes are not confirmed" in order
    assert ("keep that file" in order) is (answer != "reject")


def test_task_md_may_confirm_deletes_when_nobody_answers() -> None:
    story = at_work(unanswered=Unanswered("approve", 600))
    story.ends(run=settles(story, unconfirmed=DELETES))
    story.passes(601)
    assert confirmed_record(story.state, story.run_of("dev:a")) is not None


def test_the_same_fact_twice_changes_nothing() -> None:
    story = at_work()
    run = settles(story, done=DONE)
    again = f.OperationsSettled(story.at + 1, story.nonce(), run.id, story.state.operations[0])
    assert story.feed(again).empty


def test_after_the_step_was_given_up_it_is_recorded_alone() -> None:
    story = at_work()
    run = story.comes_alive("dev:a")
    story.stops()
    record = OperationsRecord(story.at, run.id, "dev", "Do a", 1, faults=FAULTS)
    story.feed(f.OperationsSettled(story.at, story.nonce(), run.id, record))
    assert not story.state.open_questions
    assert story.state.operations == (record,)
