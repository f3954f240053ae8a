"""A suite that fails before anything is changed: everybody knows, nobody is blamed, and the task is not complete."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.handoff import Verdict
from orchestrator.model.plan import StepState
from orchestrator.model.run import Exit
from orchestrator.model.task import AgentOverrides, TaskState, WorkspaceKind
from tests.unit.pm.story import MET, ONE_AT_A_TIME, Story, plan_of

RED = ("FAIL: test_old", "AssertionError: it does not", "Ran 3 tests in 0.001s", "FAILED (failures=1)")
STILL_RED = (*RED[:2], "Ran 4 tests in 0.020s", RED[3])
"""What is printed when a test that passes was added."""

WORSE = ("FAIL: test_new", *STILL_RED)


class Suite:
    """A task whose suite ended with `before`, ahead of the plan, which has these subtasks."""

    def __init__(self, *subtasks: str, before: tuple[str, ...] | None = RED, **config: object) -> None:
        overrides = {"test": AgentOverrides(check=("check",))}
        self.story = Story(checks=("test",), agents=overrides, **config)  # type: ignore[arg-type]
        self.story.starts()
        self.story.does("explore")  # in the user's own tree one goes after the other
        self.checked("baseline", before)
        self.plans(*subtasks)

    def plans(self, *subtasks: str) -> None:
        self.planned = self.story.order_of("plan").context
        self.story.does("plan", subtasks=plan_of(*subtasks))

    def checked(self, step: str, lines: tuple[str, ...] | None) -> None:
        """The check of a step ends: it passes, or fails and prints these lines last."""
        run = self.story.comes_alive(step)
        how, last = (Exit(code=0), ("OK",)) if lines is None else (Exit(code=1), lines)
        self.story.feed(f.RunGone(self.story.at, self.story.nonce(), run.id, how, last))

    def works(self, subtask: str, lines: tuple[str, ...] | None) -> None:
        """A subtask is developed and its check ends so."""
        self.story.does(f"dev:{subtask}")
        self.checked(f"test:{subtask}", lines)

    def accepted(self, subtask: str, lines: tuple[str, ...] | None) -> None:
        self.works(subtask, lines)
        self.story.approves(f"test:{subtask}")
        self.story.approves(f"review:{subtask}")


def test_each_order_says_how_the_check_ended_before() -> None:
    """ "So that everybody knows what failed before": no order said it."""
    suite = Suite("a")
    assert "it does not" in suite.planned
    assert "exited 1" in suite.planned
    dev = suite.story.order_of("dev:a").context
    suite.works("a", STILL_RED)
    tester = suite.story.order_of("test:a").context
    suite.story.approves("test:a")
    reviewer = suite.story.order_of("review:a").context
    for order in (dev, tester, reviewer):
        assert RED[2] in order
    for order in (tester, reviewer):
        assert STILL_RED[2] in order, "both outputs are shown to who decides"


def test_a_tester_gets_no_feedback_on_a_try_it_never_made() -> None:
    """Its first order said "How the last try ended: it the check exited 1", of the PM's own check."""
    suite = Suite("a")
    suite.works("a", STILL_RED)
    order = suite.story.order_of("test:a")
    assert "last try" not in order.instructions
    assert order.context.count(STILL_RED[2]) == 1


def test_a_suite_that_was_green_is_said_to_be_so() -> None:
    suite = Suite("a", before=None)
    assert "exited 0" in suite.story.order_of("dev:a").context
    suite.works("a", RED)
    suite.story.approves("test:a")
    assert suite.story.works_on() == {"dev:a"}


def test_who_fails_just_as_before_is_not_rejected_for_it() -> None:
    """Each developer was rejected three times, planned anew twice, and then a person was asked."""
    suite = Suite("a")
    suite.accepted("a", STILL_RED)
    assert suite.story.step("dev:a").attempt == 1
    assert suite.story.works_on() == {"accept"}
    assert STILL_RED[2] in suite.story.order_of("accept").context
    suite.story.does("accept", criteria=MET)
    assert suite.story.task() is TaskState.PARTIAL
    assert "exited 1 before" in suite.story.state.why


@pytest.mark.parametrize("lines", [WORSE, STILL_RED[1:], ()])
def test_who_fails_in_another_way_is_rejected(lines: tuple[str, ...]) -> None:
    suite = Suite("a")
    suite.works("a", lines)
    suite.story.approves("test:a")
    assert suite.story.works_on() == {"dev:a"}


def test_check_that_crashes_rejects_the_work() -> None:
    """Code that made the tests crash was tried again four times as a crash of the agent, and was then a question."""
    story = Story(checks=("test",)).planned("a")
    story.does("dev:a")
    story.ends("test:a", Exit(signal=11))
    assert story.step("test:a").check_exit == 139
    story.approves("test:a")
    assert story.step("dev:a").tally.rejections == 1
    assert not story.state.open_questions


@pytest.mark.parametrize("how", [Exit(signal=9), Exit(signal=15), Exit(signal=11, out_of_memory=True)])
def test_check_that_somebody_ended_says_nothing_of_the_work(how: Exit) -> None:
    story = Story(checks=("test",)).planned("a")
    story.does("dev:a")
    story.ends("test:a", how)
    assert story.step("test:a").check_exit is None
    assert story.step("dev:a").tally.rejections == 0


def test_a_check_that_prints_nothing_is_judged_as_ever() -> None:
    suite = Suite("a", before=())
    suite.works("a", ())
    suite.story.approves("test:a")
    assert suite.story.works_on() == {"dev:a"}


@pytest.mark.parametrize("judge", ["test:a", "review:a"])
def test_a_judge_may_reject_what_was_to_mend_it(judge: str) -> None:
    suite = Suite("a")
    suite.works("a", STILL_RED)
    if judge == "review:a":
        suite.story.approves("test:a")
    suite.story.rejects(judge, "it was to be mended")
    assert suite.story.works_on() == {"dev:a"}


def test_a_suite_that_was_mended_is_complete() -> None:
    suite = Suite("a", "mend")
    suite.accepted("a", STILL_RED)
    suite.accepted("mend", None)
    suite.story.does("accept", criteria=MET)
    assert suite.story.task() is TaskState.COMPLETE


def test_who_breaks_again_what_was_mended_is_rejected() -> None:
    suite = Suite("mend", "b", limits=ONE_AT_A_TIME)
    suite.accepted("mend", None)
    suite.works("b", STILL_RED)
    suite.story.approves("test:b")
    assert suite.story.works_on() == {"dev:b"}


def test_who_began_before_it_was_mended_broke_nothing() -> None:
    """Subtasks are worked on at the same time: what one mends does not lie in the tree of the other yet."""
    suite = Suite("mend", "b")
    suite.story.does("dev:b")
    suite.accepted("mend", None)
    suite.checked("test:b", STILL_RED)
    suite.story.approves("test:b")
    assert suite.story.step("dev:b").attempt == 1
    assert "review:b" in suite.story.works_on()


def put_upon(suite: Suite, lines: tuple[str, ...] | None) -> None:
    """The review of b passes when a is merged, so that b is put upon that, and its check is run again."""
    story = suite.story
    story.does("dev:a")
    story.does("dev:b")
    suite.checked("test:a", lines)
    suite.checked("test:b", STILL_RED)
    for judge in ("test:a", "review:a", "test:b"):
        story.approves(judge)
    story.works = False
    story.approves("review:b")
    look = next(iter(story.state.outbox.values()))
    story.feed(f.WorkInspected(story.at, look.id, "review:b", 1, changed=False))
    story.feed(f.WorkMerged(story.at, "n", "review:b", 1, "upon", onto="c1", same=True))
    story.works = True


def test_what_is_tested_again_may_fail_just_as_before() -> None:
    suite = Suite("a", "b")
    put_upon(suite, STILL_RED)
    suite.checked("test:b", STILL_RED)
    assert suite.story.step("review:b").state is StepState.PASSED
    assert suite.story.step("dev:b").tally.conflicts == 0


def test_what_is_put_upon_what_was_mended_must_pass() -> None:
    suite = Suite("a", "b")
    put_upon(suite, None)
    suite.checked("test:b", STILL_RED)
    assert suite.story.step("dev:b").tally.conflicts == 1


def test_a_check_that_never_passed_is_no_evidence() -> None:
    suite = Suite("a")
    suite.accepted("a", STILL_RED)
    marks = tuple(replace(mark, evidence=("check test:a",)) for mark in MET)
    suite.story.does("accept", criteria=marks)
    assert suite.story.works_on() == {"accept"}


def test_in_the_users_own_tree_it_is_the_same() -> None:
    suite = Suite("a", workspace=WorkspaceKind.SHARED)
    assert RED[2] in suite.story.order_of("dev:a").context
    suite.accepted("a", STILL_RED)
    assert suite.story.step("review:a").state is StepState.PASSED
    assert suite.story.task() is TaskState.RUNNING


def test_a_check_that_could_not_be_run_before_excuses_nobody() -> None:
    story = Story(checks=("test",), agents={"test": AgentOverrides(check=("check",))})
    story.starts()
    story.ends(run=story.comes_alive("baseline"), how=Exit(signal=9))
    story.does("explore")
    assert "Before anything was changed" not in story.order_of("plan").context
    story.does("plan", subtasks=plan_of("a"))
    story.does("dev:a")
    story.feed(f.RunGone(story.at, story.nonce(), story.comes_alive("test:a").id, Exit(code=1), RED))
    story.does("test:a", verdict=Verdict.APPROVED)
    assert story.works_on() == {"dev:a"}
