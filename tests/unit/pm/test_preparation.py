"""Worktrees made ready before anybody works in them (`prepare:` of task.md)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.config_changes import digest
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit, Purpose, Run
from orchestrator.model.task import AgentOverrides, Config, Location, TaskState
from orchestrator.pm.plan.tree_lives import makes_ready
from orchestrator.pm.state.draft import Decision
from tests.unit.pm.story import Story

NPM = (("npm", "ci"),)


class Prepared(Story):
    """A story whose worktrees are made ready without trouble, but for the steps in `by_hand`."""

    by_hand: frozenset[str] = frozenset()

    def feed(self, fact: f.Fact) -> Decision:
        done = super().feed(fact)
        for run in self.state.live_runs:
            if run.purpose is Purpose.PREPARE and run.step not in self.by_hand and run.pid is None:
                super().feed(f.RunStarted(self.at, run.id, 4711, "%1"))
                super().feed(f.RunGone(self.at, self.nonce(), run.id, Exit(code=0)))
        return done


def preparing(
    *by_hand: str, limits: Limits | None = None, checks: tuple[str, ...] = (), **config: object
) -> Prepared:
    story = Prepared(limits=limits, checks=checks, prepare=NPM, **config)
    story.by_hand = frozenset(by_hand)
    return story


def purposes(story: Story, step: str) -> list[Purpose]:
    return [run.purpose for run in story.state.runs.values() if run.step == step]


def prepares(story: Story, step: str, how: Exit | None = None, lines: tuple[str, ...] = ()) -> Run:
    """The preparation that a step waits for begins and ends."""
    run = story.comes_alive(step)
    assert run.purpose is Purpose.PREPARE
    story.feed(f.RunGone(story.at, story.nonce(), run.id, how or Exit(code=0), lines))
    return run


def test_tree_is_made_ready_before_check_and_agent() -> None:
    story = preparing(checks=("test",)).planned("a")
    story.does("dev:a")
    assert purposes(story, "dev:a") == [Purpose.PREPARE, Purpose.WORK]
    story.ends("test:a", Exit(code=0))
    assert purposes(story, "test:a") == [Purpose.PREPARE, Purpose.CHECK, Purpose.WORK]
    story.approves("test:a")
    story.approves("review:a")
    assert story.step("dev:a").state is StepState.PASSED


def test_task_that_prepares_nothing_opens_no_such_run() -> None:
    story = Story().planned("a")
    story.finishes("a")
    assert all(run.purpose is Purpose.WORK for run in story.state.runs.values())


def test_agent_finds_the_tree_as_preparation_left_it() -> None:
    """The preparation begins in a clean tree; the agent's run must not clean it again."""
    story = preparing("dev:a").planned("a")
    step = story.step("dev:a")
    assert makes_ready(story.state, step, Purpose.PREPARE)
    assert not makes_ready(story.state, step, Purpose.WORK)
    assert step.tree_life == 1
    prepares(story, "dev:a")
    assert story.step("dev:a").tree_life == 1


def test_failed_preparation_is_retried_then_asked_about() -> None:
    story = preparing("dev:a", limits=Limits(max_failed_preparations=2)).planned("a")
    said = ("npm ERR! code E404", "prepare: `npm ci` exited 1")
    first = prepares(story, "dev:a", Exit(code=1), said)
    assert story.step("dev:a").tally.preparations == 1
    assert story.works_on() == set()
    story.passes(1)
    second = prepares(story, "dev:a", Exit(code=1), said)
    assert second.id != first.id
    assert story.step("dev:a").state is StepState.BLOCKED
    text = story.question().text
    assert "the worktree of 'Do a' could not be made ready, tried 2 times in a row: exited 1" in text
    assert "prepare: `npm ci` exited 1" in text
    assert f"task logs demo-1 {second.id}" in text
    assert purposes(story, "dev:a") == [Purpose.PREPARE, Purpose.PREPARE], "no agent has begun"


def test_answered_retry_prepares_again_and_goes_on() -> None:
    story = preparing("dev:a", limits=Limits(max_failed_preparations=1)).planned("a")
    prepares(story, "dev:a", Exit(code=1))
    story.answers("q1", "retry")
    prepares(story, "dev:a")
    assert story.run_of("dev:a").purpose is Purpose.WORK
    assert story.step("dev:a").tally.preparations == 0
    assert "npm" not in story.order_of("dev:a").instructions, "its failure is none of the agent's"


FAILS = ("npm ERR! code E404", "prepare: `npm ci` exited 1")


def both_fail(story: Story, *steps: str) -> None:
    """The preparations of these steps fail for one cause, as often as they are tried."""
    for _ in range(2):
        for step in steps:
            prepares(story, step, Exit(code=1), FAILS)
        story.passes(10)


def test_one_cause_is_one_question() -> None:
    """Both begin side by side, and both need what `prepare:` cannot make."""
    story = preparing("dev:a", "dev:b").planned("a", "b")
    both_fail(story, "dev:a", "dev:b")
    assert [question.step for question in story.state.open_questions] == ["dev:a"]
    assert story.step("dev:b").state is StepState.PENDING
    assert "q1 asks about it" in story.step("dev:b").why
    assert story.state.state is TaskState.WAITING
    story.passes(86_400)
    assert story.works_on() == set(), "nobody tries it again meanwhile"
    story.answers("q1", "retry")
    assert story.works_on() == {"dev:a", "dev:b"}
    prepares(story, "dev:a")
    prepares(story, "dev:b")
    assert story.run_of("dev:a").purpose is Purpose.WORK
    assert story.run_of("dev:b").purpose is Purpose.WORK


def test_another_cause_is_another_question() -> None:
    story = preparing("dev:a", "dev:b").planned("a", "b")
    for _ in range(2):
        prepares(story, "dev:a", Exit(code=1), FAILS)
        prepares(story, "dev:b", Exit(code=2), ("no space left on device",))
        story.passes(10)
    assert [question.step for question in story.state.open_questions] == ["dev:a", "dev:b"]


def test_step_goes_on_when_the_one_asked_about_is_given_up() -> None:
    story = preparing("dev:a", "dev:b").planned("a", "b")
    both_fail(story, "dev:a", "dev:b")
    story.answers("q1", "set-aside")
    assert story.works_on() == {"dev:b"}


def test_no_words_answer_a_question_about_a_preparation() -> None:
    """No agent has begun: nobody would read them, and a retry alone mends nothing."""
    story = preparing("dev:a", limits=Limits(max_failed_preparations=1)).planned("a")
    prepares(story, "dev:a", Exit(code=1), FAILS)
    assert story.question().options == ("retry", "set-aside", "abandon")
    decision = story.answers("q1", "use yarn instead")
    assert decision.refused
    assert "retry, set-aside, abandon" in decision.reply
    assert story.question().open
    story.answers("q1", "Retry")
    assert not story.state.open_questions


@pytest.mark.parametrize("stopped", [False, True])
def test_changed_prepare_is_tried_without_an_answer(*, stopped: bool) -> None:
    """The question says that `task start` goes on with an edit of `prepare:`, and so it does, after a stop too."""
    written = {"prepare": "npm ci"}
    story = preparing("dev:a", limits=Limits(max_failed_preparations=1), written=written).planned("a")
    prepares(story, "dev:a", Exit(code=1), FAILS)
    assert "change `prepare:` in task.md, then `task start demo-1` goes on" in story.question().text
    if stopped:
        story.stops()
    config = story.state.brief.config
    changed = replace(config, prepare=(("true",),), written={**config.written, "prepare": "true"})
    decision = story.starts(brief=replace(story.state.brief, config=changed), confirmed=digest(changed))
    assert not decision.refused
    assert not story.state.open_questions
    assert "waits for an answer" not in decision.reply
    assert story.works_on() == {"dev:a"}


def test_preparation_ends_at_its_own_limit() -> None:
    story = preparing("dev:a", limits=Limits(max_prepare_time=600, max_failed_preparations=1)).planned("a")
    run = story.comes_alive("dev:a")
    story.passes(599)
    assert story.state.runs[run.id].ending is Ending.NOT
    story.passes(1)
    assert story.state.runs[run.id].ending is Ending.OVERDUE
    story.ends(run=run, how=Exit(signal=15))
    text = story.question().text
    assert "it did not end within 10 min (limits.max_prepare_time), and was ended" in text


def test_lost_preparation_is_no_failure_of_its_commands() -> None:
    story = preparing("dev:a").planned("a")
    prepares(story, "dev:a", Exit(lost=True))
    tally = story.step("dev:a").tally
    assert (tally.preparations, tally.losses) == (0, 1)


def test_stop_in_a_preparation_begins_it_anew() -> None:
    story = preparing("dev:a").planned("a")
    run = story.comes_alive("dev:a")
    story.stops()
    story.ends(run=run, how=Exit(signal=15))
    story.starts()
    assert story.step("dev:a").tally.preparations == 0
    assert story.run_of("dev:a").purpose is Purpose.PREPARE


def test_crash_of_an_agent_prepares_the_clean_tree_again() -> None:
    story = preparing("dev:a").planned("a")
    prepares(story, "dev:a")
    story.comes_alive("dev:a")
    story.ends("dev:a", Exit(code=7))
    story.passes(1)
    assert story.run_of("dev:a").purpose is Purpose.PREPARE


def test_tree_that_is_kept_is_not_prepared_again() -> None:
    story = preparing("dev:a").planned("a")
    prepares(story, "dev:a")
    story.comes_alive("dev:a")
    story.ends("dev:a", Exit(code=0))  # it left no handoff, and is asked for one
    assert story.step("dev:a").keep_tree
    assert story.run_of("dev:a").purpose is Purpose.WORK


def test_rejected_work_is_prepared_for_its_next_attempt() -> None:
    story = preparing().planned("a")
    story.does("dev:a")
    story.approves("test:a")
    story.rejects("review:a")
    assert story.step("dev:a").attempt == 2
    assert purposes(story, "dev:a")[-2:] == [Purpose.PREPARE, Purpose.WORK]


def test_work_put_upon_others_is_prepared_before_its_recheck() -> None:
    """Git's clean took away what the first preparation had made, when the work was put upon what others merged."""
    story = preparing(checks=("test",)).planned("a", "b")
    for name in ("a", "b"):
        story.does(f"dev:{name}")
        story.ends(f"test:{name}", Exit(code=0))
        story.approves(f"test:{name}")
    story.races["review:b"] = {"commit": "anew", "onto": "tip", "tip": ""}
    story.races["dev:b"] = {"commit": "anew", "onto": "tip", "tip": ""}
    story.approves("review:a")
    story.approves("review:b")
    assert story.step("test:b").recheck
    assert purposes(story, "test:b")[-2:] == [Purpose.PREPARE, Purpose.CHECK]


def test_folder_of_an_agents_own_is_not_prepared() -> None:
    story = preparing(agents={"dev": AgentOverrides(cwd=Location("/elsewhere"))}).planned("a")
    assert purposes(story, "dev:a") == [Purpose.WORK]


def test_a_clone_on_a_box_is_prepared() -> None:
    story = preparing(agents={"dev": AgentOverrides(cwd=Location("/srv/repo", "dev1"))}).planned("a")
    assert purposes(story, "dev:a") == [Purpose.PREPARE, Purpose.WORK]


def test_config_says_whether_it_prepares() -> None:
    assert Config(prepare=NPM).prepares
    assert Config(prepare_copy=(".env",)).prepares
    assert not Config(prepare_ports=("PORT",)).prepares
