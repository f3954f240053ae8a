"""The plan family `workflow`: who may run when, and what the end of a turn means (docs/explanation/workflows.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Exit
from orchestrator.model.task import AgentOverrides, Brief, Config, TaskState, WorkspaceKind
from orchestrator.model.workflow import (
    Bounds,
    Checkpoint,
    CriterionPlan,
    Escalation,
    WorkflowPlan,
)
from orchestrator.model.workflow_records import (
    AgentStatus,
    NoteKind,
    NoteStatus,
    PocDecision,
    PocEvidence,
    Resolver,
)
from orchestrator.pm.plan.families.workflow import cast
from orchestrator.pm.plan.workflow_obstacles import obstacles
from orchestrator.pm.policies.turn_ends import report_of, subjects_of
from tests.unit.pm.workflows import JUDGE, WorkflowStory, doer, note, other_judge, plan_of, poc

ROOMY = Limits(max_concurrent_runs=10)
CRASH = Exit(code=1)


def test_agent_runs_as_its_persona_whatever_its_name() -> None:
    """A definition that has the name of an agent is not meant, unless task.md says something of that agent."""
    plan = plan_of(doer("architect"), doer("b", persona="architect"))
    found = {name: Agent(name, command=(name,)) for name in ("architect", "dev", "review")}
    own = Brief("T", "G", ("It works",), Config(agents={"architect": AgentOverrides()}), workflow=plan)
    for brief, program in ((replace(own, config=Config()), "dev"), (own, "architect")):
        made = cast(brief, found)
        assert made["architect"].command == (program,)
        assert made["b"].command == ("architect",)


def test_workflow_runs_to_its_end() -> None:
    """The dependent starts when its need is verified, not when that claims to be ready; the criterion is marked."""
    story = WorkflowStory(plan_of(doer("a"), doer("b", "a")))
    story.starts()
    assert story.works_on() == {"do:a"}
    story.leaves("do:a")
    assert story.works_on() == {"verify:a"}
    story.judges("verify:a")
    assert story.works_on() == {"do:b"}
    assert not story.state.criteria
    story.verified("b")
    assert story.task() is TaskState.COMPLETE
    assert [mark.met for mark in story.state.criteria] == [True]
    assert story.status("b") is AgentStatus.COMPLETE


def test_independent_agents_run_at_once() -> None:
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c")), limits=ROOMY)
    story.starts()
    assert story.works_on() == {"do:a", "do:b", "do:c"}


def test_max_parallel_caps() -> None:
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c"), max_parallel=2), limits=ROOMY)
    story.starts()
    assert story.works_on() == {"do:a", "do:b"}


def test_group_caps_its_own_agents_only() -> None:
    build = [doer(each, group="build") for each in ("a", "b", "c")]
    plan = plan_of(*build, doer("d"), groups=(("build", 2),), max_parallel=9)
    story = WorkflowStory(plan, limits=ROOMY)
    story.starts()
    assert story.works_on() == {"do:a", "do:b", "do:d"}


def test_overlapping_files_never_run_at_once() -> None:
    plan = plan_of(
        doer("a", files=("db/**",)), doer("b", files=("db/schema.sql",)), doer("c", files=("ui/",))
    )
    story = WorkflowStory(plan, limits=ROOMY)
    story.starts()
    assert story.works_on() == {"do:a", "do:c"}


def test_files_are_free_once_the_blocked_run_has_left() -> None:
    """An agent that is blocked gives its files up when its process has ended, not when it said so."""
    story = WorkflowStory(plan_of(doer("a", files=("db/",)), doer("b", files=("db/",))), limits=ROOMY)
    story.starts()
    run = story.comes_alive("do:a")
    turn = story.turn("do:a", notes=(note(1, NoteStatus.ESCALATED),))
    story.lands(run.instance, report_of(story.state, run, turn, story.limits))
    assert story.works_on() == {"do:a"}
    story.ends(run=story.state.runs[run.id])
    assert story.works_on() == {"do:b"}


def test_verifier_runs_once_at_a_time() -> None:
    """Two agents wait for the same verifier; an auditor would find two runs of it otherwise."""
    story = WorkflowStory(plan_of(doer("a"), doer("b")), limits=ROOMY)
    story.starts()
    story.leaves("do:a")
    story.leaves("do:b")
    assert story.works_on() == {"verify:a"}


def test_waiting_for_a_verifier_holds_no_other_agent_up() -> None:
    """A and B wait for one verifier; C waits for nothing, and there is a place for it."""
    plan = plan_of(doer("a"), doer("b"), doer("c"), max_parallel=2)
    story = WorkflowStory(plan, limits=ROOMY)
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", claim=None)
    story.leaves("do:b")
    assert story.works_on() == {"verify:a", "do:c"}


def test_two_verifiers_run_at_once() -> None:
    other = other_judge("other")
    story = WorkflowStory(plan_of(doer("a"), doer("b", verifier="other"), JUDGE, other), limits=ROOMY)
    story.starts()
    story.leaves("do:a")
    story.leaves("do:b")
    assert story.works_on() == {"verify:a", "verify:b"}


def test_handoff_of_an_agent_is_prose() -> None:
    """An agent that lays down COMPLETE itself has not handed in: only its files count."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.comes_alive("do:a")
    story.reports("do:a")
    assert story.step("do:a").state is StepState.WORKING
    assert story.works_on() == {"do:a"}


def test_each_run_is_a_fresh_conversation() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", claim=AgentStatus.WORKING)
    assert not story.run_of("do:a").resumes


@pytest.mark.parametrize(
    "said",
    [
        {"claim": AgentStatus.WORKING},
        {"claim": None},
        {"claim": AgentStatus.REVIEW},
        {"claim": AgentStatus.VERIFIED},
        {"claim": AgentStatus.COMPLETE},
        {"claim": AgentStatus.FAILED},
        {"claim": AgentStatus.BLOCKED},
        {"session": None},
        {"missing": ("task_output/a.sql",)},
        {"faults": ("shared_status.json is no JSON",)},
        {"stale": "other_1764254000"},
        {"notes": (note(1),)},
    ],
    ids=lambda said: " ".join(f"{key}={value}"[:30] for key, value in said.items()),
)
def test_turn_that_does_not_hold_is_asked_once(said: dict[str, Any]) -> None:
    """One more run with the reason; it counts neither as a crash nor as a failure. Then somebody is asked."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", **said)
    tally = story.step("do:a").tally
    assert (tally.asks, tally.crashes, tally.rejections) == (1, 0, 0)
    assert story.works_on() == {"do:a"}
    assert "not accepted" in story.order_of("do:a").instructions
    story.leaves("do:a", **said)
    assert story.step("do:a").state is StepState.BLOCKED
    assert story.question().step == "do:a"
    assert story.status("a") is AgentStatus.BLOCKED


def test_escalated_note_blocks_whatever_is_claimed() -> None:
    """All notes of the agent stand in one question; the others go on."""
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c", "a")), limits=ROOMY)
    story.starts()
    notes = (
        note(1, NoteStatus.ESCALATED, kind=NoteKind.REQUIREMENTS),
        note(2, NoteStatus.ESCALATED),
        note(3, NoteStatus.RESOLVED),
    )
    story.leaves("do:a", notes=notes)
    assert story.status("a") is AgentStatus.BLOCKED
    assert story.status("c") is AgentStatus.PENDING
    assert "note_001 (requirements)" in story.question().text
    assert "note_002" in story.question().text
    assert (story.shown("a").notes_count, story.shown("a").unresolved_notes) == (3, 2)
    story.verified("b")
    assert story.task() is TaskState.WAITING


def test_answer_goes_into_the_notes_and_the_order() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", notes=(note(1, NoteStatus.ESCALATED), note(2, NoteStatus.RESOLVED)))
    story.answers(story.question().id, "Emails are unique")
    session = story.state.records["a"].session
    assert session is not None
    first, second = session.notes
    assert (first.status, first.resolved_by) == (NoteStatus.RESOLVED, Resolver.USER)
    assert first.resolution == "Emails are unique"
    assert second.resolved_by is Resolver.SELF
    assert "Emails are unique" in story.order_of("do:a").instructions
    assert story.status("a") is AgentStatus.WORKING
    story.leaves("do:a", notes=session.notes)
    assert story.status("a") is AgentStatus.READY


def test_agent_may_not_resolve_what_others_decide() -> None:
    """A note with a kind that its author resolved is open again, and is escalated when that is not mended."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    own = note(1, NoteStatus.RESOLVED, kind=NoteKind.SECURITY)
    story.leaves("do:a", notes=(own,))
    assert story.works_on() == {"do:a"}
    story.leaves("do:a", notes=(own,))
    assert story.step("do:a").state is StepState.BLOCKED


def test_refused_changes_of_notes_are_reported() -> None:
    """A note that was removed comes back; the next order of its author and the user's log name it."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", notes=(note(1, NoteStatus.RESOLVED),), claim=AgentStatus.WORKING)
    story.leaves("do:a")
    session = story.state.records["a"].session
    assert session is not None
    assert [each.id for each in session.notes] == ["note_001"]
    assert any("note_001" in text for text in story.state.notices)
    story.judges("verify:a", "no log")
    assert "put back" in story.order_of("do:a").instructions


def test_blocked_with_open_notes_escalates_them() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", claim=AgentStatus.BLOCKED, notes=(note(1),))
    session = story.state.records["a"].session
    assert session is not None
    assert [each.status for each in session.notes] == [NoteStatus.ESCALATED]
    assert story.status("a") is AgentStatus.BLOCKED


def test_blocked_without_a_note_gets_one_of_its_last_words() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    for _ in range(2):
        story.leaves("do:a", claim=AgentStatus.BLOCKED, words="I cannot reach the database")
    session = story.state.records["a"].session
    assert session is not None
    assert [each.description for each in session.notes] == ["I cannot reach the database"]
    assert "I cannot reach the database" in story.question().text


def test_open_notes_are_escalated_after_asking() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    for _ in range(2):
        story.leaves("do:a", claim=AgentStatus.REVIEW, notes=(note(1),))
    session = story.state.records["a"].session
    assert session is not None
    assert [each.status for each in session.notes] == [NoteStatus.ESCALATED]


def test_third_similar_question_is_a_loop() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    for number in range(1, 4):
        old = story.state.records["a"].session.notes if number > 1 else ()  # type: ignore[union-attr]
        asked = note(number, NoteStatus.ESCALATED, escalation_reason="unclear")
        story.leaves("do:a", notes=(*old, replace(asked, description="Which hash for passwords?")))
        if number < 3:
            assert story.question().kind is QuestionKind.STUCK
            story.answers(story.question().id, "The usual one")
    assert story.question().kind is QuestionKind.LOOP


def test_missing_evidence_goes_back_with_what_is_missing() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", "the log shows no test")
    assert story.works_on() == {"do:a"}
    assert story.step("do:a").tally.rejections == 1
    assert "the log shows no test" in story.order_of("do:a").instructions
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


def test_results_file_fails_even_beside_verified() -> None:
    """A false pass costs more than one more attempt."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", "no log", claim=AgentStatus.VERIFIED)
    assert story.works_on() == {"do:a"}


def test_fifth_failed_verification_asks() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    for _ in range(5):
        assert not story.state.open_questions
        story.leaves("do:a")
        story.judges("verify:a", "no log")
    assert story.question().step == "do:a"
    assert story.status("a") is AgentStatus.BLOCKED


def test_guidance_after_the_fifth_failure_counts_anew() -> None:
    story = WorkflowStory(plan_of(doer("a"), bounds=Bounds(verifications=1)))
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", "no log")
    story.answers(story.question().id, "Write the log with --verbose")
    assert story.step("do:a").tally.rejections == 0
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


def test_own_bound_of_an_agent_wins() -> None:
    story = WorkflowStory(plan_of(doer("a", own_bounds=(("verifications", 2),)), doer("b", "a")))
    story.starts()
    for _ in range(2):
        story.leaves("do:a")
        story.judges("verify:a", "no log")
    assert story.question().step == "do:a"


@pytest.mark.parametrize("said", [{"claim": None}, {"fault": "it is about another task"}])
def test_verifier_without_a_clear_verdict_is_asked(said: dict[str, Any]) -> None:
    """Neither pass nor fail, and a stale file."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", **said)
    assert story.works_on() == {"verify:a"}
    assert story.step("do:a").state is StepState.PASSED
    story.judges("verify:a", **said)
    assert story.question().step == "verify:a"
    assert story.status("a") is AgentStatus.BLOCKED


def test_outputs_that_change_again_are_handed_in_anew() -> None:
    """A pass of changed outputs is void. Those that change again, or are lost, are their own agent's to hand in."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", version="v2")
    assert story.works_on() == {"verify:a"}
    story.judges("verify:a", version="v2")
    assert story.works_on() == {"do:a"}
    assert "outputs" in story.step("do:a").feedback[-1]
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


def test_crash_behind_the_claim_does_not_matter() -> None:
    """What lies there is judged, not how the program ended: nothing is run again for it."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", CRASH)
    assert (story.works_on(), story.step("do:a").tally.crashes) == ({"verify:a"}, 0)
    story.judges("verify:a")
    assert story.task() is TaskState.COMPLETE


def test_fourth_crash_fails_and_asks() -> None:
    """Parallel agents go on, dependents wait."""
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c", "a")), limits=ROOMY)
    story.starts()
    for crashes in range(4):
        assert story.step("do:a").tally.crashes == crashes
        story.comes_alive("do:a")
        story.ends("do:a", CRASH)
        story.passes(400)
    assert story.status("a") is AgentStatus.FAILED
    assert story.question().step == "do:a"
    assert (story.status("b"), story.status("c")) == (AgentStatus.WORKING, AgentStatus.PENDING)


def test_given_up_agent_leaves_its_dependents_pending() -> None:
    hasty = doer("a", own_bounds=(("verifications", 1),))
    story = WorkflowStory(plan_of(hasty, doer("b", "a"), doer("c")), limits=ROOMY)
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", "no log")
    story.answers(story.question().id, "set-aside")
    assert (story.status("a"), story.status("b")) == (AgentStatus.FAILED, AgentStatus.PENDING)
    story.verified("c")
    assert story.task() is TaskState.PARTIAL


def test_work_only_in_task_output_completes() -> None:
    """Nothing changed in the worktree: the outputs that were verified are the work."""
    story = WorkflowStory(plan_of(doer("a")))
    story.commit = ""
    story.starts()
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


def test_shared_tree_takes_one_writer_at_a_time() -> None:
    plan = plan_of(doer("a"), doer("b"))
    story = WorkflowStory(plan, limits=ROOMY, workspace=WorkspaceKind.SHARED)
    story.starts()
    assert story.works_on() == {"do:a"}


def test_dependencies_stand_in_the_shared_status() -> None:
    story = WorkflowStory(plan_of(doer("a"), doer("b", "a")))
    story.starts()
    assert story.shown("b").dependencies == ("a",)
    assert story.shown("b").last_update is None
    assert story.shown("a").last_update == int(story.step("do:a").since)


def begun_poc() -> WorkflowStory:
    """Return the story of a proof of concept that is handed in, and of an agent that relies on it."""
    story = WorkflowStory(plan_of(poc("p"), doer("a", "p")))
    story.starts()
    story.leaves("do:p")
    return story


def test_poc_that_holds_lets_others_begin() -> None:
    """Its scratch tree is not merged: only what relies on it is."""
    story = begun_poc()
    assert Gate.MERGED not in story.step("verify:p").gates
    story.decides_on("verify:p", PocDecision.PROCEED, PocEvidence.PASS)
    assert story.works_on() == {"do:a"}
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


def test_poc_that_does_not_clearly_hold_asks() -> None:
    """It stays ready until the user decides; what relies on it has not started. `adapt`: test_running_adaptation."""
    story = begun_poc()
    story.decides_on("verify:p", PocDecision.ASK, PocEvidence.PARTIAL)
    assert "the driver is slow" in story.question().text
    assert (story.status("p"), story.status("a")) == (AgentStatus.READY, AgentStatus.PENDING)
    story.answers(story.question().id, "approve")
    assert story.works_on() == {"do:a"}


def test_guidance_goes_to_the_poc_itself() -> None:
    story = begun_poc()
    story.decides_on("verify:p", PocDecision.ASK, PocEvidence.FAIL)
    story.answers(story.question().id, "Try the other driver")
    assert story.works_on() == {"do:p"}
    assert "Try the other driver" in story.order_of("do:p").instructions


def test_poc_without_a_decision_is_asked_for() -> None:
    """`verified` in its entry decides nothing."""
    story = begun_poc()
    story.judges("verify:p", tries=True)
    assert story.works_on() == {"verify:p"}
    assert "poc_decision.json" in story.order_of("verify:p").instructions


def test_poc_without_evidence_is_done_again() -> None:
    story = begun_poc()
    story.judges("verify:p", "no measurement", tries=True)
    assert story.works_on() == {"do:p"}


def test_poc_that_is_given_up_takes_its_dependents_along() -> None:
    story = begun_poc()
    story.decides_on("verify:p", PocDecision.ASK, PocEvidence.FAIL)
    story.answers(story.question().id, "set-aside")
    assert story.task() is TaskState.FAILED
    assert (story.status("p"), story.status("a")) == (AgentStatus.FAILED, AgentStatus.PENDING)


def test_poc_of_an_abandoned_task_is_judged_again_by_a_start() -> None:
    """Its question was withdrawn, and nothing would have asked it again."""
    story = begun_poc()
    story.decides_on("verify:p", PocDecision.ASK, PocEvidence.PARTIAL)
    story.answers(story.question().id, "abandon")
    assert story.task() is TaskState.FAILED
    story.starts()
    assert story.works_on() == {"verify:p"}
    story.decides_on("verify:p", PocDecision.PROCEED, PocEvidence.PASS)
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


TOGETHER = (Checkpoint("c1", "judge", ("a", "b"), ("They fit",)),)


def test_checkpoint_opens_when_all_are_ready() -> None:
    """One run judges both; what depends on one of them starts when that has passed and is merged."""
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c", "a"), checkpoints=TOGETHER), limits=ROOMY)
    story.starts()
    story.leaves("do:a")
    assert story.works_on() == {"do:b"}
    assert story.status("a") is AgentStatus.READY
    story.leaves("do:b")
    assert story.works_on() == {"verify:c1"}
    story.judges_together("verify:c1")
    assert (story.status("a"), story.status("b")) == (AgentStatus.VERIFIED, AgentStatus.VERIFIED)
    story.verified("c")
    assert story.task() is TaskState.COMPLETE


def test_passes_at_a_checkpoint_stand() -> None:
    """B fails and is judged again, alone; A passed, and what needs it goes on meanwhile."""
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c", "a"), checkpoints=TOGETHER), limits=ROOMY)
    story.starts()
    story.leaves("do:a")
    story.leaves("do:b")
    story.judges_together("verify:c1", b=("the log is empty",))
    assert story.status("a") is AgentStatus.VERIFIED
    assert story.works_on() == {"do:b", "do:c"}
    assert "the log is empty" in story.order_of("do:b").instructions
    story.leaves("do:b")
    assert subjects_of(story.state, story.step("verify:c1")) == ("b",)
    story.judges_together("verify:c1")
    story.verified("c")
    assert story.task() is TaskState.COMPLETE


def test_checkpoint_goes_on_without_what_was_given_up() -> None:
    hasty = doer("a", own_bounds=(("asks", 0),))
    story = WorkflowStory(plan_of(hasty, doer("b"), checkpoints=TOGETHER), limits=ROOMY)
    story.starts()
    story.leaves("do:b")
    story.leaves("do:a", claim=AgentStatus.WORKING)
    assert not story.works_on()
    story.answers(story.question().id, "set-aside")
    assert story.works_on() == {"verify:c1"}
    story.judges_together("verify:c1")
    assert story.task() is TaskState.PARTIAL
    assert story.status("b") is AgentStatus.VERIFIED


def test_checkpoint_of_nothing_is_left_out() -> None:
    hasty = [doer(each, own_bounds=(("asks", 0),)) for each in ("a", "b")]
    story = WorkflowStory(plan_of(*hasty, doer("c"), checkpoints=TOGETHER), limits=ROOMY)
    story.starts()
    for agent in ("a", "b"):
        story.leaves(f"do:{agent}", claim=AgentStatus.WORKING)
        story.answers(story.question().id, "set-aside")
    story.verified("c")
    assert story.task() is TaskState.PARTIAL


_SHORT = doer("a")
_CLAIMING = doer("x", files=("db",))
_CHECKED = (Checkpoint("c1", "judge", ("a",)),)
_FOREIGN = (Checkpoint("c1", "other", ("a",)),)
_RESOLVED = Escalation(resolver="judge")


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (plan_of(doer("a", verifier="")), "no verifier"),
        (plan_of(doer("a", "b"), doer("b", "a")), "in a circle"),
        (plan_of(doer("a", "z")), "needs z"),
        (plan_of(poc("a"), doer("b"), checkpoints=TOGETHER), "decided alone"),
        (plan_of(doer("a", files=("db/x",)), doer("b", files=("db/**",)), checkpoints=TOGETHER), "its files"),
        (
            plan_of(doer("x", files=("db",)), doer("a", files=("db",)), doer("b", "x"), checkpoints=TOGETHER),
            "its files",
        ),
        (plan_of(doer("a"), criteria=()), "nothing meets"),
        (plan_of(doer("a"), criteria=(CriterionPlan("It works", ("a.e9",)),)), "a.e9"),
        (plan_of(doer("a"), doer("c1"), checkpoints=_CHECKED), "has the name of an agent"),
        (plan_of(doer("a"), checkpoints=_FOREIGN), "same verifier"),
        (plan_of(doer("a"), escalation=_RESOLVED), "escalation.resolver is"),
        (plan_of(doer("a"), doer("a")), "used twice"),
        (plan_of(), "no agent of it works"),
    ],
)
def test_plan_that_cannot_be_carried_out_is_refused(plan: WorkflowPlan, why: str) -> None:
    """What the engine does not do yet is refused at the start, not passed over in the night."""
    assert why in "; ".join(obstacles(plan, WorkflowStory(plan_of(_SHORT)).brief))


def test_sound_plan_lacks_nothing() -> None:
    plan = plan_of(_SHORT, doer("b", "a"))
    assert not obstacles(plan, WorkflowStory(plan).brief)
