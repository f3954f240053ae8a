"""No progress for 30 minutes: exploring or spinning? (H9, laws 4, 5, 8, 9, 12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Look, Nudge
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit, Quiet, Run, Sight, Turn
from orchestrator.model.task import Unanswered
from orchestrator.pm.policies.sights import evidence_of, found
from tests.unit.pm.story import AT, Story

HUNG = Sight(cpu=1.0)
DIALOG = Sight(cpu=1.0, dialog="yes or no", screen=("Overwrite? [y/N]",))


def at_work(sees: Sight | None, **limits: float) -> tuple[Story, Run]:
    """A story whose explorer works, and looks so when it is quiet."""
    story = Story(limits=Limits(**limits))  # type: ignore[arg-type]
    story.starts()
    run = story.comes_alive("explore")
    story.sees = sees
    return story, run


def actions(story: Story, kind: type) -> list[object]:
    return [action for action in story.state.outbox.values() if isinstance(action, kind)]


# When -------------------------------------------------------------------------------------------------


def test_nobody_is_looked_at_before_the_time() -> None:
    story, run = at_work(HUNG, inactivity_timeout=1800)
    story.works = False
    story.passes(1799)
    assert not actions(story, Look)
    story.passes(1)
    assert [action.run for action in actions(story, Look)] == [run.id]  # type: ignore[attr-defined]
    assert story.state.runs[run.id].ending is Ending.NOT


def test_a_look_is_asked_for_once_however_long_it_takes() -> None:
    story, run = at_work(HUNG, inactivity_timeout=1800, look_interval=600, max_looks=3)
    story.works = False
    story.passes(1800 + 2 * 600)
    assert len(actions(story, Look)) == 1
    story.passes(600)
    assert story.state.runs[run.id].ending is Ending.SILENT, "a look that never comes back is bounded"
    assert not actions(story, Look)


def test_a_report_that_came_meanwhile_makes_the_look_vain() -> None:
    story, run = at_work(HUNG)
    story.works = False
    story.passes(1800)
    story.works = True
    story.reports("explore")
    assert story.state.runs[run.id].ending is Ending.NOT
    story.ends(run=run)
    assert not actions(story, Look)


# What it means ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sight", "run", "quiet"),
    [
        (Sight(changed_at=AT + 1), {}, Quiet.MOVING),
        (Sight(changed_at=AT + 1, dialog="yes or no"), {}, Quiet.MOVING),
        (DIALOG, {}, Quiet.DIALOG),
        (Sight(printed=10, fresh=True), {}, Quiet.PRINTING),
        (Sight(printed=10, fresh=True), {"printed": 10}, Quiet.HUNG),
        (Sight(cpu=18.0), {}, Quiet.COMPUTING),
        (Sight(cpu=17.0), {}, Quiet.HUNG),
        (Sight(cpu=105.0), {"cpu": 100.0}, Quiet.HUNG),
        (Sight(cpu=106.0), {"cpu": 100.0}, Quiet.COMPUTING),
        (Sight(cpu=1.0, printed=20), {"cpu": 1.0, "printed": 10}, Quiet.SPINNING),
        (Sight(printed=20), {"printed": 10, "looks": 2}, Quiet.SPINNING),
        (Sight(cpu=1.0, artifacts=("done.md",)), {}, Quiet.UNREPORTED),
        (Sight(), {}, Quiet.HUNG),
    ],
)
def test_kinds_of_quiet_are_distinguished(sight: Sight, run: dict[str, float], quiet: Quiet) -> None:
    story, lives = at_work(None)
    known = replace(story.state.runs[lives.id], progress_at=AT, **run)  # type: ignore[arg-type]
    assert found(known, sight, story.limits, AT + 1, story.limits.stall_timeout) is quiet
    assert evidence_of(quiet, sight, known, 0)


# What is done -----------------------------------------------------------------------------------------


def test_run_with_changes_or_new_output_goes_on() -> None:
    story, run = at_work(Sight(printed=100, fresh=True))
    story.passes(1800)
    now = story.state.runs[run.id]
    assert (now.turn, now.ending, now.progress_at) == (Turn.BUSY, Ending.NOT, story.at)
    story.sees = Sight(changed_at=story.at + 900)
    story.passes(1800)
    assert story.state.runs[run.id].progress_at == story.at - 900


def test_one_that_only_computes_has_a_bounded_time() -> None:
    story, run = at_work(Sight(cpu=1000.0), inactivity_timeout=1800, look_interval=600, max_looks=3)
    for spent in range(3):
        assert story.state.runs[run.id].ending is Ending.NOT
        story.sees = Sight(cpu=1000.0 * (spent + 1))
        story.passes(1800 if not spent else 600)
    assert story.state.runs[run.id].ending is Ending.SILENT
    story.ends(run=run, how=Exit(signal=15))
    assert "computes and shows nothing" in story.step("explore").why


def test_hung_run_is_ended_and_its_work_continued() -> None:
    """The next run is told why."""
    story, run = at_work(HUNG)
    story.passes(1800)
    assert story.state.runs[run.id].ending is Ending.SILENT
    story.ends(run=run, how=Exit(signal=15))
    assert story.step("explore").keep_tree
    story.passes(1)
    assert story.run_of("explore").resumes == run.id
    assert "shows nothing and does nothing" in story.order_of("explore").instructions


def test_one_that_listens_is_nudged_once_before_it_is_ended() -> None:
    story, run = at_work(Sight(cpu=1.0, listens=True), max_nudges=1)
    story.works = False
    story.passes(1800)
    story.works = True
    story.feed(f.Looked(story.at, story.nonce(), run.id, story.sees))
    assert story.state.runs[run.id].nudges == 1
    assert story.state.runs[run.id].ending is Ending.NOT
    assert not actions(story, Nudge), "it is never typed again, whatever became of it"
    story.passes(600)
    assert story.state.runs[run.id].ending is Ending.SILENT


def test_work_without_a_handoff_is_asked_for_and_not_done_twice() -> None:
    story, run = at_work(Sight(cpu=1.0, artifacts=("survey.md",)))
    story.passes(1800)
    assert story.state.runs[run.id].ending is Ending.UNREPORTED
    story.ends(run=run, how=Exit(signal=15))
    assert story.step("explore").tally.asks == 1
    assert story.step("explore").keep_tree
    assert "stays done" in story.order_of("explore").instructions


def test_a_dialog_becomes_one_question_and_nothing_is_typed() -> None:
    story, run = at_work(Sight(cpu=1.0, dialog="yes or no", screen=("Overwrite? [y/N]",), listens=True))
    story.passes(1800 + 3 * 600)
    question = story.question()
    assert (question.kind, question.run) == (QuestionKind.DIALOG, run.id)
    assert "Overwrite? [y/N]" in question.text
    assert story.state.runs[run.id].turn is Turn.WAITING
    assert story.step("explore").state is StepState.WORKING
    assert story.state.runs[run.id].nudges == 0
    assert len(story.state.questions) == 1


def test_a_dialog_that_is_gone_takes_its_question_along() -> None:
    story, run = at_work(DIALOG)
    story.passes(1800)
    story.checks_in(explore=story.at)
    assert not story.state.open_questions
    assert story.state.runs[run.id].turn is Turn.BUSY


def test_answered_dialog_restarts_the_inactivity_timeout() -> None:
    story, run = at_work(DIALOG)
    story.passes(1800)
    story.answers(story.question().id, "continue")
    assert story.state.runs[run.id].progress_at == story.at
    assert story.state.runs[run.id].ending is Ending.NOT


def test_a_run_at_a_dialog_that_ends_leaves_no_question_behind() -> None:
    story, run = at_work(DIALOG)
    story.passes(1800)
    story.ends(run=run, how=Exit(code=1))
    assert not story.state.open_questions


def test_run_that_cannot_be_observed_is_not_ended_at_once() -> None:
    story, run = at_work(None, max_looks=2)
    story.passes(1800)
    now = story.state.runs[run.id]
    assert (now.quiet, now.turn, now.ending) == (Quiet.UNKNOWN, Turn.UNKNOWN, Ending.NOT)
    assert "tmux is frozen" in now.evidence
    story.passes(600)
    assert story.state.runs[run.id].ending is Ending.SILENT


def test_a_dialog_nobody_answers_takes_the_default_of_task_md() -> None:
    story = Story(limits=Limits(), unanswered=Unanswered("retry", 3600.0))
    story.starts()
    run = story.comes_alive("explore")
    story.sees = DIALOG
    story.passes(1800)
    assert story.question().deadline == story.at + 3600
    story.passes(3600)
    assert not story.state.open_questions
    assert story.state.runs[run.id].ending is Ending.SUPERSEDED
    assert story.state.questions["q1"].by == "task.md"


def test_one_that_is_overdue_as_well_is_not_looked_at() -> None:
    story, run = at_work(HUNG, inactivity_timeout=1800, max_run_time=3600)
    story.at += 3600
    story.checks_in()
    assert story.state.runs[run.id].ending is Ending.OVERDUE
    assert not actions(story, Look)
