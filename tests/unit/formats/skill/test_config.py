"""The configuration of a composite skill, and the rules for domains: each fault has its line (S2)."""

import json

import jsonschema
import pytest

from orchestrator.formats.skill.config import CONFIG_FILE, SCHEMA, read_skill, skill_fields
from orchestrator.formats.skill.domains import joined_rules, read_domain_rules
from orchestrator.model.composite import Context, Domain
from orchestrator.model.errors import BadFile
from orchestrator.shipped import shipped

FOLDER = shipped("agents") / "composite"
SHIPPED = sorted(FOLDER.glob(f"*/{CONFIG_FILE}"))
HEAD = "name: a-skill\nphases:\n  - id: look\n    agent: explore\n"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_a_shipped_skill_fits_reader_and_schema(path):
    skill = read_skill(path.read_bytes(), str(path))
    assert (skill.name, skill.match != ()) == (path.parent.name, True)
    assert all((shipped("agents") / f"{phase.agent}.md").is_file() for phase in skill.phases)
    jsonschema.Draft202012Validator(SCHEMA).validate(skill_fields(skill))


def test_patterns_say_which_memories_a_phase_reads():
    text = HEAD + (
        "  - id: plan\n    agent: plan\n"
        "  - id: make\n    agent: dev\n    context: all\n"
        "  - id: try\n    agent: test\n    context: [look]\n"
        "  - id: alone\n    agent: review\n    context: none\n"
    )
    skill = read_skill(text.encode(), "config.yaml")
    assert [skill.readable(phase) for phase in skill.phases] == [
        (),
        ("explore",),
        ("explore", "plan"),
        ("explore",),
        (),
    ]
    assert [phase.context for phase in skill.phases][-2:] == [("look",), Context.NONE]


def test_phases_alongside_count_as_one_for_those_after():
    """None of them reads another's memory file; `previous` of the phase after them is all of them."""
    beside = "    alongside: true\n    context: all\n"
    text = HEAD + (
        "  - id: ask\n    agent: plan\n"
        f"  - id: measure\n    agent: test\n{beside}"
        f"  - id: search\n    agent: architect\n{beside}"
        "  - id: make\n    agent: dev\n"
    )
    skill = read_skill(text.encode(), "config.yaml")
    assert [skill.readable(phase) for phase in skill.phases] == [
        (),
        ("explore",),
        ("explore",),
        ("explore",),
        ("plan", "test", "architect"),
    ]
    assert skill_of_json(skill_fields(skill)) == skill
    jsonschema.Draft202012Validator(SCHEMA).validate(skill_fields(skill))


def skill_of_json(fields):
    """Return the skill that is read back from what is written of it."""
    return read_skill(json.dumps(fields).encode(), "config.yaml")


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("", 0, "is empty"),
        ("name: a-skill\nphases: []\n", 1, "has 0 entries"),
        (HEAD + "  - id: look\n    agent: plan\n", 5, "a phase before is called"),
        (HEAD + "  - id: plan\n    agent: explore\n", 6, "memory files are named by agents"),
        (HEAD + "  - id: plan\n    agent: ../x\n", 6, "is no agent name"),
        (
            HEAD + "  - id: plan\n    agent: plan\n    context: [later]\n",
            7,
            "no phase before is called 'later'",
        ),
        (HEAD + "  - id: plan\n    agent: plan\n    context: some\n", 7, "`phases[1].context` is 'some'"),
        (HEAD + "    alongside: true\n", 5, "there is no phase before this one"),
        (
            HEAD + "  - id: plan\n    agent: plan\n    alongside: true\n    context: [look]\n",
            8,
            "no phase before is called 'look'",
        ),
        (HEAD + "force: true\n", 5, "has no key 'force'"),
    ],
)
def test_a_fault_is_named_with_its_line(text, line, fault):
    with pytest.raises(BadFile) as caught:
        read_skill(text.encode(), "config.yaml")
    (found,) = caught.value.faults
    assert fault in found.reason
    assert found.line == line


def test_rules_of_a_project_add_to_those_that_ship():
    ours = read_domain_rules((FOLDER / "domains.yaml").read_bytes(), "domains.yaml")
    assert all(ours[domain] for domain in Domain)
    joined = joined_rules(ours, read_domain_rules(b"personal: [my cat]\n", "domains.yaml"))
    assert joined[Domain.PERSONAL] == (*ours[Domain.PERSONAL], "my cat")


def test_a_domain_that_there_is_not_is_a_fault():
    with pytest.raises(BadFile, match="has no key 'legal'"):
        read_domain_rules(b"legal: [contract]\n", "domains.yaml")
