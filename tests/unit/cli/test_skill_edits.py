"""An adversary edits the state file of a composite skill: no edit ends a phase, or a session (S3)."""

import json
from functools import partial
from pathlib import Path

import pytest

from orchestrator.cli.skill_driver import DONE, SkillDriver
from orchestrator.model.composite import context_file
from orchestrator.model.errors import BadFile, Refused
from orchestrator.records.skill_store import SkillStore
from tests.unit.cli.test_skill_driver import Desk
from tests.unit.skill_sessions import PROJECT, SKILL, STATE, memory, memory_path


@pytest.fixture
def desk():
    return Desk()


def forged_phases(text, other):
    """The phase at work is dropped: all that are left are complete."""
    text["step_outputs"]["3"]["skill_config"]["phases"].pop()
    text["fsm"] = {"state": "COMPLETE_WORKFLOW", "phase": None}


def forged_task(text, other):
    """It names the task of a session whose memory files are all complete."""
    own = text["step_outputs"]["1"]["task_id"]
    text["step_outputs"]["1"]["task_id"] = other
    text["step_outputs"]["4"]["memory_file"] = context_file(other)
    for each in text["step_outputs"]["5"]["phases_completed"]:
        each["memory_file"] = each["memory_file"].replace(own, other)


def forged_project(text, other):
    """It is of another folder, where all memory files lie."""
    text["project"] = "/elsewhere"


def forged_request(text, other):
    text["request"] = "Something less"


def without_seal(text, other):
    del text["seal"]


@pytest.mark.parametrize("forge", [forged_phases, forged_task, forged_project, forged_request, without_seal])
def test_no_edit_of_the_state_file_ends_a_phase(desk, forge):
    """Each of them belongs together as the machine would have it, and memory files lie where it says."""
    other = "f" * 12
    desk.act()
    while not desk.store.load().phases_completed:
        desk.act()
    own = desk.store.load().task_id
    for phase in SKILL.phases:
        for task_id, project in ((other, PROJECT), (own, Path("/elsewhere"))):
            desk.files.put(memory_path(phase, task_id, project), memory(phase, task_id))
    text = json.loads(desk.files.read(STATE))
    forge(text, other)
    desk.files.put(STATE, json.dumps(text).encode())
    for act in (
        desk.driver.advance_phase,
        partial(desk.driver.step, 6),
        desk.driver.complete,
        desk.driver.entry,
    ):
        with pytest.raises(Refused, match="changed by hand"):
            act()


def test_state_file_of_another_session_is_refused(desk):
    """One that has ended, laid over the one at work, does not end that."""
    desk.finish()
    ended, other = desk.files.read(STATE), STATE.with_name("other.json")
    desk.files.put(other, ended)
    driver = SkillDriver(SkillStore(desk.files, other, b"key"), desk.driver._around)
    with pytest.raises(Refused, match="another place"):
        driver.complete()


def test_layout_of_the_state_file_does_not_matter(desk):
    """`jq . FILE >FILE.new` says the same in other white space, and in another order."""
    desk.finish()
    text = json.loads(desk.files.read(STATE))
    desk.files.put(STATE, json.dumps(dict(reversed(text.items()))).encode())
    assert desk.driver.complete() == DONE


def test_memory_file_ahead_of_its_phase_is_set_aside(desk):
    """It is complete, and nobody was told to work yet: the agent has to write another one."""
    desk.act()
    while desk.store.load().task_id is None:
        desk.act()
    task_id = desk.store.load().task_id
    for phase in SKILL.phases:
        desk.files.put(memory_path(phase, task_id), memory(phase, task_id))
    for _ in range(3):
        desk.act()
    with pytest.raises(BadFile, match="has to write it"):
        desk.driver.advance_phase()
    first, second = SKILL.phases
    desk.files.put(memory_path(first, task_id), memory(first, task_id))
    desk.driver.advance_phase()
    with pytest.raises(BadFile, match="has to write it"):
        desk.driver.advance_phase()
    assert desk.files.read(
        memory_path(second, task_id).with_stem(f"{task_id}-research-memory-before-research")
    )
