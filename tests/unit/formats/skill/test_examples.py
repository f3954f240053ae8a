"""Every block of the document on skill orchestration reads as it stands, and is written back equal (S1, S5)."""

import json
import re
from dataclasses import replace
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from orchestrator.formats.skill import config, state
from orchestrator.formats.skill.state import read_session, step_outputs, write_session
from orchestrator.model.composite import Classified, Confidence, Domain, SkillState
from tests.unit.skill_sessions import session

EXAMPLES = (Path(__file__).parents[3] / "fixtures/skill/examples.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```json\n(.*?)^```", EXAMPLES, re.DOTALL | re.MULTILINE)


def document():
    """A state file with the document's own outputs."""
    whole = json.loads(write_session(replace(session(), state=SkillState.COMPLETE)))
    return whole | {"step_outputs": json.loads(BLOCKS[0])}


def test_the_outputs_are_read_and_written_back_equal():
    (block,) = BLOCKS
    read = read_session(json.dumps(document()).encode(), "state.json")
    assert step_outputs(read) == json.loads(block)
    assert list(step_outputs(read)) == list(json.loads(block))


def test_the_outputs_mean_what_the_document_says():
    read = read_session(json.dumps(document()).encode(), "state.json")
    assert read.task_id == "abc123def456"
    assert read.classified == Classified(Domain.TECHNICAL, Confidence.CERTAIN)
    assert read.config is not None
    assert [(phase.id, phase.agent) for phase in read.config.phases] == [
        ("clarification", "clarification"),
        ("research", "research"),
    ]
    assert read.memory_file == ".claude/memory/abc123def456-workflow-context.md"
    assert [done.phase for done in read.phases_completed] == ["clarification", "research"]


def test_a_state_file_is_read_as_it_was_written():
    read = read_session(json.dumps(document()).encode(), "state.json")
    assert read_session(write_session(read), "state.json") == read


def test_the_outputs_fit_the_published_schemas():
    parts = Registry().with_resources(
        [(each["$id"], Resource.from_contents(each)) for each in (config.SCHEMA, state.SCHEMA)]
    )
    checker = Draft202012Validator(state.SCHEMA, registry=parts)
    assert [error.message for error in checker.iter_errors(document())] == []
    broken = document()
    broken["step_outputs"]["3"]["skill_config"]["phases"][0]["agent"] = "No Name"
    assert [error.json_path for error in checker.iter_errors(broken)] == [
        "$.step_outputs['3'].skill_config.phases[0].agent"
    ]
