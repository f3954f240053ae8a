"""Agents on boxes: where they work, and what becomes of them while a box does not answer (H4, law 5)."""

from __future__ import annotations

import pytest

from orchestrator.model.host_names import HERE
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit, Life
from orchestrator.model.task import AgentOverrides, Bring, Location, TaskState, WorkspaceKind
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.asking import WITHDRAWN
from tests.unit.pm.story import Story, plan_of

BOX = "me@box"
THERE = Location("/repo", BOX)
HOUR = 3600.0


def at_work(**config: object) -> Story:
    """Return a story whose developer is at work on the box."""
    story = Story(**{"cwd": THERE, **config}).planned("a")  # type: ignore[arg-type]
    story.comes_alive("dev:a")
    return story


def test_a_box_of_the_task_is_that_of_dev_and_architect_alone() -> None:
    story = Story(cwd=THERE, architect=True)
    story.starts()
    hosts = {"explore": story.run_of("explore").host}
    story.does("explore")
    hosts["architect"] = story.run_of("architect").host
    story.does("architect")
    hosts["plan"] = story.run_of("plan").host
    assert hosts == {"explore": HERE, "architect": BOX, "plan": HERE}


def test_agents_may_each_have_a_box_or_stay_here() -> None:
    """An agent may have a box of its own, and one between others may stay on this machine."""
    other = Location("/elsewhere", "other")
    overrides = {"dev": AgentOverrides(cwd=Location("/here")), "architect": AgentOverrides(cwd=other)}
    story = Story(cwd=THERE, architect=True, agents=overrides)
    story.starts()
    story.does("explore")
    assert story.run_of("architect").host == "other"
    story.does("architect")
    story.does("plan", subtasks=plan_of("a"))
    dev = story.step("dev:a")
    assert story.run_of("dev:a").host == HERE
    assert (dev.kind, dev.workspace) == (WorkspaceKind.SHARED, "")


def test_code_that_stays_on_a_box_is_judged_by_its_report() -> None:
    """It is neither committed nor merged here."""
    story = at_work()
    dev, test, review = (story.step(f"{each}:a") for each in ("dev", "test", "review"))
    assert (dev.kind, dev.workspace) == (WorkspaceKind.SHARED, "")
    assert test.kind is review.kind is WorkspaceKind.READ_ONLY
    assert not {Gate.COMMIT, Gate.MERGED} & {*dev.gates, *test.gates, *review.gates}


def test_fetched_commits_are_judged_in_the_tasks_tree() -> None:
    """They are merged afterwards."""
    story = at_work(bring=Bring.BRANCH)
    dev, test, review = (story.step(f"{each}:a") for each in ("dev", "test", "review"))
    assert dev.gates == (Gate.COMMIT,)
    assert dev.kind is test.kind is review.kind is WorkspaceKind.WORKTREE
    assert dev.workspace == test.workspace == review.workspace == "a"
    assert Gate.MERGED in review.gates


def test_agent_on_a_lost_box_is_unreachable() -> None:
    """Nothing is due of it meanwhile."""
    story = at_work(limits=Limits(inactivity_timeout=60, unreachable_timeout=4 * HOUR))
    story.loses(BOX, f"{BOX} is unreachable (no route)")
    run = story.run_of("dev:a")
    assert (run.life, run.evidence) == (Life.UNREACHABLE, f"{BOX} is unreachable (no route)")
    story.passes(3 * HOUR)
    run = story.run_of("dev:a")
    assert (run.life, run.ending, run.looks) == (Life.UNREACHABLE, Ending.NOT, 0)
    assert not story.state.open_questions


def test_agents_here_and_on_another_box_are_not_touched() -> None:
    story = at_work()
    before = story.state
    story.loses("me@other")
    assert story.state is before


def test_when_it_answers_again_the_agent_has_as_long_as_at_first() -> None:
    story = at_work(limits=Limits(inactivity_timeout=60))
    story.at += 50
    story.loses(BOX)
    story.at += 2 * HOUR
    story.finds(BOX)
    assert story.run_of("dev:a").life is Life.ALIVE
    assert (wake_at(story.state, story.limits) or 0) == story.at + 60


def test_its_time_of_life_goes_on_while_nobody_sees_it() -> None:
    story = at_work()
    story.at += 50
    story.loses(BOX)
    story.at += 100
    story.finds(BOX)
    story.at += 7
    run = story.run_of("dev:a")
    story.ends(run=run)
    assert story.state.runs[run.id].lasted == 157


def test_launch_on_a_lost_box_waits_until_it_is_back() -> None:
    story = Story(cwd=THERE).planned("a")
    story.loses(BOX)
    assert story.run_of("dev:a").life is Life.UNREACHABLE
    story.finds(BOX)
    assert story.run_of("dev:a").life is Life.STARTING
    assert story.comes_alive("dev:a").life is Life.ALIVE


def test_its_last_words_and_its_end_count_when_they_are_known() -> None:
    story = at_work()
    run = story.run_of("dev:a")
    story.loses(BOX)
    story.reports("dev:a")
    assert story.state.runs[run.id].life is Life.UNREACHABLE
    story.finds(BOX)
    story.ends("dev:a")
    story.stands(dev="passed", test="working", review="pending")
    assert story.state.runs[run.id].life is Life.GONE
    assert not story.state.open_questions


def test_a_box_that_refuses_is_one_question_whatever_lives_there() -> None:
    story = at_work(bring=Bring.BRANCH)
    story.spawns("dev")
    there = [run for run in story.state.live_runs if run.host == BOX]
    story.loses(BOX, f"{BOX} is refused: another key", refused=True)
    story.loses(BOX, f"{BOX} is refused: another key", refused=True)
    question = story.question()
    assert len(there) == 2
    assert (question.kind, question.run) == (QuestionKind.BOX, there[0].id)
    assert "another key" in question.text


def test_lost_box_that_then_refuses_is_a_question() -> None:
    story = at_work(limits=Limits(unreachable_timeout=HOUR))
    story.loses(BOX, "no route")
    story.at += 60
    story.loses(BOX, "another key", refused=True)
    run = story.run_of("dev:a")
    assert (run.evidence, run.since) == ("another key", story.at - 60)
    assert story.question().text.startswith("another key")


def test_question_about_a_box_is_closed_when_it_answers() -> None:
    story = at_work()
    story.loses(BOX, refused=True)
    asked = story.question()
    story.finds(BOX)
    assert story.state.questions[asked.id].answer == WITHDRAWN
    assert story.run_of("dev:a").life is Life.ALIVE


def test_box_lost_for_an_hour_is_one_question() -> None:
    """Nothing is ended for it."""
    story = at_work(limits=Limits(unreachable_timeout=HOUR))
    story.loses(BOX)
    story.passes(HOUR)
    asked = story.question()
    story.passes(9 * HOUR)
    assert story.question() == asked
    assert story.run_of("dev:a").ending is Ending.NOT
    assert len([change for change in story.last.changes if change.kind == "run_watched"]) <= 1


@pytest.mark.parametrize("text", ["continue", "1", "I have plugged it in"])
def test_whatever_is_said_but_to_do_without_it_is_waited_on(text: str) -> None:
    story = at_work(limits=Limits(unreachable_timeout=HOUR))
    story.loses(BOX)
    story.passes(HOUR)
    story.answers(story.question().id, text)
    assert (story.run_of("dev:a").life, story.step("dev:a").attempt) == (Life.UNREACHABLE, 1)
    story.passes(HOUR - 1)
    assert not story.state.open_questions
    story.passes(1)
    assert story.question().kind is QuestionKind.BOX


def test_abandoned_run_on_a_lost_box_is_ended_on_return() -> None:
    """Nothing is run in its place meanwhile."""
    story = at_work()
    story.loses(BOX, refused=True)
    story.answers(story.question().id, "set-aside")
    run = story.run_of("dev:a")
    assert (story.step("dev:a").state, run.life) == (StepState.SET_ASIDE, Life.UNREACHABLE)
    assert run.ending is not Ending.NOT
    story.finds(BOX)
    story.ends(run=run, how=Exit(signal=15))
    assert BOX not in {run.host for run in story.state.live_runs}


def test_a_task_that_is_stopped_asks_nothing_of_its_boxes() -> None:
    story = at_work()
    story.stops()
    story.loses(BOX, refused=True)
    assert (story.task(), story.state.open_questions) == (TaskState.STOPPED, [])


def test_restarted_task_asks_about_the_box_again() -> None:
    """Its step cannot begin anew before that agent is known to be gone."""
    story = at_work(limits=Limits(unreachable_timeout=HOUR))
    story.stops()
    story.loses(BOX, "another key", refused=True)
    story.starts()
    story.passes(HOUR)
    assert story.run_of("dev:a").ending is Ending.STOPPED
    asked = story.question()
    assert (asked.kind, asked.step) == (QuestionKind.BOX, "dev:a")


def test_question_about_a_step_replaces_one_about_its_box() -> None:
    """Its report was brought ahead of the word that the box is back; then its commits could not be."""
    story = at_work(bring=Bring.BRANCH)
    story.loses(BOX, f"{BOX} is refused: another key", refused=True)
    asked = story.question()
    story.commit_refused = "the box does not answer"
    story.reports("dev:a")
    stuck = story.question()
    assert (asked.kind, stuck.kind, stuck.step) == (QuestionKind.BOX, QuestionKind.STUCK, "dev:a")
    assert story.state.questions[asked.id].answer == WITHDRAWN


def test_a_conflict_on_a_box_is_described_as_it_lies_there() -> None:
    """It has no worktree with conflict markers: both sides are in its repository there."""
    story = at_work(bring=Bring.BRANCH)
    story.races["review:a"] = {"conflicts": ("shop.py",)}
    story.finishes("a")
    told = story.order_of("dev:a").instructions
    assert "shop.py" in told
    assert "theirs under the ref that is named above" in told
    assert "markers" not in told
