"""What the user asks for: start, stop, answer, spawn, an edited task.md; and a damaged journal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.handoff import CriterionMark, ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit
from orchestrator.model.task import AfterRejections, TaskState, WorkspaceKind
from tests.unit.pm.requesting import blocked, complete
from tests.unit.pm.story import MET, Story, plan_of

# Start --------------------------------------------------------------------------------------------


def test_plan_family_cannot_change_once_begun() -> None:
    story = Story()
    story.starts()
    before, was = story.state, story.brief
    story.starts(brief=replace(was, config=replace(was.config, family="research")))
    assert story.last.refused
    assert f"was begun with the plan family {was.config.family}, and keeps it" in story.last.reply
    assert (story.state.brief, story.state.steps) == (before.brief, before.steps)


def test_what_lay_there_before_the_first_start_is_history() -> None:
    story = Story()
    story.feed(
        f.TaskStarted(
            story.at,
            "n",
            "r",
            "demo-1",
            "demo",
            "/p",
            story.brief,
            story.agents,
            "",
            {"explore-1.md": "hash"},
        )
    )
    assert "they are history" in story.state.notices[-1]
    story.feed(f.ReportLanded(story.at, "n2", "explore-1.md", "hash", "explore"))
    assert story.last.empty


def test_request_is_handled_once() -> None:
    story = Story()
    story.starts("once")
    before = story.state
    assert story.starts("once").reply == "this request was handled before"
    assert story.state == before


def test_a_task_that_runs_is_not_started_again() -> None:
    story = Story()
    story.starts()
    run = story.run_of("explore")
    assert story.starts().reply == "demo runs already"
    assert story.run_of("explore") == run


def test_a_complete_task_is_not_started_again_for_nothing() -> None:
    story = complete()
    assert "is complete already" in story.starts().reply
    assert story.task() is TaskState.COMPLETE


def test_new_goal_replans_and_keeps_finished_work() -> None:
    story = complete()
    story.at += 1000
    story.starts(brief=replace(story.brief, goal="Make it faster"))
    assert story.works_on() == {"plan"}
    assert "have changed" in story.order_of("plan").instructions
    story.does("plan", subtasks=plan_of("a", "b"))
    assert story.works_on() == {"dev:b"}
    story.finishes("b")
    assert story.works_on() == {"accept"}
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    assert story.step("dev:a").attempt == 1


def test_an_edit_of_a_complete_task_is_seen_at_its_next_start() -> None:
    story = complete()
    edited = replace(story.brief, goal="Make it faster")
    story.feed(f.BriefChanged(story.at, edited))
    assert story.last.empty
    story.starts(brief=edited)
    assert story.works_on() == {"plan"}


def test_what_was_planned_anew_is_not_tried_again() -> None:
    """A start of a task that ended in part tried subtasks again whose goal had been reached in another way."""
    limits = Limits(max_rejections=1, max_replans=1)
    story = Story(limits=limits, after_rejections=AfterRejections.REPLAN).planned("a")
    story.does("dev:a")
    story.rejects("test:a")
    story.does("plan", subtasks=plan_of("a2", "b"))
    story.finishes("a2")
    story.does("dev:b")
    story.rejects("test:b")
    story.answers(story.question().id, "set-aside")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    story.starts()
    assert story.works_on() == {"dev:b"}
    assert story.step("dev:a").state is StepState.SET_ASIDE


def test_a_task_begun_in_the_users_tree_can_go_on_in_worktrees() -> None:
    story = Story(workspace=WorkspaceKind.SHARED)
    story.feed(f.TaskStarted(story.at, "n", "r", "demo-1", "demo", "/p", story.brief, story.agents, base=""))
    story.stops()
    story.starts(
        brief=replace(story.brief, config=replace(story.brief.config, workspace=WorkspaceKind.WORKTREE))
    )
    assert story.state.base == "base"


# Stop ---------------------------------------------------------------------------------------------


def test_stop_ends_the_agents_and_start_goes_on_where_it_was() -> None:
    story = Story().planned("a")
    run = story.comes_alive("dev:a")
    assert story.stops().reply == "demo is stopped; ending dev"
    assert story.task() is TaskState.STOPPED
    assert story.state.runs[run.id].ending is Ending.STOPPED
    story.ends(run=run, how=Exit(signal=15))
    assert story.works_on() == set()
    story.starts()
    assert story.works_on() == {"dev:a"}
    assert story.step("dev:a").tally.crashes == 0


def test_stopped_task_may_restart_before_its_agents_end() -> None:
    story = Story()
    story.starts()
    run = story.comes_alive("explore")
    story.stops()
    story.starts()
    assert story.works_on() == {"explore"}
    story.ends(run=run, how=Exit(signal=15))
    assert story.run_of("explore").id != run.id


def test_stop_again_says_so() -> None:
    story = Story()
    story.starts()
    story.stops()
    assert story.stops().reply == "demo is stopped already"


def test_a_check_that_ends_while_stopping_opens_no_agent() -> None:
    story = Story(checks=("explore",))
    story.starts()
    run = story.comes_alive("explore")
    story.stops()
    story.ends(run=run, how=Exit(code=0))
    assert story.works_on() == set()


def test_what_failed_is_tried_again_at_the_next_start() -> None:
    story = Story(limits=Limits(max_crashes=0))
    story.starts()
    story.ends("explore", Exit(code=1))
    story.stops()
    story.starts()
    assert story.works_on() == {"explore"}
    assert story.state.open_questions == []


def test_open_questions_survive_a_restart_of_the_task() -> None:
    story = blocked()
    story.stops()
    story.starts()
    assert story.question().id == "q1"
    assert story.task() is TaskState.WAITING


# Answers ------------------------------------------------------------------------------------------


def test_retry_begins_the_next_attempt_with_all_bounds_anew() -> None:
    story = blocked()
    assert story.answers("q1", "retry").reply == "q1 is answered"
    assert story.works_on() == {"explore"}
    assert story.step("explore").attempt == 2
    assert story.step("explore").tally.blocks == 0


def test_any_other_text_goes_to_the_step_that_asked() -> None:
    story = blocked()
    story.answers("q1", "The key is in the vault")
    assert "The user answered q1: The key is in the vault" in story.order_of("explore").instructions


def test_set_aside_includes_dependants() -> None:
    """The task is not claimed to be complete."""
    story = blocked()
    story.answers("q1", "set-aside")
    assert set(story.states().values()) == {StepState.SET_ASIDE}
    assert story.task() is TaskState.FAILED
    assert "All tests pass" in story.state.why
    story.starts()
    assert story.works_on() == {"explore"}


def test_set_aside_of_a_subtask_lets_the_rest_go_on() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    story.answers("q1", "set-aside")
    story.stands(dev="set_aside", test="set_aside", review="set_aside")
    assert story.works_on() == {"dev:b"}


def test_abandon_ends_everything_and_withdraws_every_question() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    run = story.comes_alive("dev:b")
    story.answers("q1", "abandon")
    assert story.task() is TaskState.FAILED
    assert story.state.open_questions == []
    assert story.state.runs[run.id].ending is Ending.STOPPED
    story.ends(run=run, how=Exit(signal=15))
    assert story.works_on() == set()
    story.starts()
    assert story.works_on() == {"dev:a", "dev:b"}


def test_a_stopped_task_can_be_abandoned() -> None:
    story = blocked()
    story.stops()
    story.answers("q1", "abandon")
    assert story.task() is TaskState.FAILED


@pytest.mark.parametrize(
    ("question", "reported"), [("q9", "has no question q9"), ("q1", "was answered already")]
)
def test_an_unknown_or_answered_question_is_refused(question: str, reported: str) -> None:
    story = blocked()
    story.answers("q1", "retry")
    before = story.state.steps
    decision = story.answers(question, "abandon")
    assert decision.refused
    assert reported in decision.reply
    assert story.state.steps == before


def test_accept_counts_only_where_it_was_offered() -> None:
    story = blocked()
    story.answers("q1", "accept")
    assert story.step("explore").state is StepState.WORKING


def test_a_question_that_no_longer_matters_is_withdrawn() -> None:
    story = Story().planned()
    story.does("accept", criteria=(MET[0], CriterionMark(MET[1].text, met=False)))
    story.stops()
    story.starts(brief=replace(story.brief, goal="Something else"))
    assert story.state.open_questions == []
    assert story.answers("q1", "accept").refused


# A damaged journal --------------------------------------------------------------------------------


def test_a_damaged_journal_holds_the_task_until_somebody_says_so() -> None:
    story = Story()
    story.starts()
    story.feed(f.JournalDamaged(story.at, "n", 7, "0000000001.jsonl.damaged-1"))
    assert "damaged after line 7" in story.question().text
    story.does("explore")
    assert story.works_on() == set()
    assert story.task() is TaskState.WAITING
    story.answers("q1", "continue")
    assert story.works_on() == {"plan"}


def test_damaged_journal_of_a_complete_task_only_asks() -> None:
    story = complete()
    story.feed(f.JournalDamaged(story.at, "n", 7, "where"))
    assert story.task() is TaskState.COMPLETE
    story.answers("q1", "abandon")
    assert story.task() is TaskState.COMPLETE
    assert story.state.open_questions == []


def test_step_done_after_being_set_aside_is_judged_too() -> None:
    """The criteria stayed met by what lay there ahead of it: the task was complete by a judgement of half of it."""
    story = Story(limits=Limits(max_rejections=1), after_rejections=AfterRejections.SET_ASIDE).planned(
        "a", "b"
    )
    story.does("dev:a")
    story.rejects("test:a", "it leaks")
    story.finishes("b")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert "(complete in part)" in story.starts().reply
    assert story.state.criteria == ()
    story.finishes("a")
    assert story.works_on() == {"accept"}
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
