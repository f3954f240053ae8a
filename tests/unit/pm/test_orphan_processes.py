"""What outlives the program of a run is ended with it, and the program's own end is what counts."""

from __future__ import annotations

import pytest

from orchestrator.model.actions import End
from orchestrator.model.facts import RunLeft
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit, Leftover, Life, Run
from orchestrator.pm.handlers.stuck_termination import GONE
from orchestrator.pm.state.draft import Decision
from tests.unit.pm.story import Story

SERVER = Leftover(4712, "node")


def leaves(story: Story, run: Run, how: Exit, *left: Leftover) -> Decision:
    return story.feed(RunLeft(story.at, story.nonce(), run.id, how, left or (SERVER,)))


@pytest.fixture
def story() -> Story:
    return Story().planned("a")


def test_a_run_of_which_something_lives_is_not_gone(story: Story) -> None:
    run = story.comes_alive("dev:a")
    leaves(story, run, Exit(code=7))
    now = story.state.runs[run.id]
    assert (now.life, now.ending, now.pid) == (Life.ALIVE, Ending.LEFT, SERVER.pid)
    assert "4712 node" in now.evidence
    assert [each.run for each in story.state.outbox.values() if isinstance(each, End)] == [run.id]
    assert any("4712 node" in notice for notice in story.state.notices)
    assert list(story.state.live_runs) == [now], "nothing else works meanwhile"


def test_hearing_of_it_again_changes_nothing(story: Story) -> None:
    run = story.comes_alive("dev:a")
    leaves(story, run, Exit(code=7))
    assert leaves(story, run, Exit(code=7)).empty


@pytest.mark.parametrize("how", [Exit(code=7), Exit(signal=11), Exit(lost=True), Exit(code=0)])
def test_it_ends_as_its_program_ended(how: Exit) -> None:
    """What it left behind changes nothing of what counts against its step."""
    made_story, plain = Story().planned("a"), Story().planned("a")
    leaves(made_story, made_story.comes_alive("dev:a"), how)
    plain.comes_alive("dev:a")
    for story in (made_story, plain):
        story.ends("dev:a", how)
    assert made_story.step("dev:a").tally == plain.step("dev:a").tally
    assert made_story.step("dev:a").state is plain.step("dev:a").state


def test_its_report_still_counts(story: Story) -> None:
    run = story.comes_alive("dev:a")
    leaves(story, run, Exit(code=0))
    story.reports("dev:a", run=run)
    story.ends(run=story.state.runs[run.id])
    assert story.step("dev:a").state is StepState.PASSED
    assert story.run_of("test:a").live


def test_leftovers_of_an_ending_run_change_the_display_only(story: Story) -> None:
    run = story.comes_alive("dev:a")
    while story.state.runs[run.id].ending is Ending.NOT:
        story.passes(story.limits.inactivity_timeout)
    decision = leaves(story, run, Exit(signal=15))
    assert (story.state.runs[run.id].ending, decision.actions) == (Ending.SILENT, ())
    assert "4712 node" in story.state.runs[run.id].evidence


def test_what_cannot_be_ended_is_asked_about_and_named(story: Story) -> None:
    run = story.comes_alive("dev:a")
    leaves(story, run, Exit(code=3))
    story.passes(story.limits.termination_timeout)
    question = story.question()
    assert question.kind is QuestionKind.TERMINATION
    assert "4712 node" in question.text
    story.answers(question.id, GONE)
    assert story.state.runs[run.id].exit == Exit(code=3)
    assert story.step("dev:a").tally.crashes == 1


def test_unknown_run_may_have_leftovers(story: Story) -> None:
    leaves(story, story.run_of("dev:a"), Exit(code=0))
    (action,) = story.state.outbox.values()
    assert isinstance(action, End)


def test_many_are_not_all_named_to_people(story: Story) -> None:
    run = story.comes_alive("dev:a")
    leaves(story, run, Exit(code=0), *(Leftover(number, "sh") for number in range(100, 120)))
    assert "104 sh and more" in story.state.runs[run.id].evidence


def test_a_blocked_report_ahead_of_what_is_left_is_no_crash(story: Story) -> None:
    run = story.comes_alive("dev:a")
    story.reports("dev:a", ReportStatus.BLOCKED, run=run, blockers="no key")
    leaves(story, run, Exit(code=0))
    story.ends(run=story.state.runs[run.id])
    assert story.step("dev:a").tally.crashes == 0
