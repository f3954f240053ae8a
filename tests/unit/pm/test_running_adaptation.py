"""Adaptation of a running workflow: only what the edits name changes."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending
from orchestrator.model.task import TaskState
from orchestrator.model.workflow import EditKind, EvidenceWanted, Input, PlanEdit
from orchestrator.model.workflow_records import AgentStatus, Effect, PocDecision, PocEvidence
from tests.unit.pm.workflows import WorkflowStory, doer, plan_of, poc

ROOMY = Limits(max_concurrent_runs=10)


def story_of(*agents: Any, **more: Any) -> WorkflowStory:
    story = WorkflowStory(plan_of(*agents, **more), limits=ROOMY)
    story.starts()
    return story


def reinstruct(agent: str) -> PlanEdit:
    return PlanEdit(EditKind.REINSTRUCT, agent, instructions="Do it otherwise.")


def needs(agent: str, *wanted: str) -> PlanEdit:
    return PlanEdit(EditKind.SET_NEEDS, agent, needs=wanted)


def effects(story: WorkflowStory) -> dict[str, Effect]:
    return dict(story.state.adaptations[-1].effects)


def test_new_agent_is_carried_out() -> None:
    """It starts when its needs are verified; nobody else is touched."""
    story = story_of(doer("a"), doer("b", "a"))
    before = story.run_of("do:a").id
    fresh = doer("n", "a")
    reply = story.adapts(PlanEdit(EditKind.ADD_AGENT, "n", added=fresh, instructions="Make n."))
    assert not story.last.refused, reply
    assert story.run_of("do:a").id == before
    assert story.state.records["n"].instructions == "Make n."
    assert story.state.brief.workflow is not None
    story.plan = story.state.brief.workflow
    story.verified("a")
    assert {"do:b", "do:n"} <= story.works_on()


def test_running_agent_is_ended_and_run_again() -> None:
    """In the same tree, with the reason in its next order; its failures count from 0 again."""
    story = story_of(doer("a"), doer("b"))
    run = story.comes_alive("do:a")
    other = story.run_of("do:b").id
    story.adapts(reinstruct("a"))
    assert story.state.runs[run.id].ending is Ending.SUPERSEDED
    assert effects(story) == {"a": Effect.CLAIM_NOT_TAKEN}
    story.ends(run=story.state.runs[run.id])
    assert "The plan was adapted" in story.order_of("do:a").instructions
    assert story.step("do:a").carries
    assert story.run_of("do:b").id == other


def test_verified_agent_works_again_and_its_dependents_stay() -> None:
    """What was built on it is run again only if the new version has another content."""
    story = story_of(doer("a"), doer("b", "a", inputs=(Input("a", "a.sql"),)), doer("c", "a"), doer("d"))
    story.verified("a")
    story.verified("b")
    running = story.comes_alive("do:c")
    story.adapts(reinstruct("a"))
    assert effects(story) == {"a": Effect.WORKS_AGAIN}
    assert story.status("b") is AgentStatus.VERIFIED
    assert story.state.runs[running.id].ending is Ending.NOT
    changed = (("a.sql", "other"), ("run.log", "hash"))
    story.leaves("do:a", outputs=changed, version="v2")
    story.judges("verify:a", version="v2")
    assert story.status("b") is AgentStatus.WORKING
    assert "a/task_output/a.sql" in story.order_of("do:b").instructions
    assert story.state.runs[running.id].ending is Ending.NOT


def test_rerun_of_equal_content_leaves_dependents_alone() -> None:
    story = story_of(doer("a"), doer("b", "a", inputs=(Input("a"),)), doer("d"))
    story.verified("a")
    story.verified("b")
    story.adapts(reinstruct("a"))
    story.verified("a")
    assert story.status("b") is AgentStatus.VERIFIED


def test_need_that_is_not_verified_ends_a_run() -> None:
    story = story_of(doer("a"), doer("b"))
    run = story.comes_alive("do:b")
    story.adapts(needs("b", "a"))
    assert effects(story) == {"b": Effect.ENDED_PENDING}
    story.ends(run=story.state.runs[run.id])
    assert story.status("b") is AgentStatus.PENDING
    story.verified("a")
    assert story.status("b") is AgentStatus.WORKING


def test_removed_agent_leaves_the_plan() -> None:
    """Its run is ended, and the workflow completes without it."""
    one, two = doer("a"), doer("b", evidence=(EvidenceWanted("e1", "it runs", "run.log"),))
    story = story_of(one, two)
    run = story.comes_alive("do:b")
    plan = story.state.brief.workflow
    assert plan is not None
    story.adapts(PlanEdit(EditKind.REMOVE_AGENT, "b"))
    story.ends(run=story.state.runs[run.id])
    assert story.step("do:b").state is StepState.SET_ASIDE
    story.verified("a")
    assert story.task() is TaskState.COMPLETE


def test_failed_agent_is_counted_and_tried_again() -> None:
    """The user changes the instructions of an agent that was given up; what needed it waits again."""
    story = story_of(doer("a"), doer("b", "a"), doer("d"))
    story.leaves("do:a", claim=AgentStatus.WORKING)
    story.leaves("do:a", claim=AgentStatus.WORKING)
    story.answers(story.question().id, "set-aside")
    assert story.status("a") is AgentStatus.FAILED
    story.adapts(reinstruct("a"))
    assert effects(story) == {"a": Effect.WORKS_AGAIN}
    assert story.status("a") is AgentStatus.WORKING
    story.verified("a")
    assert story.status("b") is AgentStatus.WORKING


def test_need_of_a_failed_agent_can_be_taken_away() -> None:
    story = story_of(doer("a"), doer("b", "a"))
    story.leaves("do:a", claim=AgentStatus.WORKING)
    story.leaves("do:a", claim=AgentStatus.WORKING)
    story.answers(story.question().id, "set-aside")
    assert story.task() is TaskState.FAILED
    story.adapts(needs("b"))
    assert story.status("b") is AgentStatus.WORKING
    assert story.task() is TaskState.RUNNING


@pytest.mark.parametrize(
    "edits",
    [(needs("b", "b"),), (needs("x"),), (), (reinstruct("a"), needs("b", "nobody"))],
    ids=["circle", "unknown", "none", "all or none"],
)
def test_refused_edits_change_nothing(edits: tuple[PlanEdit, ...]) -> None:
    story = story_of(doer("a"), doer("b"))
    before = story.state
    story.adapts(*edits)
    assert story.last.refused
    assert (story.state.brief, story.state.steps) == (before.brief, before.steps)


def test_edits_of_another_base_are_refused() -> None:
    story = story_of(doer("a"), doer("b"))
    assert "has changed" in story.adapts(reinstruct("a"), base="0" * 64)
    assert story.last.refused


def test_adaptations_chain() -> None:
    story = story_of(doer("a"), doer("b"))
    story.adapts(needs("b", "a"))
    story.adapts(needs("b"))
    first, second = story.state.adaptations
    assert (first.number, second.number, first.result) == (1, 2, second.base)
    assert second.result == first.base


def test_proof_of_concept_adapts_the_plan() -> None:
    """Edit and verified stand in one line of the journal; what it protects starts by the new plan."""
    story = story_of(poc("p"), doer("a", "p"), doer("b"))
    story.leaves("do:p")
    edit = PlanEdit(EditKind.SET_NEEDS, "a", needs=("p", "b"))
    story.decides_on("verify:p", PocDecision.ADAPT, PocEvidence.PARTIAL, edit)
    assert story.status("p") is AgentStatus.VERIFIED
    assert not story.state.open_questions
    assert "do:a" not in story.works_on()
    assert story.state.adaptations[0].by == "judge"


def test_adaptation_that_lowers_the_bar_waits_for_the_user() -> None:
    story = story_of(poc("p"), doer("a", "p"), doer("b"))
    story.leaves("do:p")
    edit = PlanEdit(EditKind.SET_EVIDENCE, "a", evidence=(EvidenceWanted("e1", "it exists", "run.log"),))
    story.decides_on("verify:p", PocDecision.ADAPT, PocEvidence.PARTIAL, edit)
    assert not story.state.adaptations
    assert "lowers" in story.question().text
    story.answers(story.question().id, "approve")
    assert story.status("p") is AgentStatus.VERIFIED
    assert story.state.adaptations[0].by == "user"


def test_edits_that_cannot_be_made_come_back_to_the_verifier() -> None:
    story = story_of(poc("p"), doer("a", "p"))
    story.leaves("do:p")
    story.decides_on("verify:p", PocDecision.ADAPT, PocEvidence.PARTIAL, needs("nobody"))
    assert story.step("verify:p").tally.asks == 1
    assert not story.state.adaptations
