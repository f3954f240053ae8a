"""What a task ends as, and the counts that every page shows (U11)."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.model.handoff import ReportStatus, Subtask
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit
from orchestrator.model.task import AfterRejections, Phase, TaskState
from orchestrator.pm.state.results import counts, not_done
from tests.unit.pm.story import MET, Story, plan_of


def test_complete_means_every_step_passed() -> None:
    story = Story().planned("a")
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    assert story.phase() is Phase.COMPLETE
    shown = counts(story.state)
    assert (shown.passed, shown.set_aside, shown.open, shown.total) == (6, 0, 0, 6)
    assert (shown.met, shown.criteria) == (2, 2)


def test_a_subtask_set_aside_makes_it_partial() -> None:
    """The reviewer ticked every box; what was set aside is not done all the same, and is named."""
    story = Story(limits=Limits(max_rejections=1), after_rejections=AfterRejections.SET_ASIDE).planned(
        "a", "b"
    )
    story.does("dev:a")
    story.rejects("test:a")
    story.finishes("b")
    assert "Given up: Do a" in story.order_of("accept").context
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert story.phase() is Phase.BLOCKED
    assert "1 subtask set aside: Do a" in story.state.why
    shown = counts(story.state)
    assert (shown.passed, shown.set_aside, shown.open, shown.total) == (6, 3, 0, 9)
    assert [title for title, _ in not_done(story.state)] == ["Do a"]


def test_what_depends_on_a_set_aside_subtask_is_not_done() -> None:
    story = Story(limits=Limits(max_rejections=1), after_rejections=AfterRejections.SET_ASIDE)
    story.planned("a", Subtask("b", "Do b", needs=("a",)))
    story.does("dev:a")
    story.rejects("test:a")
    story.does("accept", criteria=MET)
    assert "2 subtasks set aside: Do a; Do b" in story.state.why


def test_a_subtask_that_was_planned_anew_is_not_missing() -> None:
    """Its goal is reached another way: it counts neither as done nor as set aside."""
    story = Story(limits=Limits(max_rejections=1)).planned("a", Subtask("b", "Do b", needs=("a",)))
    story.does("dev:a")
    story.rejects("test:a")
    story.does("plan", subtasks=plan_of("a2"))
    story.finishes("a2")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    shown = counts(story.state)
    assert (shown.passed, shown.set_aside, shown.total) == (6, 0, 6)


def test_nothing_delivered_is_failed() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    story.answers("q1", "set-aside")
    story.comes_alive("accept")
    story.ends("accept", Exit(code=1))
    for _ in range(story.limits.max_crashes):
        story.passes(600)
        story.ends("accept", Exit(code=1))
    story.answers("q2", "set-aside")
    assert story.task() is TaskState.FAILED
    assert "2 of 2 success criteria not judged" in story.state.why


def test_a_partial_task_goes_on_when_it_is_started() -> None:
    story = Story(limits=Limits(max_rejections=1), after_rejections=AfterRejections.SET_ASIDE).planned(
        "a", "b"
    )
    story.does("dev:a")
    story.rejects("test:a")
    story.finishes("b")
    story.does("accept", criteria=MET)
    story.starts()
    assert story.task() is TaskState.RUNNING
    assert story.works_on() == {"dev:a"}


def test_a_plan_without_work_is_no_complete_task() -> None:
    """Nothing was changed, though every box is ticked: that is said, and the task is not called complete."""
    story = Story().planned()
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert story.state.why == "nothing was changed"
    assert "nothing left to try" in story.starts().reply


def test_work_that_was_rejected_is_not_called_no_change() -> None:
    story = Story(limits=Limits(max_rejections=1), after_rejections=AfterRejections.SET_ASIDE).planned("a")
    story.does("dev:a")
    assert story.step("dev:a").commit
    story.rejects("test:a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert "nothing was changed" not in story.state.why
    assert "accepted" in story.state.why


def test_work_that_was_rejected_for_good_is_no_lack_of_work() -> None:
    """Nine commits were rejected, then set aside by the user: "nothing was changed"."""
    story = Story(limits=Limits(max_rejections=1, max_replans=0)).planned("a")
    story.does("dev:a")
    story.rejects("test:a")
    story.answers(story.question().id, "set-aside")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert "nothing that was changed was accepted" in story.state.why


def test_subtasks_and_steps_that_were_set_aside_are_counted_apart() -> None:
    """ "2 steps set aside" stood in one sentence with "4 set aside": a subtask is three steps."""
    limits = Limits(max_rejections=1, max_replans=0)
    story = Story(limits=limits, after_rejections=AfterRejections.SET_ASIDE).planned("a")
    story.does("dev:a")
    story.rejects("test:a")
    story.does("accept", criteria=tuple(replace(mark, met=False, reason="it is not") for mark in MET))
    assert "1 subtask and 1 step set aside: Do a; Success criteria" in story.state.why
    assert counts(story.state).set_aside == 4
