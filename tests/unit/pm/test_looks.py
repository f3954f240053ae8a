"""What judges change themselves: it is said, their verdict does not rest on it, and the next judge knows of it."""

from __future__ import annotations

import pytest

from orchestrator.model.actions import Inspect, Merge, TendBranch
from orchestrator.model.facts import WorkInspected
from orchestrator.model.handoff import CriterionMark, Verdict
from orchestrator.model.plan import StepState
from orchestrator.model.task import AgentOverrides, Location, TaskState, WorkspaceKind
from tests.unit.pm.story import MET, Story

FILES = ("conftest.py", "b", "c", "d", "e", "f")
SHARED = {"workspace": WorkspaceKind.SHARED}


def worked(**config: object) -> Story:
    """A story whose work is handed in, and is to be tested."""
    story = Story(**config).planned("a")  # type: ignore[arg-type]
    story.does("dev:a")
    return story


@pytest.mark.parametrize("config", [{}, SHARED])
def test_a_judge_that_changes_its_tree_judges_once_more(config: dict[str, object]) -> None:
    """A tester wrote a file that made the tests pass: the file was taken out, and its approval stood."""
    story = worked(**config)
    story.strewn["test:a"] = FILES
    story.approves("test:a")
    assert story.works_on() == {"test:a"}
    assert story.step("test:a").attempt == 1
    order = story.order_of("test:a").instructions
    assert "'conftest.py'" in order
    assert "and 1 more" in order
    assert ("as it was handed in" in order) is (config == {})
    assert any("test:a was only to look" in notice for notice in story.state.notices)
    story.approves("test:a")
    assert story.works_on() == {"review:a"}
    assert "conftest.py" not in story.order_of("review:a").context, "the verdict rests on the tree as it is"


@pytest.mark.parametrize("config", [{}, SHARED])
def test_the_next_judge_knows_what_the_last_one_changed_again(config: dict[str, object]) -> None:
    story = worked(**config)
    for _ in range(story.limits.max_repeated_judgements + 1):
        story.strewn["test:a"] = FILES
        story.approves("test:a")
    assert story.works_on() == {"review:a"}
    assert "'conftest.py'" in story.order_of("review:a").context
    story.approves("review:a")
    assert "'conftest.py'" in story.order_of("accept").context
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_a_verdict_waits_until_the_tree_was_looked_at() -> None:
    """Work was merged on the word of a judge while nobody knew yet what it had judged."""
    story = worked()
    story.approves("test:a")
    run = story.comes_alive("review:a")
    story.works = False
    story.reports("review:a", verdict=Verdict.APPROVED)
    assert story.step("review:a").state is StepState.CHECKING
    assert story.state.outbox == {}
    story.ends(run=run)
    (look,) = story.state.outbox.values()
    assert isinstance(look, Inspect)
    story.feed(WorkInspected(story.at, look.id, "review:a", 1, changed=False))
    assert [type(each) for each in story.state.outbox.values()] == [Merge]


def test_what_cannot_be_looked_at_holds_no_verdict_up() -> None:
    story = worked()
    story.works = False
    story.approves("test:a")
    (look,) = story.state.outbox.values()
    story.feed(WorkInspected(story.at, look.id, "test:a", 1, reason="git hangs"))
    assert story.step("test:a").state is StepState.PASSED
    assert "git hangs" in story.state.notices[-1]


def test_who_works_on_knows_what_a_rejection_may_rest_on() -> None:
    """A reviewer spoiled the work, and rejected it: its developer looked in vain for what was wrong."""
    story = worked()
    story.approves("test:a")
    story.strewn["review:a"] = ("pkg/greet.py",)
    story.rejects("review:a")
    assert "pkg/greet.py" in story.order_of("dev:a").instructions
    story.finishes("a")
    assert story.works_on() == {"accept"}


def test_criteria_are_judged_again_on_the_tree_as_it_was() -> None:
    story = worked()
    story.approves("test:a")
    story.approves("review:a")
    story.strewn["accept"] = ("README.md",)
    story.does("accept", criteria=MET)
    assert story.state.criteria == ()
    assert story.works_on() == {"accept"}
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_a_look_that_is_over_takes_no_judge_past_its_gates() -> None:
    """It came between the branch and the evidence: the last review passed, and no criterion was met."""
    story = worked()
    story.approves("test:a")
    story.approves("review:a")
    story.works = False
    story.does("accept", criteria=MET)
    tend, look = story.state.outbox.values()
    story.feed(WorkInspected(story.at, look.id, "accept", 1, changed=False))
    assert story.step("accept").state is StepState.CHECKING
    assert isinstance(tend, TendBranch)
    story.works = True
    story.tends()
    assert story.task() is TaskState.COMPLETE


def test_unmet_criteria_are_replanned_despite_judge_changes() -> None:
    story = worked()
    story.approves("test:a")
    story.approves("review:a")
    story.strewn["accept"] = ("README.md",)
    story.does("accept", criteria=(MET[0], CriterionMark(MET[1].text, met=False, reason="no README")))
    assert story.works_on() == {"plan"}


def test_who_explores_is_not_held_up() -> None:
    story = Story()
    story.starts()
    story.strewn["explore"] = FILES
    story.comes_alive("explore")
    story.reports("explore")
    assert story.step("explore").state is StepState.PASSED
    story.ends("explore")
    assert story.works_on() == {"plan"}
    assert any("explore was only to look" in notice for notice in story.state.notices)


@pytest.mark.parametrize(
    ("config", "looked_at"),
    [
        ({}, {"explore", "plan", "test:a", "review:a", "accept"}),
        (SHARED, {"dev:a", "test:a", "review:a", "accept"}),
        ({"workspace": WorkspaceKind.READ_ONLY}, {"dev:a", "test:a", "review:a", "accept"}),
        (
            {"agents": {"review": AgentOverrides(cwd=Location("/repo", "me@box"))}},
            {"explore", "plan", "test:a", "review:a", "accept"},
        ),
    ],
)
def test_each_judge_is_looked_at_wherever_it_works(config: dict[str, object], looked_at: set[str]) -> None:
    """In the user's own tree, or in a folder of its own, whatever a judge changed went unseen."""
    story, seen = Story(**config), list[str]()  # type: ignore[arg-type]
    feed = story.feed

    def noting(fact: object) -> object:
        if isinstance(fact, WorkInspected):
            seen.append(fact.step)
        return feed(fact)  # type: ignore[arg-type]

    story.feed = noting  # type: ignore[method-assign, assignment]
    story.planned("a")
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert set(seen) == looked_at
    assert story.task() is TaskState.COMPLETE
