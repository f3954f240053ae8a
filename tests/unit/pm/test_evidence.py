"""Success criteria are met by evidence that exists, and by nothing that is only said (H10, U11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.progress_view import pm_view
from orchestrator.model import facts as f
from orchestrator.model.actions import Notify, ResolveEvidence
from orchestrator.model.evidence import EvidenceKind, Resolution
from orchestrator.model.handoff import CriterionMark, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.notification import NotificationRule
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Exit, Purpose
from orchestrator.model.task import AcceptedEvidence, AfterRejections, AgentOverrides, TaskState
from orchestrator.pm.state.results import counts
from tests.unit.pm.story import CRITERIA, MET, Story, plan_of


def at_accept(**config: object) -> Story:
    """A story of one subtask whose check passed, and of which only the last review is left."""
    story = Story(checks=("test",), **config).planned("a")  # type: ignore[arg-type]
    story.does("dev:a")
    check = story.comes_alive("test:a")
    story.ends(run=check)
    story.approves("test:a")
    story.approves("review:a")
    return story


def marks(*evidence: str) -> tuple[CriterionMark, ...]:
    return tuple(CriterionMark(text, met=True, evidence=evidence) for text in CRITERIA)


def test_rejection_with_each_criterion_met_is_written_again() -> None:
    """A last review that rejected the work and marked all criteria as met made the task complete."""
    story = at_accept(after_rejections=AfterRejections.ASK)
    story.does("accept", criteria=MET, verdict=Verdict.REJECTED)
    assert "rejects the work" in story.order_of("accept").instructions
    story.does("accept", criteria=MET, verdict=Verdict.REJECTED)
    assert story.state.state is not TaskState.COMPLETE
    assert not any(mark.met for mark in story.state.criteria)


def test_criterion_marked_both_ways_is_not_met() -> None:
    """The mark that came last counted, whatever the others said."""
    story = at_accept(after_rejections=AfterRejections.ASK)
    both = (CriterionMark(CRITERIA[0], met=False, reason="a test fails"), *MET)
    story.does("accept", criteria=both)
    assert "not met" in story.order_of("accept").instructions
    story.does("accept", criteria=both)
    assert [(mark.met, mark.reason) for mark in story.state.criteria] == [(False, "a test fails"), (True, "")]


@pytest.mark.parametrize(
    ("evidence", "kind"),
    [
        ("shop/greet.py", EvidenceKind.FILE),
        ("shop/greet.py:12", EvidenceKind.FILE),
        ("artifacts/reviews/seen.md", EvidenceKind.TASK_FILE),
        ("3f2a91c", EvidenceKind.COMMIT),
    ],
)
def test_evidence_is_looked_up_before_it_counts(evidence: str, kind: EvidenceKind) -> None:
    story = at_accept()
    story.works = False
    story.comes_alive("accept")
    story.reports("accept", criteria=marks(evidence))
    decision = story.tends()
    (action,) = (each for each in decision.actions if isinstance(each, ResolveEvidence))
    assert [(each.kind, each.text) for each in action.references] == [(kind, evidence)]
    assert not story.state.criteria
    assert story.step("accept").state is StepState.CHECKING
    found = (Resolution(evidence, exists=True, detail="12 lines"),)
    story.feed(f.EvidenceResolved(story.at, "n", "accept", 1, found))
    assert [mark.evidence for mark in story.state.criteria] == [(evidence,), (evidence,)]
    assert story.state.criteria[0].details == ("12 lines",)
    story.works = True
    story.ends("accept")
    assert story.step("accept").state is StepState.PASSED


def resolved(story: Story, **seen: Any) -> None:
    """Let the last review be handed in, and its evidence be looked up, with what was seen of the branch."""
    story.works = False
    story.comes_alive("accept")
    story.reports("accept", criteria=marks("artifacts/reviews/seen.md"))
    story.tends()
    found = (Resolution("artifacts/reviews/seen.md", exists=True),)
    story.feed(f.EvidenceResolved(story.at, "n", "accept", story.step("accept").attempt, found, **seen))
    story.works = True
    story.ends("accept")


OWN = "artifacts/reviews/seen.md"
ON_WORD = "2 of 2 success criteria rest on their judge's word alone"


def judged(story: Story, *beside: str, leaves: bool = True) -> None:
    """Let the last review name a file that it wrote itself, and others beside it."""
    story.undone = (Notify,)
    story.works = False
    story.comes_alive("accept")
    story.reports("accept", criteria=marks(OWN, *beside))
    story.tends()
    found = (
        Resolution(OWN, exists=True, detail="4 bytes", own=True),
        *(Resolution(each, exists=True) for each in beside),
    )
    story.feed(f.EvidenceResolved(story.at, "n", "accept", story.step("accept").attempt, found))
    story.works = True
    if leaves:
        story.ends("accept")


def notified(story: Story) -> list[str]:
    """Return the title and the text of the notification that the task has ended."""
    return [
        text
        for each in story.state.outbox.values()
        if isinstance(each, Notify) and each.rule is NotificationRule.COMPLETE
        for text in (each.title, each.text)
    ]


@pytest.mark.parametrize("beside", [(), ("shop/greet.py",)])
def test_a_judges_own_file_is_called_its_own_word(beside: tuple[str, ...]) -> None:
    """The last review wrote a file of four bytes and named it: "2 of 2 success criteria met", and no more was said."""
    story = at_accept()
    judged(story, *beside, leaves=False)
    said = outcome_of(story.state, None).outcome
    assert counts(story.state).attested == (0 if beside else 2)
    assert ("2 of 2 success criteria met (2 only by what their judge wrote itself)" in said) is not bool(
        beside
    )


def test_complete_on_a_word_says_so_wherever_it_is_said() -> None:
    """ "complete" stood first everywhere, and that a judge's own file was all there is only in brackets behind it."""
    story = at_accept()
    judged(story)
    state = story.state
    assert state.state is TaskState.COMPLETE
    assert state.why == f"every step passed, {ON_WORD}"
    assert outcome_of(state, None).outcome.startswith(f"complete, but {ON_WORD}; 6 of 6 steps passed")
    assert pm_view(state, 0.0).on_word == ON_WORD
    title, text = notified(story)
    assert title == f"demo is complete: {ON_WORD}"
    assert text.startswith(state.why)


def test_complete_by_evidence_adds_nothing() -> None:
    story = at_accept()
    judged(story, "shop/greet.py")
    assert story.state.why == "every step passed, every criterion is met"
    assert outcome_of(story.state, None).outcome.startswith("complete; 6 of 6 steps passed")
    assert pm_view(story.state, 0.0).on_word == ""
    assert notified(story)[0] == "demo is complete"


def test_a_word_for_a_criterion_taken_out_is_not_counted() -> None:
    """Marks outlive an edit of task.md: "2 of 1" would be said."""
    story = at_accept()
    judged(story, leaves=False)
    brief = replace(story.state.brief, criteria=CRITERIA[:1])
    assert counts(replace(story.state, brief=brief)).attested == 1


def test_independent_evidence_is_asked_for_in_bounds() -> None:
    """Where `evidence: independent` stands in task.md, a judge's word alone ends the task in part; nobody is asked."""
    story = at_accept(evidence=AcceptedEvidence.INDEPENDENT)
    judged(story)
    assert story.works_on() == {"accept"}
    assert "nothing but what you wrote yourself" in story.order_of("accept").instructions
    judged(story)
    assert story.task() is TaskState.PARTIAL
    assert story.state.why.startswith(ON_WORD)
    assert [mark.met for mark in story.state.criteria] == [True, True]
    assert not story.state.open_questions


def test_independent_evidence_named_when_asked_completes() -> None:
    story = at_accept(evidence=AcceptedEvidence.INDEPENDENT)
    judged(story)
    judged(story, "shop/greet.py")
    assert story.task() is TaskState.COMPLETE
    assert story.state.why == "every step passed, every criterion is met"


def test_commits_that_take_each_other_back_are_no_work() -> None:
    """The second subtask removed what the first had added: two commits, and nothing changed."""
    story = at_accept()
    resolved(story, empty=True)
    assert story.task() is TaskState.PARTIAL
    assert "take each other back" in story.state.why


def test_the_branch_is_looked_at_where_only_checks_are_evidence() -> None:
    story = at_accept()
    story.works = False
    story.comes_alive("accept")
    story.reports("accept", criteria=marks("check test:a"))
    decision = story.tends()
    assert [each for each in decision.actions if isinstance(each, ResolveEvidence)]


@pytest.mark.parametrize("claim", ["shop/greet.py", "artifacts/reviews/never.md", "deadbeef", "/etc/passwd"])
def test_what_does_not_exist_is_no_evidence(claim: str) -> None:
    """Whatever its name begins with: the report is written again; claimed once more, the criterion is not met."""
    story = at_accept()
    story.nowhere = {claim}
    story.does("accept", criteria=marks(claim))
    assert claim in story.order_of("accept").instructions
    assert not story.state.criteria
    story.does("accept", criteria=marks(claim))
    assert [mark.met for mark in story.state.criteria] == [False, False]
    assert claim in story.state.criteria[0].reason
    assert claim in story.order_of("plan").instructions


def test_a_false_claim_twice_takes_no_other_mark_along() -> None:
    story = at_accept(after_rejections=AfterRejections.ASK)
    story.nowhere = {"shop/greet.py"}
    claimed = (MET[0], CriterionMark(CRITERIA[1], met=True, evidence=("shop/greet.py",)))
    story.does("accept", criteria=claimed)
    story.does("accept", criteria=claimed)
    assert [mark.met for mark in story.state.criteria] == [True, False]
    assert story.question().kind is QuestionKind.CRITERIA


def test_a_false_claim_beside_a_true_one_is_not_passed_over() -> None:
    story = at_accept()
    story.nowhere = {"shop/greet.py"}
    story.does("accept", criteria=marks("artifacts/reviews/seen.md", "shop/greet.py"))
    assert "shop/greet.py" in story.order_of("accept").instructions


def test_a_remark_beside_evidence_costs_nothing() -> None:
    story = at_accept()
    story.does("accept", criteria=marks("artifacts/reviews/seen.md", "12 passed in 3 s"))
    assert story.task() is TaskState.COMPLETE
    assert story.state.criteria[0].evidence == ("artifacts/reviews/seen.md",)


def test_words_alone_are_no_evidence() -> None:
    story = at_accept()
    story.does("accept", criteria=marks("trust me"))
    assert "nothing that can be looked up" in story.order_of("accept").instructions


def test_a_check_that_passed_is_evidence() -> None:
    story = at_accept()
    story.does("accept", criteria=marks("check test:a"))
    assert story.task() is TaskState.COMPLETE
    assert story.state.criteria[0].details == ("exited 0",)


def test_a_run_that_was_no_check_is_no_evidence() -> None:
    story = at_accept()
    work = story.state.runs.last_at_work_on("dev:a")
    assert work is not None
    story.does("accept", criteria=marks(work.id))
    assert "no check" in story.order_of("accept").instructions


def test_a_failing_check_is_no_evidence() -> None:
    """A check that is recorded and not judged may fail: a criterion cannot rest on it."""
    story = Story(checks=("review",)).planned("a")
    story.does("dev:a")
    story.approves("test:a")
    story.ends(run=story.comes_alive("review:a"))
    story.approves("review:a")
    check = story.comes_alive("accept")
    assert check.purpose is Purpose.CHECK
    story.ends(run=check, how=Exit(code=1))
    story.does("accept", criteria=marks("check accept"))
    assert "exited 1" in story.order_of("accept").instructions


def checked_before() -> Story:
    """A story whose checks before any change, by explore and by themselves, have passed."""
    story = Story(checks=("explore", "test"), agents={"test": AgentOverrides(check=("check",))})
    story.starts()
    for step in ("explore", "baseline"):
        story.ends(run=story.comes_alive(step))
    story.does("explore")
    story.does("plan", subtasks=plan_of("a"))
    story.does("dev:a")
    story.ends(run=story.comes_alive("test:a"))
    story.approves("test:a")
    story.approves("review:a")
    return story


@pytest.mark.parametrize("step", ["baseline", "explore"])
def test_a_check_before_any_change_is_no_evidence(step: str) -> None:
    """ "check baseline" was evidence of what was done later: of a suite that passed before anything was changed."""
    story = checked_before()
    story.does("accept", criteria=marks(f"check {step}"))
    assert story.works_on() == {"accept"}
    assert step in story.order_of("accept").instructions
    story.does("accept", criteria=marks("check test:a"))
    assert story.task() is TaskState.COMPLETE


def test_the_check_of_an_earlier_attempt_is_no_evidence() -> None:
    """It passed, and the work was rejected all the same: the check of the accepted work is another run."""
    story = Story(checks=("test",)).planned("a")
    named = []
    for attempt in (1, 2):
        story.does("dev:a")
        check = story.comes_alive("test:a")
        named.append(check.id)
        story.ends(run=check)
        (story.rejects if attempt == 1 else story.approves)("test:a")
    story.approves("review:a")
    story.does("accept", criteria=marks(named[0]))
    assert story.works_on() == {"accept"}
    story.does("accept", criteria=marks(named[1]))
    assert story.task() is TaskState.COMPLETE


def test_the_check_of_work_that_was_given_up_is_none() -> None:
    story = Story(
        checks=("test",), limits=Limits(max_rejections=1), after_rejections=AfterRejections.SET_ASIDE
    )
    story.planned("a", "b")
    story.does("dev:a")
    story.ends(run=story.comes_alive("test:a"))
    story.approves("test:a")
    story.rejects("review:a")
    story.does("dev:b")
    story.ends(run=story.comes_alive("test:b"))
    story.approves("test:b")
    story.approves("review:b")
    story.does("accept", criteria=marks("check test:a"))
    assert story.works_on() == {"accept"}


def test_a_check_by_an_order_after_the_work_is_evidence() -> None:
    story = Story(checks=("test",)).planned("a", "b")
    for subtask in ("a", "b"):
        if subtask == "b":
            story.spawns("test")
            story.ends(run=story.comes_alive("test-3"))
            story.does("test-3")
        story.does(f"dev:{subtask}")
        story.ends(run=story.comes_alive(f"test:{subtask}"))
        story.approves(f"test:{subtask}")
        story.approves(f"review:{subtask}")
    story.does("accept", criteria=marks("check test-3"))
    assert story.task() is TaskState.COMPLETE


def test_evidence_that_cannot_be_looked_up_is_asked_about() -> None:
    story = at_accept()
    story.works = False
    story.comes_alive("accept")
    story.reports("accept", criteria=MET)
    story.tends()
    story.feed(f.EvidenceResolved(story.at, "n", "accept", 1, reason="git hangs"))
    assert "git hangs" in story.question().text
    assert story.state.criteria == ()


def test_late_resolutions_change_nothing() -> None:
    story = at_accept()
    state = story.state
    story.feed(f.EvidenceResolved(story.at, "n", "accept", 1, (Resolution("x.py", exists=True),)))
    assert story.state == state


def test_unmet_criteria_are_planned_for_within_the_bound() -> None:
    """What is missing when all is done is planned, as an engineer would; a person is asked when that does not help."""
    story = at_accept()
    unmet = (MET[0], CriterionMark(CRITERIA[1], met=False, reason="no README"))
    story.does("accept", criteria=unmet)
    assert "no README" in story.order_of("plan").instructions
    story.does("plan", subtasks=())
    story.does("accept", criteria=unmet)
    story.does("plan", subtasks=())
    story.does("accept", criteria=unmet)
    assert story.question().kind is QuestionKind.CRITERIA
    assert story.step("plan").tally.replans == story.limits.max_replans


def test_unmet_criteria_end_in_part_where_task_md_sets_aside() -> None:
    """Whoever wants what was rejected set aside is not woken for it: the task ends as what it is."""
    story = at_accept(after_rejections=AfterRejections.SET_ASIDE)
    story.does("accept", criteria=(MET[0], CriterionMark(CRITERIA[1], met=False, reason="no README")))
    assert story.task() is TaskState.PARTIAL
    assert "no README" in story.step("accept").why
    assert not story.state.open_questions


def test_unmet_criteria_are_asked_about_where_task_md_says_so() -> None:
    story = at_accept(after_rejections=AfterRejections.ASK)
    story.does("accept", criteria=(MET[0], CriterionMark(CRITERIA[1], met=False, reason="no README")))
    assert "no README" in story.question().text


def named_and_absent(story: Story, criterion: str, *absent: str) -> None:
    """Let the last review mark a criterion as met by another file, while those that it names are not there."""
    story.works = False
    story.comes_alive("accept")
    marked = (CriterionMark(criterion, met=True, evidence=("greet.py",)),)
    story.reports("accept", criteria=marked)
    story.tends()
    found = (Resolution("greet.py", exists=True, detail="2 lines"),)
    attempt = story.step("accept").attempt
    story.feed(f.EvidenceResolved(story.at, "n", "accept", attempt, found, absent=absent))
    story.works = True
    story.ends("accept")


def asks_for(criterion: str) -> Story:
    story = at_accept(after_rejections=AfterRejections.ASK)
    story.feed(f.BriefChanged(story.at, replace(story.brief, criteria=(criterion,))))
    return story


def test_a_file_that_a_criterion_states_must_be_there() -> None:
    """ "bye.py exists" was met by greet.py, which passed as evidence because it exists: COMPLETE without bye.py."""
    story = asks_for("bye.py exists")
    said = (
        "`bye.py`, which the criterion says is there, is not on the branch task/demo, nor among the artifacts"
    )
    named_and_absent(story, "bye.py exists", "bye.py")
    assert said in story.order_of("accept").instructions
    while not story.state.open_questions:
        named_and_absent(story, "bye.py exists", "bye.py")
    (mark,) = story.state.criteria
    assert not mark.met
    assert said in mark.reason


def test_a_file_that_a_criterion_only_names_is_asked_for_once() -> None:
    """The judge may be right: a program may write that file. Its word counts, and what is absent is shown with it."""
    story = asks_for("`bye.py` prints bye")
    named_and_absent(story, "`bye.py` prints bye", "bye.py")
    assert "'`bye.py` prints bye' names `bye.py`: not on the branch" in story.order_of("accept").instructions
    named_and_absent(story, "`bye.py` prints bye", "bye.py")
    (mark,) = story.state.criteria
    assert mark.met
    assert mark.details == (
        "2 lines; `bye.py`, which the criterion names, is not on the branch task/demo, nor among the artifacts",
    )


def test_a_file_that_is_to_be_gone_may_be_gone() -> None:
    story = asks_for("bye.py is removed")
    named_and_absent(story, "bye.py is removed", "bye.py")
    assert story.state.state is TaskState.COMPLETE
    assert story.state.criteria[0].details == ("2 lines",)
