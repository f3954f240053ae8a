"""The task's folder in its project is taken away: one question about the whole task, and nothing new meanwhile."""

from __future__ import annotations

import pytest

from orchestrator.model.facts import FolderBack, FolderLost
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, WITHDRAWN
from tests.unit.pm.story import Story


def loses(story: Story, why: str = "is gone") -> None:
    story.feed(FolderLost(story.at, story.nonce(), "/project/tasks/demo", why, "/pm/tasks/demo-1/reports"))


@pytest.fixture
def story() -> Story:
    return Story().planned("a")


def test_it_is_asked_once_and_names_folder_and_cause(story: Story) -> None:
    loses(story)
    loses(story)
    question = story.question()
    assert (question.kind, question.step, question.options) == (QuestionKind.FOLDER, "", (CONTINUE, ABANDON))
    for reported in ("/project/tasks/demo is gone", "/pm/tasks/demo-1/reports"):
        assert reported in question.text


def test_nothing_new_starts_before_it_is_back(story: Story) -> None:
    loses(story)
    story.does("dev:a")
    assert not story.state.live_runs
    assert story.task() is TaskState.WAITING
    story.feed(FolderBack(story.at, story.nonce()))
    assert story.state.questions["q1"].answer == WITHDRAWN
    assert story.works_on() == {"test:a"}


def test_who_is_content_without_it_goes_on(story: Story) -> None:
    loses(story)
    story.does("dev:a")
    story.answers("q1", CONTINUE)
    assert story.works_on() == {"test:a"}


def test_repair_of_the_folder_is_noticed_not_asked(story: Story) -> None:
    story.feed(
        FolderBack(story.at, story.nonce(), "handoffs was no folder: it is kept as handoffs.set-aside-1")
    )
    assert not story.state.open_questions
    assert any("set-aside-1" in notice for notice in story.state.notices)


def test_abandoning_the_task_leaves_no_other_question_open() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key for the API")
    blocked = story.question()
    loses(story)
    lost = next(each for each in story.state.open_questions if each.kind is QuestionKind.FOLDER)
    story.answers(lost.id, ABANDON)
    assert story.task() is TaskState.FAILED
    assert story.state.questions[blocked.id].answer == WITHDRAWN


def test_of_a_task_that_was_stopped_nobody_is_asked(story: Story) -> None:
    story.stops()
    loses(story)
    assert not story.state.open_questions
