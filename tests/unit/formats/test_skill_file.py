import pytest

from orchestrator.formats.skill_file import DESCRIPTION, read_skill
from orchestrator.model.errors import BadFile
from orchestrator.model.skills import Skill


def read(text, folder="dds-testing"):
    return read_skill(text.encode(), "SKILL.md", folder)


def faults(text, folder="dds-testing"):
    with pytest.raises(BadFile) as caught:
        read_skill(text if isinstance(text, bytes) else text.encode(), "SKILL.md", folder)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "description",
    [
        "description: How to test DDS writers",
        "description: 'How to test DDS writers'",
        'description: "How to test DDS writers"',
        "description: How to test\n  DDS writers",
        "description:\n  How to test DDS\n  writers",
        "description: |\n  How to test\n  DDS writers",
        "description: >-  # folded\n  How to test\n\n  DDS writers\nlicense: MIT",
    ],
)
def test_a_description_is_read_however_yaml_writes_it(description):
    text = f"---\nname: dds-testing\n{description}\n---\n\n# DDS\n"
    assert read(text) == Skill("dds-testing", "How to test DDS writers", "SKILL.md")


def test_fields_of_others_are_passed_over():
    text = (
        "---\nname: dds-testing\ndescription: Tests DDS\nallowed-tools: [Read, Write]\n"
        "metadata:\n  version: 1\n  tags: {a: b}\nhooks: !odd &x *y\n---\nbody\n"
    )
    assert read(text).description == "Tests DDS"


def test_the_folder_names_a_skill_that_does_not_name_itself():
    assert read("---\ndescription: x\n---\n").name == "dds-testing"


def test_long_description_is_cut_and_cleaned():
    found = read(f"---\ndescription: \x1b[2J{'long ' * 400}\n---\n")
    assert len(found.description) == DESCRIPTION
    assert "\x1b" not in found.description


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# DDS\n", "line 1: has no front matter"),
        ("---\nname: x\n", "never closed"),
        ("---\nname: x\n---\n", "has no `description`"),
        ("---\nname: ../x\ndescription: y\n---\n", "is no skill name"),
        ("---\ndescription: &x y\n---\n", "an anchor"),
        ("---\nname: x\n\ndescription: 'y\n---\n", "line 4: "),
        (b"\xff\xfe", "UTF-16"),
        (b"---\nname: \xff\n---\n", "is not UTF-8"),
    ],
)
def test_what_does_not_read_is_refused_with_its_place(text, why):
    assert why in faults(text)[0]
