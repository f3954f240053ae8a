"""Worktrees made ready before anybody works in them (`prepare:` of task.md)."""

from __future__ import annotations

from orchestrator.model import facts as f
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit, Purpose, Run
from orchestrator.model.task import AgentOverrides, Config, Location
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


def test_config_says_whether_it_prepares() -> None:
    assert Config(prepare=NPM).prepares
    assert Config(prepare_copy=(".env",)).prepares
    assert not Config(prepare_ports=("PORT",)).prepares
