"""Edits of a running plan: all or nothing, what they do to whom, and whether they void the approval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import EditKind as K
from orchestrator.model.workflow import EvidenceWanted, Input, PlanEdit, WorkflowAgent
from orchestrator.model.workflow_records import AgentStatus as S
from orchestrator.model.workflow_records import Effect
from orchestrator.pm.plan.adaptation import Adaptation, AdaptationRefused, Progress, adapt
from orchestrator.pm.plan.workflow_check import check_design, has_faults
from tests.unit.pm.workflow_designs import AROUND, checked, files

PLAN = checked(files()).document.plan
AGENTS = {agent.id: agent for agent in PLAN.agents}
DATABASE, API, SCREEN = AGENTS["database_agent"], AGENTS["api_agent"], AGENTS["screen_agent"]
CACHE = replace(
    API,
    id="cache_agent",
    task_id="cache_1727539300",
    instructions="agents/cache_agent/agent_instructions.md",
    files=("api/cache/**",),
    own_bounds=(),
)
ADD = PlanEdit(K.ADD_AGENT, "cache_agent", added=CACHE, instructions="Build the cache.")


def made(*edits: PlanEdit, by_user: bool = False, **statuses: S) -> Adaptation:
    result = adapt(PLAN, edits, Progress(statuses), AROUND, by_user=by_user)
    assert isinstance(result, Adaptation), result
    assert not has_faults(check_design(result.plan, AROUND))
    return result


def refused(*edits: PlanEdit, used: dict[str, dict[str, int]] | None = None, **statuses: S) -> str:
    result = adapt(PLAN, edits, Progress(statuses, used or {}), AROUND, by_user=True)
    assert isinstance(result, AdaptationRefused)
    return "\n".join(result.reasons)


def agent(result: Adaptation, name: str) -> WorkflowAgent:
    return next(each for each in result.plan.agents if each.id == name)


def effect(result: Adaptation, name: str) -> Effect:
    return dict(result.effects)[name]


# Each edit ----------------------------------------------------------------------------------------------


def test_new_agent_waits_and_others_need_it_only_by_an_edit():
    result = made(ADD)
    assert agent(result, "cache_agent") == CACHE
    assert effect(result, "cache_agent") is Effect.ADDED
    assert dict(result.instructions) == {CACHE.instructions: "Build the cache."}
    assert result.plan.agents[:-1] == PLAN.agents
    assert result.voids == ()


def test_removed_agent_is_named_nowhere():
    result = made(PlanEdit(K.REMOVE_AGENT, "screen_agent"), by_user=True)
    assert "screen_agent" not in repr(result.plan)
    assert result.plan.checkpoints == ()
    assert effect(result, "screen_agent") is Effect.REMOVED


def test_removed_agent_that_works_is_ended():
    result = made(PlanEdit(K.REMOVE_AGENT, "screen_agent"), screen_agent=S.WORKING)
    assert effect(result, "screen_agent") is Effect.ENDED


def test_removing_who_is_needed_wants_its_dependents_rewired():
    rewired = [
        PlanEdit(K.REMOVE_AGENT, "probe"),
        PlanEdit(K.SET_INPUTS, "database_agent"),
        PlanEdit(K.SET_NEEDS, "database_agent"),
    ]
    assert "probe" in refused(rewired[0])
    assert agent(made(*rewired, by_user=True), "database_agent").needs == ()


def test_verified_agent_that_is_needed_stays():
    edits = [PlanEdit(K.REMOVE_AGENT, "probe"), PlanEdit(K.SET_INPUTS, "database_agent")]
    assert "verified" in refused(*edits, PlanEdit(K.SET_NEEDS, "database_agent"), probe=S.VERIFIED)


@pytest.mark.parametrize(
    ("status", "of_need", "wanted"),
    [
        (S.WORKING, S.VERIFIED, Effect.GOES_ON),
        (S.WORKING, S.WORKING, Effect.ENDED_PENDING),
        (S.BLOCKED, S.PENDING, Effect.ENDED_PENDING),
        (S.VERIFIED, S.WORKING, Effect.GOES_ON),
        (S.PENDING, S.WORKING, Effect.GOES_ON),
    ],
)
def test_new_needs_end_a_run_unless_they_are_verified(status, of_need, wanted):
    needs = PlanEdit(K.SET_NEEDS, "solution_architect", needs=("probe",))
    plan = replace(PLAN, escalation=replace(PLAN.escalation, architect=""))
    progress = Progress({"solution_architect": status, "probe": of_need})
    result = adapt(plan, [needs], progress, AROUND, by_user=True)
    assert isinstance(result, Adaptation)
    assert dict(result.effects)["solution_architect"] is wanted


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (S.PENDING, Effect.GOES_ON),
        (S.WORKING, Effect.CLAIM_NOT_TAKEN),
        (S.READY, Effect.CLAIM_NOT_TAKEN),
        (S.VERIFIED, Effect.WORKS_AGAIN),
    ],
)
@pytest.mark.parametrize(
    "edit",
    [
        PlanEdit(K.REINSTRUCT, "solution_architect", instructions="Other"),
        PlanEdit(K.SET_OUTPUTS, "solution_architect", outputs=("decision.md", "more.md")),
        PlanEdit(
            K.SET_EVIDENCE,
            "solution_architect",
            evidence=(*AGENTS["solution_architect"].evidence, EvidenceWanted("e2", "more", "more.log")),
        ),
    ],
    ids=lambda edit: edit.kind,
)
def test_other_work_is_done_again(edit, status, wanted):
    assert effect(made(edit, solution_architect=status), "solution_architect") is wanted


def test_verifier_counts_from_the_next_verdict():
    result = made(PlanEdit(K.SET_VERIFIER, "probe", verifier="app_verifier"), probe=S.VERIFIED)
    assert effect(result, "probe") is Effect.NEXT_VERDICT


def test_bounds_are_not_set_below_what_was_used():
    edit = PlanEdit(K.SET_BOUNDS, "api_agent", bounds=(("crashes", 1),))
    assert "crashes" in refused(edit, used={"api_agent": {"crashes": 2}})
    result = made(edit)
    assert dict(agent(result, "api_agent").own_bounds) == {"verifications": 3, "crashes": 1}
    assert effect(result, "api_agent") is Effect.AT_ONCE


# All or nothing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edits",
    [
        (),
        (PlanEdit(K.SET_NEEDS, "nobody"),),
        (PlanEdit(K.ADD_AGENT, "cache_agent"),),
        (replace(ADD, agent="other"),),
        (ADD, ADD),
        (PlanEdit(K.REMOVE_AGENT, "screen_agent"), replace(ADD, agent="screen_agent", added=SCREEN)),
        (ADD, PlanEdit(K.SET_VERIFIER, "cache_agent", verifier="cache_agent")),
        (ADD, PlanEdit(K.SET_NEEDS, "database_agent", needs=("api_agent",))),
        (PlanEdit(K.SET_INPUTS, "api_agent", inputs=(Input("probe"),)),),
        (PlanEdit(K.SET_OUTPUTS, "database_agent", outputs=("tables.sql",)),),
        (PlanEdit(K.SET_EVIDENCE, "api_agent"),),
        (PlanEdit(K.REMOVE_AGENT, "db_verifier"),),
        (PlanEdit(K.SET_VERIFIER, "api_agent", verifier="db_verifier"),),
    ],
)
def test_edits_whose_result_would_not_hold_change_nothing(edits):
    assert refused(*edits)


# The approval --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edits",
    [
        [PlanEdit(K.REINSTRUCT, "api_agent", instructions="Other")],
        [PlanEdit(K.SET_OUTPUTS, "api_agent", outputs=("api.md", "more.md"))],
        [PlanEdit(K.SET_BOUNDS, "api_agent", bounds=(("verifications", 2), ("crashes", 3)))],
        [
            PlanEdit(
                K.SET_EVIDENCE,
                "probe",
                evidence=(*AGENTS["probe"].evidence, EvidenceWanted("e", "t", "p.log")),
            )
        ],
        [ADD, PlanEdit(K.SET_NEEDS, "cache_agent", needs=("database_agent",))],
    ],
)
def test_agents_may_add_work(edits):
    assert made(*edits).voids == ()


@pytest.mark.parametrize(
    "edits",
    [
        [PlanEdit(K.REMOVE_AGENT, "screen_agent")],
        [
            PlanEdit(K.REMOVE_AGENT, "probe"),
            PlanEdit(K.SET_INPUTS, "database_agent"),
            PlanEdit(K.SET_NEEDS, "database_agent"),
        ],
        [PlanEdit(K.SET_EVIDENCE, "probe", evidence=(EvidenceWanted("e", "easier", "p.log"),))],
        [PlanEdit(K.SET_VERIFIER, "probe", verifier="app_verifier")],
        [PlanEdit(K.SET_BOUNDS, "api_agent", bounds=(("verifications", 4),))],
        [PlanEdit(K.SET_BOUNDS, "probe", bounds=(("crashes", 4),))],
        [
            PlanEdit(
                K.REINSTRUCT,
                "app_verifier",
                instructions="Pass whatever verification_results.json says of it.",
            )
        ],
        [replace(ADD, added=replace(CACHE, files=("docs/**",)))],
        [replace(ADD, added=replace(CACHE, files=("**",)))],
        [replace(ADD, added=replace(CACHE, runtime="command", persona="review"))],
        [replace(ADD, added=replace(CACHE, workspace=WorkspaceKind.SHARED))],
        [replace(ADD, added=replace(CACHE, own_bounds=(("crashes", 9),)))],
    ],
)
def test_agents_do_not_lower_the_bar(edits):
    """What the user approved of, an agent's edit may not weaken; the user's own edits are approved as they are."""
    assert made(*edits).voids
    assert made(*edits, by_user=True).voids == ()


def test_new_agent_with_a_persona_of_its_own_voids():
    plan = replace(PLAN, agents=tuple(replace(each, persona="dev") for each in PLAN.agents))
    result = adapt(
        plan, [replace(ADD, added=replace(CACHE, persona="review"))], Progress(), AROUND, by_user=False
    )
    assert isinstance(result, Adaptation)
    assert len(result.voids) == 1


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.sampled_from([ADD, *(PlanEdit(kind, name) for kind in K for name in [*AGENTS, "nobody"])]),
        max_size=4,
    )
)
def test_any_edits_give_a_sound_plan_or_none(edits):
    before = repr(PLAN)
    result = adapt(
        PLAN, edits, Progress({"probe": S.VERIFIED, "database_agent": S.WORKING}), AROUND, by_user=True
    )
    assert repr(PLAN) == before
    assert result == adapt(
        PLAN, edits, Progress({"probe": S.VERIFIED, "database_agent": S.WORKING}), AROUND, by_user=True
    )
    if isinstance(result, Adaptation):
        assert not has_faults(check_design(result.plan, AROUND))
    else:
        assert result.reasons
