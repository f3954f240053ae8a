"""The course of a task: explore, plan, then develop, test and review each subtask (H4, H9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.handoff import CriterionMark, ReportStatus, Subtask
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit, Purpose
from orchestrator.model.task import AfterRejections, Phase, TaskState, WorkspaceKind
from orchestrator.pm.state.order_names import order_name
from tests.unit.pm.story import CRITERIA, MET, ONE_AT_A_TIME, Story


def test_a_task_goes_from_explore_to_complete() -> None:
    story = Story(limits=ONE_AT_A_TIME)
    course: list[tuple[set[str], Phase]] = []
    for step in ("explore", "plan"):
        if not course:
            story.starts()
        course.append((story.works_on(), story.state.phase))
        story.does(step, subtasks=(Subtask("a", "Do a"), Subtask("b", "Do b")))
    for step in ("dev:a", "test:a", "review:a", "dev:b", "test:b", "review:b"):
        course.append((story.works_on(), story.state.phase))
        (story.does if step.startswith("dev") else story.approves)(step)
    course.append((story.works_on(), story.state.phase))
    story.does("accept", criteria=MET)
    assert course == [
        ({"explore"}, Phase.EXPLORING),
        ({"plan"}, Phase.PLANNING),
        ({"dev:a"}, Phase.DEVELOPING),
        ({"test:a"}, Phase.TESTING),
        ({"review:a"}, Phase.REVIEWING),
        ({"dev:b"}, Phase.DEVELOPING),
        ({"test:b"}, Phase.TESTING),
        ({"review:b"}, Phase.REVIEWING),
        ({"accept"}, Phase.REVIEWING),
    ]
    assert (story.state.state, story.state.phase) == (TaskState.COMPLETE, Phase.COMPLETE)
    assert story.state.outbox == {}


def test_an_architect_is_asked_only_where_the_task_says_so() -> None:
    story = Story(architect=True)
    story.starts()
    story.does("explore")
    assert story.works_on() == {"architect"}
    story.does("architect")
    assert story.works_on() == {"plan"}


def test_subtasks_go_one_after_another_and_after_what_they_need() -> None:
    story = Story().planned(Subtask("a", "first", needs=("b",)), "b")
    assert story.works_on() == {"dev:b"}
    story.finishes("b")
    assert story.works_on() == {"dev:a"}


def test_empty_plan_goes_straight_to_the_acceptance() -> None:
    story = Story().planned()
    assert story.works_on() == {"accept"}
    assert story.phase() is Phase.REVIEWING


def test_order_has_the_goal_and_existing_artifacts() -> None:
    story = Story().planned("a")
    story.does("dev:a", artifacts=("artifacts/code/notes.md",))
    order = story.order_of("test:a")
    assert "Goal: Make it so" in order.context
    assert "dev:a: handoffs/dev-" in order.context
    assert "artifacts/code/notes.md" in order.context


def test_order_of_dev_names_the_plan() -> None:
    story = Story().planned("a")
    assert "plan: handoffs/plan-" in story.order_of("dev:a").context


def test_orders_of_one_second_have_names_of_their_own() -> None:
    story = Story(limits=Limits(max_concurrent_runs=3))
    story.starts()
    story.spawns("dev")
    assert len({order.name for order in story.state.orders.values()}) == 2
    assert {order.at for order in story.state.orders.values()} == {float(int(story.at))}, (
        "none is from the future"
    )


def test_an_order_passes_over_a_name_that_a_stranger_took() -> None:
    story = Story(limits=Limits(retry_pause=60))
    story.starts()
    story.ends("explore", Exit(code=1))
    stranger = order_name(int(story.step("explore").not_before), 0)
    story.feed(f.Intruded(story.at, stranger, "hash", "only the PM writes pm-….md"))
    story.passes(60)
    assert story.run_of("explore").order == order_name(int(story.at) + 1, 0)


def test_no_more_runs_than_may_be_live_at_once() -> None:
    story = Story(limits=Limits(max_concurrent_runs=2))
    story.starts()
    story.spawns("dev")
    story.spawns("dev")
    assert story.works_on() == {"explore", "dev-1"}
    story.comes_alive("dev-1")
    story.reports("dev-1")
    assert story.works_on() == {"explore", "dev-1"}
    story.ends("dev-1")
    assert len(story.works_on() - {"explore"}) == 1


def test_two_instances_of_one_agent_have_names_of_their_own() -> None:
    story = Story()
    story.starts()
    story.spawns("dev")
    story.spawns("dev")
    assert {run.instance for run in story.state.live_runs} == {"explore", "dev", "dev-2"}


def test_steps_of_one_tree_wait_for_each_other() -> None:
    story = Story(workspace=WorkspaceKind.SHARED)
    story.starts()
    story.spawns("dev")
    assert story.works_on() == {"explore"}


def test_a_run_that_has_reported_may_linger_and_is_then_ended() -> None:
    story = Story(limits=Limits(exit_timeout=20))
    story.starts()
    run = story.comes_alive("explore")
    story.reports("explore", run=run)
    story.passes(19)
    assert story.state.runs[run.id].ending is Ending.NOT
    story.passes(2)
    assert story.state.runs[run.id].ending is Ending.DONE
    assert story.step("plan").state is StepState.PENDING  # it shares the tree with the one that lingers
    story.ends(run=run)
    assert story.step("plan").state is StepState.WORKING


def test_a_task_is_complete_only_when_nobody_is_left() -> None:
    story = Story().planned("a")
    story.finishes("a")
    run = story.comes_alive("accept")
    story.reports("accept", criteria=MET)
    assert story.task() is TaskState.RUNNING
    story.ends(run=run)
    assert story.task() is TaskState.COMPLETE


@pytest.mark.parametrize("met", [(), (CriterionMark(CRITERIA[0], met=False),)])
def test_no_criterion_goes_unmarked(met: tuple[CriterionMark, ...]) -> None:
    story = Story().planned()
    story.does("accept", criteria=(*met, *MET[1:]))
    assert story.task() is not TaskState.COMPLETE


def test_criterion_without_evidence_is_asked_once_more() -> None:
    """After that it counts as not met."""
    story = Story(after_rejections=AfterRejections.ASK).planned()
    bare = (CriterionMark(CRITERIA[0], met=True), MET[1])
    story.does("accept", criteria=bare)
    assert "without `(evidence: …)`" in story.order_of("accept").instructions
    story.does("accept", criteria=bare)
    assert story.step("accept").state is StepState.BLOCKED
    assert [mark.met for mark in story.state.criteria] == [False, True]


def test_an_unmet_criterion_is_for_a_person_to_decide() -> None:
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    story.finishes("a")
    story.does("accept", criteria=(MET[0], CriterionMark(CRITERIA[1], met=False, reason="no README")))
    assert story.task() is TaskState.WAITING
    assert story.phase() is Phase.BLOCKED
    assert "no README" in story.question().text
    story.answers("q1", "accept")
    assert story.task() is TaskState.COMPLETE
    assert story.state.criteria[1].evidence == ("accepted by the user in answer to q1",)


def test_criteria_are_compared_as_a_person_would() -> None:
    story = Story().planned("a")
    story.finishes("a")
    said = tuple(CriterionMark(f"  {text.upper()}.", met=True, evidence=("x.py",)) for text in CRITERIA)
    story.does("accept", criteria=said)
    assert story.task() is TaskState.COMPLETE


def test_work_in_progress_is_a_sign_of_life_and_nothing_more() -> None:
    story = Story()
    story.starts()
    run = story.comes_alive("explore")
    story.at += 500
    story.reports("explore", ReportStatus.IN_PROGRESS)
    assert story.state.runs[run.id].progress_at == story.at
    assert story.order_of("explore").name == run.order


def test_runs_without_a_place_on_their_host_are_not_opened() -> None:
    """They would only wait, and each would take one of the places that the task has for runs."""
    story = Story(limits=Limits(max_concurrent_runs=4, max_local_runs=2)).planned("a", "b", "c")
    assert {run.step for run in story.state.live_runs} == {"dev:a", "dev:b"}
    story.does("dev:a")
    assert len(story.state.live_runs) == 2


def test_full_cli_leaves_the_places_of_a_task_to_others() -> None:
    """Two developers wait for the account of Claude Code, and the tester of another CLI has a place at once."""
    story = Story(limits=Limits(max_concurrent_runs=2, max_runs_per_cli=1))
    story.agents["dev"] = replace(story.agents["dev"], runtime="claude", command=())
    story.agents["test"] = replace(story.agents["test"], runtime="codex", command=())
    story.planned("a", "b", "c")
    assert {run.step for run in story.state.live_runs} == {"dev:a"}
    story.does("dev:a")
    assert {run.step for run in story.state.live_runs} == {"test:a", "dev:b"}


def test_check_needs_no_place_with_a_cli() -> None:
    story = Story(checks=("test",), limits=Limits(max_concurrent_runs=2, max_runs_per_cli=1))
    for name in ("dev", "test"):
        story.agents[name] = replace(story.agents[name], runtime="claude", command=())
    story.planned("a", "b")
    story.does("dev:a")
    assert {run.step: run.purpose for run in story.state.live_runs} == {
        "test:a": Purpose.CHECK,
        "dev:b": Purpose.WORK,
    }


def test_since_when_a_task_is_as_it_is_is_known() -> None:
    story = Story()
    story.starts()
    began = story.state.moved_at
    story.at += 60
    story.stops()
    assert (began > 0, story.state.moved_at) == (True, story.at)
