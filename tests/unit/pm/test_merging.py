"""Subtasks at the same time, and the merge queue that brings their work onto the branch one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.model.actions import Merge
from orchestrator.model.handoff import ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Exit, Purpose, Run
from orchestrator.model.task import Recheck, WorkspaceKind
from tests.unit.pm.story import ONE_AT_A_TIME, Story, apart

RACED: dict[str, Any] = {"commit": "upon", "onto": "tip", "others": ("1234567 t: Do a",)}
"""The work was put upon what the branch had gained."""


def merges(story: Story) -> list[str]:
    return [each.step for each in story.state.outbox.values() if isinstance(each, Merge)]


def check_of(story: Story, step: str) -> Run:
    """Return the live run of a step's check."""
    (run,) = [run for run in story.state.live_runs if run.step == step and run.purpose is Purpose.CHECK]
    return run


def checked(story: Story, step: str, code: int = 0) -> None:
    """The check of a step ends."""
    story.ends(run=check_of(story, step), how=Exit(code=code))


def finishes(story: Story, subtask: str) -> None:
    """A subtask with a check goes well."""
    story.does(f"dev:{subtask}")
    checked(story, f"test:{subtask}")
    story.approves(f"test:{subtask}")
    story.approves(f"review:{subtask}")


# At the same time -----------------------------------------------------------------------------------


def test_independent_subtasks_run_at_once() -> None:
    story = Story(limits=Limits(max_concurrent_runs=3)).planned("a", "b", "c", "d")
    assert story.works_on() == {"dev:a", "dev:b", "dev:c"}
    assert {run.instance for run in story.state.live_runs} == {"dev", "dev-2", "dev-3"}


def test_a_subtask_waits_for_what_it_needs_to_be_merged() -> None:
    story = Story().planned("a", Subtask("b", "Do b", needs=("a",)))
    assert story.works_on() == {"dev:a"}
    story.finishes("a")
    assert story.works_on() == {"dev:b"}


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("shop/greet.py", "shop/greet.py", False),
        ("shop/**", "shop/greet.py", False),
        ("shop/greet.py", "shop", False),
        ("shop/*.py", "shop/*.sql", False),
        ("**/*.py", "docs/index.md", False),
        ("./shop/greet.py", "shop//greet.py", False),
        ("shop/greet.py", "shop/total.py", True),
        ("shop", "shopping/list.py", True),
        ("shop/a/**", "shop/b/**", True),
    ],
)
def test_subtasks_that_claim_the_same_files_are_apart(one: str, other: str, together: bool) -> None:  # noqa: FBT001
    story = Story().planned(
        Subtask("a", "Do a", files=(one,)), Subtask("b", "Do b", files=("README.md", other))
    )
    assert story.works_on() == ({"dev:a", "dev:b"} if together else {"dev:a"})
    if not together:
        story.finishes("a")
        assert story.works_on() == {"dev:b"}


def test_a_subtask_that_waits_for_an_answer_keeps_nobody_apart() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned(*apart("a", "b"))
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    assert story.works_on() == {"dev:b"}


def test_subtasks_in_a_shared_tree_are_worked_on_in_turn() -> None:
    story = Story(workspace=WorkspaceKind.SHARED).planned("a", "b")
    assert story.works_on() == {"dev:a"}


@pytest.mark.parametrize("story", [Story(limits=ONE_AT_A_TIME), Story(parallel=1)], ids=["limit", "task.md"])
def test_what_was_begun_is_finished_before_anything_new_begins(story: Story) -> None:
    story.planned("a", "b")
    seen = []
    for step in ("dev:a", "test:a", "review:a", "dev:b"):
        seen.append(story.works_on())
        (story.does if step.startswith("dev") else story.approves)(step)
    assert seen == [{"dev:a"}, {"test:a"}, {"review:a"}, {"dev:b"}]


# The queue ------------------------------------------------------------------------------------------


def test_work_is_merged_one_after_the_other() -> None:
    story = Story().planned("a", "b")
    for each in ("a", "b"):
        story.does(f"dev:{each}")
        story.approves(f"test:{each}")
    story.undone = (Merge,)
    story.approves("review:b")
    story.approves("review:a")
    assert merges(story) == ["review:b"]
    assert story.step("review:a").state is StepState.CHECKING
    story.undone = ()
    (merge,) = [each for each in story.state.outbox.values() if isinstance(each, Merge)]
    story._work(merge)
    assert [story.step(f"review:{each}").state for each in ("a", "b")] == [StepState.PASSED] * 2


def test_a_tree_is_changed_only_when_its_judges_have_left() -> None:
    story = Story(checks=("test",)).planned("a")
    story.races["review:a"] = RACED
    story.does("dev:a")
    checked(story, "test:a")
    story.approves("test:a")
    run = story.comes_alive("review:a")
    story.reports("review:a", verdict=Verdict.APPROVED)
    assert (story.step("review:a").state, story.step("dev:a").commit) == (StepState.CHECKING, "c1")
    assert not merges(story)
    story.ends(run=run)
    assert story.step("dev:a").commit == "upon"


def test_a_lost_race_is_no_rejection() -> None:
    story = Story(checks=("test",)).planned("a")
    story.races["review:a"] = RACED
    finishes(story, "a")
    assert story.step("dev:a").commit == "upon"
    assert (story.step("dev:a").attempt, story.step("dev:a").tally.rejections) == (1, 0)
    assert story.step("review:a").state is StepState.CHECKING
    report = story.step("test:a").report
    checked(story, "test:a")
    assert (story.step("test:a").state, story.step("test:a").report) == (StepState.PASSED, report)
    assert story.step("review:a").state is StepState.PASSED
    assert story.step("review:a").attempt == 1


def test_what_fails_only_together_is_done_again() -> None:
    """Each passed by itself: the check of what comes of both says no, and the branch is left as it is."""
    story = Story(checks=("test",)).planned("a")
    story.races["review:a"] = RACED
    finishes(story, "a")
    checked(story, "test:a", code=1)
    dev = story.step("dev:a")
    assert (dev.attempt, dev.tally.conflicts, dev.tally.rejections) == (2, 1, 0)
    assert (dev.carries, dev.starts_from) == (True, "upon")
    assert story.step("review:a").state is StepState.PENDING
    assert not merges(story)
    finishes(story, "a")
    assert story.step("review:a").state is StepState.PASSED


def test_a_conflict_is_shown_to_the_developer_with_both_sides() -> None:
    story = Story().planned("a")
    story.races["review:a"] = {"conflicts": ("shop.py",), "others": ("1234567 t: Do b",)}
    story.finishes("a")
    dev = story.step("dev:a")
    assert (dev.attempt, dev.tally.conflicts, dev.starts_from) == (2, 1, "c1")
    instructions = story.order_of("dev:a").instructions
    assert "shop.py" in instructions
    assert "1234567 t: Do b" in instructions


def test_a_commit_at_odds_with_the_branch_is_a_conflict() -> None:
    story = Story().planned("a")
    story.odds["dev:a"] = {"conflicts": ("shop.py",), "others": ("1234567 t: Do b",)}
    story.does("dev:a")
    dev = story.step("dev:a")
    assert (dev.attempt, dev.tally.conflicts, dev.starts_from) == (2, 1, "c1")


def test_markers_that_are_left_are_removed_first() -> None:
    story = Story().planned("a")
    story.odds["dev:a"] = {"unresolved": ("shop.py",)}
    story.does("dev:a")
    dev = story.step("dev:a")
    assert (dev.attempt, dev.tally.asks, dev.state) == (1, 1, StepState.WORKING)
    assert "shop.py" in story.order_of("dev:a").instructions


def test_conflicts_beyond_the_bound_are_a_question() -> None:
    story = Story(limits=Limits(max_conflicts=1)).planned("a")
    for _ in range(2):
        story.races["review:a"] = {"conflicts": ("shop.py",)}
        story.finishes("a")
    assert story.step("dev:a").state is StepState.BLOCKED
    assert "shop.py" in story.question().text
    story.answers("q1", "retry")
    story.finishes("a")
    assert story.step("review:a").state is StepState.PASSED


def test_who_saw_another_change_judges_again() -> None:
    """The change itself came out otherwise: check, tester and reviewer judge what came of it."""
    story = Story(checks=("test",)).planned("a")
    story.races["review:a"] = RACED | {"both": ("shop.py",), "same": False}
    finishes(story, "a")
    assert story.step("dev:a").attempt == 1
    assert [story.step(each).attempt for each in ("test:a", "review:a")] == [2, 2]
    checked(story, "test:a")
    assert "shop.py" in story.order_of("test:a").instructions
    story.approves("test:a")
    story.approves("review:a")
    assert story.step("review:a").state is StepState.PASSED


@pytest.mark.parametrize(
    ("recheck", "both", "again"),
    [
        (Recheck.ALWAYS, (), True),
        (Recheck.OVERLAP, (), False),
        (Recheck.OVERLAP, ("shop.py",), True),
    ],
)
def test_when_the_check_runs_again(recheck: Recheck, both: tuple[str, ...], again: bool) -> None:  # noqa: FBT001
    story = Story(checks=("test",), recheck=recheck).planned("a")
    story.races["review:a"] = RACED | {"both": both}
    finishes(story, "a")
    assert (story.step("review:a").state is StepState.CHECKING) is again


def test_without_a_check_the_agents_judge_what_overlaps() -> None:
    story = Story().planned("a", "b")
    story.races = {"review:a": RACED | {"both": ("shop.py",)}, "review:b": RACED}
    story.finishes("b")
    assert story.step("review:b").state is StepState.PASSED
    story.finishes("a")
    assert [story.step(each).attempt for each in ("test:a", "review:a")] == [2, 2]


def test_queue_head_keeps_its_place_while_checked() -> None:
    story = Story(checks=("test",)).planned("a", "b")
    story.races["review:a"] = RACED
    for each in ("a", "b"):
        story.does(f"dev:{each}")
        checked(story, f"test:{each}")
        story.approves(f"test:{each}")
    story.approves("review:a")
    story.approves("review:b")
    assert [story.step(f"review:{each}").state for each in ("a", "b")] == [StepState.CHECKING] * 2
    checked(story, "test:a")
    assert [story.step(f"review:{each}").state for each in ("a", "b")] == [StepState.PASSED] * 2


def test_who_waits_for_an_answer_holds_up_nobody_in_the_queue() -> None:
    story = Story(checks=("test",), limits=Limits(max_crashes=0, max_fresh_starts=0)).planned("a", "b")
    story.races["review:a"] = RACED
    for each in ("a", "b"):
        story.does(f"dev:{each}")
        checked(story, f"test:{each}")
        story.approves(f"test:{each}")
    story.approves("review:a")
    story.ends(run=check_of(story, "test:a"), how=Exit(signal=9))
    assert story.step("test:a").state is StepState.FAILED
    story.approves("review:b")
    assert story.step("review:b").state is StepState.PASSED
    story.answers(story.question().id, "retry")
    checked(story, "test:a")
    story.approves("test:a")
    story.approves("review:a")
    assert story.step("review:a").state is StepState.PASSED


def test_an_order_beside_the_plan_is_merged_in_its_turn() -> None:
    story = Story().planned("a")
    story.spawns("dev")
    story.finishes("a")
    story.finishes_order("dev-2")
    assert story.step("review:dev-2").state is StepState.PASSED
