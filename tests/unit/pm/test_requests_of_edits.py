"""A task.md that is edited while its task runs, and agents that are asked for beside the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.model import facts as f
from orchestrator.model.config_changes import ConfigChange, digest
from orchestrator.model.handoff import Subtask
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.task import AgentOverrides, Brief, Phase, TaskState, WorkspaceKind
from tests.unit.pm.requesting import blocked, complete
from tests.unit.pm.story import MET, Story, plan_of

# An edited task.md --------------------------------------------------------------------------------


def test_an_edited_task_counts_from_the_next_order_on() -> None:
    story = Story()
    story.starts()
    story.feed(f.BriefChanged(story.at, replace(story.brief, goal="Make it faster")))
    story.does("explore")
    assert "Goal: Make it faster" in story.order_of("plan").context


def test_another_goal_is_planned_for_while_the_task_runs() -> None:
    """A goal that was edited while the developer was at work went on with the old plan, and nobody said so."""
    story = Story(limits=Limits(max_replans=1)).planned("a", Subtask("b", "Do b", needs=("a",)))
    story.comes_alive("dev:a")
    story.feed(f.BriefChanged(story.at, replace(story.brief, goal="Make it faster")))
    assert "counts from now on: its goal; what is still to be done is planned anew" in story.state.notices[-1]
    order = story.order_of("plan")
    assert "The goal in task.md has changed. Plan what is still to be done." in order.instructions
    assert "Goal: Make it faster" in order.context
    assert "Before, it was: Make it so" in order.context
    assert "Make it so" not in order.instructions
    story.does("plan", subtasks=plan_of("a", "c"))
    assert story.step("dev:b").replaced
    story.does("dev:a")
    said = "Work may have been begun for that. Judge it by the goal as it is now. Before, it was: Make it so"
    assert said in story.order_of("test:a").context
    asked = "Title: Make it faster (the goal was changed since the task began; before: Make it so)"
    assert outcome_of(story.state, None).asked == asked
    story.feed(
        f.BriefChanged(story.at, replace(story.brief, goal="Make it blue"))
    )  # agents can write task.md too
    assert "the plan stays as it is, as it was made anew as often as" in story.state.notices[-1]
    assert story.step("plan").state is StepState.PASSED


def test_changed_criteria_are_judged_again() -> None:
    story = Story().planned()
    run = story.comes_alive("accept")
    story.reports("accept", criteria=MET)
    story.feed(f.BriefChanged(story.at, replace(story.brief, criteria=(*story.brief.criteria, "It is fast"))))
    story.ends(run=run)
    assert story.works_on() == {"accept"}
    assert "It is fast" in story.order_of("accept").criteria


def test_the_agent_config_of_a_running_task_is_frozen() -> None:
    story = Story()
    story.starts()
    edited = replace(story.brief, config=replace(story.brief.config, workspace=WorkspaceKind.SHARED))
    story.feed(f.BriefChanged(story.at, edited))
    assert story.state.brief.config.workspace is WorkspaceKind.WORKTREE


def configured(story: Story, **written: str) -> Brief:
    """Return the story's brief with an Agent Config in which these keys stand; `_` is the dot of a key."""
    keys = {key.replace("_", "."): value for key, value in written.items()}
    check = tuple(keys.get("test.check", "").split())
    agents = {"test": AgentOverrides(check=check)} if check else {}
    config = replace(story.brief.config, agents=agents, written=keys)
    return replace(story.brief, config=config)


def running_with(**written: str) -> Story:
    """A task at work that was started with this Agent Config."""
    story = Story()
    story.starts(brief=configured(story, **written))
    return story


def test_edited_config_is_noticed_and_applies_at_start() -> None:
    story = running_with(test_check="make test")
    story.feed(f.BriefChanged(story.at, configured(story, test_check="make quick")))
    assert story.state.edited == (ConfigChange("test.check", "make test", "make quick"),)
    assert "start it again" in story.state.notices[-1]
    story.feed(f.BriefChanged(story.at, configured(story, test_check="make quick")))
    assert story.last.empty
    story.feed(f.BriefChanged(story.at, configured(story, test_check="make test")))
    assert not story.state.edited


@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "at-work"])
def test_another_config_is_shown_and_taken_only_when_confirmed(*, stopped: bool) -> None:
    story = running_with(test_check="make test")
    if stopped:
        story.stops()
    edited = configured(story, test_check="sh -c evil")
    before = story.state
    said = story.starts(brief=edited)
    assert said.refused
    assert "test.check: make test -> sh -c evil" in said.reply
    assert story.state == before
    assert story.starts(brief=edited, confirmed="another").refused
    agreed = story.starts(brief=edited, confirmed=said.confirm)
    assert not agreed.refused
    assert story.state.brief.config.agents["test"].check == ("sh", "-c", "evil")
    assert story.state.edited == ()


def test_a_confirmation_holds_for_no_other_config() -> None:
    story = running_with(test_check="make test")
    story.stops()
    said = story.starts(brief=configured(story, test_check="make quick"))
    assert story.starts(brief=configured(story, test_check="rm -rf ."), confirmed=said.confirm).refused
    assert story.task() is TaskState.STOPPED


def test_a_config_that_lays_out_the_steps_wants_a_stop_first() -> None:
    story = running_with(rejections="ask")
    edited = configured(story, rejections="ask", workspace="shared")
    confirm = digest(edited.config)
    said = story.starts(brief=edited, confirmed=confirm)
    assert said.refused
    assert "`task stop demo-1`" in said.reply
    story.stops()
    assert not story.starts(brief=edited, confirmed=confirm).refused


def test_respelled_config_in_an_old_journal_is_no_change() -> None:
    story = Story()
    story.starts(brief=replace(story.brief, config=replace(story.brief.config, runtime="claude")))
    story.stops()
    assert not story.starts(brief=configured(story, runtime="claude")).refused


# Spawn --------------------------------------------------------------------------------------------


def test_a_spawned_agent_works_beside_the_plan() -> None:
    story = Story()
    story.starts()
    assert story.spawns("dev", "Mend the gate").reply.startswith("dev is to work on step dev-1;")
    assert story.works_on() == {"explore", "dev-1"}
    assert "Mend the gate" in story.order_of("dev-1").instructions


def test_the_last_review_waits_for_what_was_spawned_before_it() -> None:
    story = Story(limits=Limits(max_concurrent_runs=1)).planned("a")
    story.spawns("dev")
    story.finishes("a")
    assert story.works_on() == {"dev-2"}
    story.finishes_order("dev-2")
    assert story.works_on() == {"accept"}


def test_a_complete_task_takes_an_order_and_is_complete_again() -> None:
    story = complete()
    story.spawns("explore")
    assert story.task() is TaskState.RUNNING
    story.does("explore-2")
    assert (story.state.state, story.state.phase) == (TaskState.COMPLETE, Phase.COMPLETE)


def test_a_start_of_a_task_that_waits_names_the_question() -> None:
    """ "demo runs already" was said of a task that stood still until somebody answered."""
    story = blocked()
    assert story.starts().reply.startswith("demo waits for an answer to q1")


def test_a_stopped_task_takes_no_order() -> None:
    story = Story()
    story.starts()
    story.stops()
    decision = story.spawns("dev")
    assert decision.refused
    assert "start it again first" in decision.reply
    assert (
        "the order for dev was not taken: demo is stopped" in story.state.notices[-1]
    )  # nobody may read the reply


def test_a_spawned_tree_never_bears_the_name_of_a_subtask() -> None:
    story = Story().planned("dev-2")
    story.spawns("dev")
    trees = [step.workspace for step in story.state.steps.values() if step.workspace.startswith("dev-")]
    assert trees.count("dev-2") == 3  # the subtask's own three steps
    assert "dev-3" in story.state.steps
