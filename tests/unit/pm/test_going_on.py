"""How a step goes on after a setback: in the same conversation, in a fresh one, and only then with a person's help."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.event import Event, EventKind
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit
from tests.unit.pm.story import Story

LINES = ("Traceback (most recent call last):", "KeyError: 'DSN'")


def talking(**limits: int) -> Story:
    """A story whose explorer has a conversation that can be resumed."""
    story = Story(limits=Limits(**limits))
    story.starts()
    begins_conversation(story, "explore")
    return story


def begins_conversation(story: Story, step: str) -> None:
    run = story.comes_alive(step)
    story.emits(step, Event(EventKind.STARTED, session=f"s-{run.id}"))


def crashes(story: Story, step: str, *, talks: bool = True) -> None:
    """The program of a step ends with status 7, and says why; the next one begins after its pause."""
    run = story.run_of(step)
    story.feed(f.RunGone(story.at, story.nonce(), run.id, Exit(code=7), LINES))
    story.passes(600)
    if story.step(step).state is StepState.WORKING and talks:
        begins_conversation(story, step)


def test_two_turns_without_a_handoff_begin_a_fresh_conversation() -> None:
    story = talking()
    story.ends("explore")
    asked = story.run_of("explore")
    assert asked.resumes
    begins_conversation(story, "explore")
    story.ends("explore")
    fresh = story.run_of("explore")
    assert story.state.open_questions == []
    assert story.state.runs[fresh.resumes].spent  # the tree is gone on with, the conversation is not
    assert "git diff" in story.order_of("explore").instructions
    for _ in range(2 + story.limits.max_crashes):
        begins_conversation(story, "explore")
        story.ends("explore")
        story.passes(600)
    assert "without a handoff" in story.question().text


def ends_its_turns(story: Story, step: str) -> None:
    """The turn of a step is over without a handoff, and so is the one in which it was told to write it."""
    run = story.run_of(step)
    for _ in range(2):
        story.emits(step, Event(EventKind.ENDED), waits=True)
    assert story.state.runs[run.id].ending is Ending.UNREPORTED
    story.ends(run=run)
    story.passes(600)


def test_fresh_conversation_without_handoff_is_no_question() -> None:
    """However it is seen that no handoff comes, by an exit or by turns that end, the bound is that of crashes."""
    story = talking()
    ends_its_turns(story, "explore")
    assert story.step("explore").tally.fresh == 1
    for _ in range(story.limits.max_crashes):
        begins_conversation(story, "explore")
        ends_its_turns(story, "explore")
        assert story.state.open_questions == []
    begins_conversation(story, "explore")
    ends_its_turns(story, "explore")
    assert "without a handoff" in story.question().text


def test_a_fourth_crash_begins_a_fresh_conversation() -> None:
    story = talking()
    for _ in range(story.limits.max_crashes + 1):
        crashes(story, "explore")
    assert story.state.open_questions == []
    assert story.step("explore").tally.fresh == 1
    order = story.order_of("explore").instructions
    assert LINES[-1] in order
    for _ in range(story.limits.max_crashes + 1):
        crashes(story, "explore")
    assert story.step("explore").state is StepState.FAILED


def test_a_program_without_a_conversation_has_no_fresh_one() -> None:
    story = Story()
    story.starts()
    story.comes_alive("explore")
    for _ in range(story.limits.max_crashes + 1):
        crashes(story, "explore", talks=False)
    assert story.step("explore").state is StepState.FAILED
    assert story.step("explore").tally.fresh == 0


def test_a_question_about_a_crash_shows_its_cause() -> None:
    """The last lines are where the question is, and so is the command that shows all of them."""
    story = Story(limits=Limits(max_crashes=0))
    story.starts()
    run = story.comes_alive("explore")
    crashes(story, "explore", talks=False)
    assert LINES[-1] in story.question().text
    assert f"task logs {story.state.id} {run.id}" in story.question().text
    assert LINES[-1] in story.step("explore").why


def test_the_next_order_says_how_the_last_try_ended() -> None:
    story = Story()
    story.starts()
    story.comes_alive("explore")
    crashes(story, "explore", talks=False)
    order = story.order_of("explore").instructions
    assert "exited 7" in order
    assert LINES[-1] in order


def test_a_rejection_by_a_check_shows_what_it_printed() -> None:
    story = Story(checks=("test",)).planned("a")
    story.does("dev:a")
    run = story.comes_alive("test:a")
    story.feed(f.RunGone(story.at, story.nonce(), run.id, Exit(code=1), ("E assert 1 == 2", "1 failed")))
    assert "1 failed" in story.order_of("test:a").context
    story.rejects("test:a", "it fails")
    order_text = story.order_of("dev:a").instructions
    assert "E assert 1 == 2" in order_text
    assert "it fails" in order_text


def test_a_rejected_step_goes_on_with_its_work() -> None:
    """Its tree begins with what was rejected, its conversation goes on: nothing has to be done twice."""
    story = Story().planned("a")
    begins_conversation(story, "dev:a")
    first = story.run_of("dev:a")
    story.reports("dev:a")
    story.ends(run=first)
    story.rejects("test:a")
    step, again = story.step("dev:a"), story.run_of("dev:a")
    assert (step.attempt, step.carries, step.last_commit) == (2, True, "c1")
    assert again.resumes == first.id


@pytest.mark.parametrize(("answer", "carries"), [("retry", True), ("begin-anew", False), ("use uv", True)])
def test_an_answer_says_whether_the_work_is_gone_on_with(answer: str, *, carries: bool) -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a")
    begins_conversation(story, "dev:a")
    first = story.run_of("dev:a")
    story.reports("dev:a", ReportStatus.BLOCKED, blockers="no key")
    story.ends(run=first)
    story.answers("q1", answer)
    step, run = story.step("dev:a"), story.run_of("dev:a")
    assert step.carries is carries
    assert run.resumes == (first.id if carries else "")


def test_a_stopped_step_goes_on_where_it_was() -> None:
    story = Story().planned("a")
    begins_conversation(story, "dev:a")
    first = story.run_of("dev:a")
    story.stops()
    story.ends(run=first, how=Exit(signal=15))
    story.starts()
    assert story.run_of("dev:a").resumes == first.id
