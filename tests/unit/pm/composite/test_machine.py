"""The machine of a composite skill: its table, its order, and that no phase ends without its memory (S1, S3, S5)."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.skill.state import read_session, step_outputs, write_session
from orchestrator.model.composite import Classified, Confidence, Domain, PhaseDone, SkillState
from orchestrator.model.errors import BadFile, Refused
from orchestrator.pm.plan.composite import machine
from orchestrator.pm.plan.composite.machine import ORDER, TRANSITIONS, Event
from tests.unit.skill_sessions import SKILL, TASK_ID, memory, session

MEMORIES = {phase.agent: memory(phase) for phase in SKILL.phases}
ACTS = {
    "task id": lambda each: machine.task_id_made(each, TASK_ID),
    "domain": lambda each: machine.domain_classified(each, Classified(Domain.TECHNICAL, Confidence.CERTAIN)),
    "skill": lambda each: machine.skill_read(each, SKILL),
    "context": machine.memory_created,
    "clarification": lambda each: machine.phase_done(each, MEMORIES["clarification"]),
    "research": lambda each: machine.phase_done(each, MEMORIES["research"]),
    "summary": lambda each: machine.summarized(each, MEMORIES),
    "end": lambda each: machine.validated(each, MEMORIES),
}
COURSE = list(ACTS)


def after(count):
    """Return a session after so many acts of the course."""
    current = session()
    for name in COURSE[:count]:
        current = ACTS[name](current)
    return current


def test_the_course_leads_through_all_states():
    states = list(dict.fromkeys(after(count).state for count in range(len(COURSE) + 1)))
    assert states == list(ORDER)
    assert list(step_outputs(after(len(COURSE)))) == ["1", "2", "3", "4", "5", "6"]


def test_the_table_goes_forward_and_reaches_every_state():
    assert set(TRANSITIONS.values()) == set(ORDER[1:])
    assert {event for _, event in TRANSITIONS} == set(Event)
    assert all(
        ORDER.index(target) - ORDER.index(state) in {0, 1} for (state, _), target in TRANSITIONS.items()
    )


@pytest.mark.parametrize(("count", "name"), list(product(range(len(COURSE) + 1), COURSE)))
def test_what_does_not_come_now_is_refused(count, name):
    """Each act in each place of the course: only the next one is taken. The last may be repeated."""
    current = after(count)
    if name == COURSE[min(count, len(COURSE) - 1)]:
        assert ACTS[name](current) == after(min(count + 1, len(COURSE)))
    else:
        with pytest.raises(Refused):
            ACTS[name](current)


@given(st.lists(st.sampled_from(COURSE), max_size=30))
def test_any_acts_lead_along_the_course(names):
    """Whatever is tried, in whatever order: the session stands somewhere on the one course."""
    current, count = session(), 0
    for name in names:
        try:
            current = ACTS[name](current)
        except Refused:
            continue
        count = min(count + 1, len(COURSE))
    assert current == after(count)
    assert machine.checked(read_session(write_session(current), "state.json")) == current


@pytest.mark.parametrize("data", [None, b"", b"**Status:** COMPLETE", MEMORIES["research"]], ids=repr)
def test_a_phase_ends_by_its_own_complete_memory_only(data):
    with pytest.raises(BadFile):
        machine.phase_done(after(4), data)


@pytest.mark.parametrize("act", [machine.summarized, machine.validated])
@pytest.mark.parametrize("agent", ["clarification", "research"])
def test_a_memory_that_disappeared_holds_up_the_end(act, agent):
    current = after(6 if act is machine.summarized else 7)
    left = {name: data for name, data in MEMORIES.items() if name != agent}
    with pytest.raises(BadFile, match=f"{TASK_ID}-{agent}-memory.md: is missing"):
        act(current, left)


def test_the_summary_has_what_each_agent_summed_up():
    data = {phase.agent: memory(phase, summary=f"{phase.id} went well.") for phase in SKILL.phases}
    assert machine.summarized(after(6), data).summary == (
        "Workflow completed successfully: develop-project, 2 phases.\n\n"
        "## clarification (clarification)\n\nclarification went well.\n\n## research (research)\n\nresearch went well."
    )


@pytest.mark.parametrize("count", range(len(COURSE) + 1))
@pytest.mark.parametrize("state", SkillState)
def test_a_state_changed_by_hand_is_refused(count, state):
    current = after(count)
    changed = replace(current, state=state)
    if changed == current or {state, current.state} == {SkillState.VALIDATE, SkillState.COMPLETE}:
        assert machine.checked(changed) == changed  # whether the end is true is looked up by `complete`
    else:
        with pytest.raises(Refused):
            machine.checked(changed)


CLAIM = PhaseDone("research", "research", f".claude/memory/{TASK_ID}-research-memory.md")


@pytest.mark.parametrize(
    ("count", "change"),
    [
        (4, {"phases_completed": (CLAIM,)}),
        (5, {"phases_completed": ()}),
        (6, {"phases_completed": (CLAIM,)}),
        (6, {"phases_completed": (CLAIM, CLAIM)}),
        (6, {"memory_file": "/etc/passwd"}),
        (6, {"task_id": "000000000000"}),
        (6, {"config": replace(SKILL, phases=SKILL.phases[:1])}),
        (6, {"skill": "other"}),
        (5, {"config": None}),
        (5, {"summary": "Done."}),
    ],
)
def test_outputs_changed_by_hand_are_refused(count, change):
    changed = replace(after(count), **change)
    if change == {"phases_completed": ()}:  # a step back is the same work again, and no way round it
        assert machine.checked(changed).phase == SKILL.phases[0]
        return
    with pytest.raises(Refused):
        machine.checked(changed)


def test_a_claimed_phase_is_looked_up_before_the_end():
    """A hand may write a state file as the machine would. What it claims is read again before the session ends."""
    claimed = machine.checked(after(6))
    with pytest.raises(BadFile):
        machine.summarized(claimed, {})
