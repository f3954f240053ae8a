import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.handoff import handoff_name, is_being_saved, split_handoff_name
from orchestrator.model.errors import BadName
from tests.unit.formats.texts import instants, names


@pytest.mark.usefixtures("_pacific")
def test_a_name_is_that_of_the_document():
    assert handoff_name("dev", 1764287100.0) == "dev-20251127-154500.md"


@given(names, instants)
def test_a_name_is_split_as_it_was_made(instance, at):
    name = handoff_name(instance, at)
    split = split_handoff_name(name)
    assert split
    assert split[0] == instance
    assert f"{instance}-{split[1]}.md" == name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("pm-20251127-090000.md", ("pm", "20251127-090000")),
        ("dev-2-20251127-154500.md", ("dev-2", "20251127-154500")),
        ("dev-20251127-154500-20251127-154501.md", ("dev-20251127-154500", "20251127-154501")),
        ("security-reviewer-20240229-235959.md", ("security-reviewer", "20240229-235959")),
    ],
)
def test_names_of_handoffs_are_split(name, parts):
    assert split_handoff_name(name) == parts


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".md",
        "dev.md",
        "dev-20251127.md",
        "dev-20251127-154500",
        "dev-20251127-154500.md\n",
        "dev-20251127-154500.md.tmp",
        "dev-20251327-154500.md",
        "dev-20250229-154500.md",
        "dev-20251127-256100.md",
        "dev-00010101-000000.md",
        "dev-99991231-235959.md",
        "dev-٢٠٢٥1127-154500.md",  # noqa: RUF001 - digits, but not ours
        "-20251127-154500.md",
        "-R-20251127-154500.md",
        "Dev-20251127-154500.md",
        "../dev-20251127-154500.md",
        "a" * 65 + "-20251127-154500.md",
        "a\0-20251127-154500.md",
        "dеv-20251127-154500.md",  # noqa: RUF001 - a Cyrillic letter: it only looks like dev
    ],
)
def test_other_names_are_not(name):
    assert split_handoff_name(name) is None


@given(st.text())
def test_no_text_is_an_error(name):
    assert split_handoff_name(name) is None or name.endswith(".md")


@pytest.mark.parametrize("instance", ["", "../x", "Dev", "a b", "-x"])
def test_only_a_name_gets_a_handoff(instance):
    with pytest.raises(BadName):
        handoff_name(instance, 0.0)


SAVED = (
    "dev-20251127-154500.md.tmp.1",
    "dev-20251127-154500.md.tmp.48213.1764254100123",  # Claude Code
    "dev-20251127-154500.md.part",
    "dev-20251127-154500.md.Ab12Cd",
    "dev-20251127-154500.md~",
    "dev-20251127-154500.tmp.md",
    ".dev-20251127-154500.md.swp",
    ".dev-20251127-154500.md.swx",
    ".#dev-20251127-154500.md",
    "#dev-20251127-154500.md#",
    ".goutputstream-Z1XT42",
    ".~lock.dev-20251127-154500.md#",
    "report.md.crdownload",
    "plan.tmp",
    "4913",
    "5036",
    "tmpab12cd34",
    "tmp.Ab12Cd34Ef",
    "sedAb12Cd",
)


@pytest.mark.parametrize("name", SAVED)
def test_names_under_which_programs_save_are_known(name):
    assert is_being_saved(name)


@pytest.mark.parametrize(
    "name",
    [
        "dev-20251127-154500.md",
        "dev-20260101-000060.md",  # no such second: misnamed, which its agent is told at once
        "dev-20261350-000000.md",
        "dev-new.md",
        "dev-report.md",
        "dev-20251127.md",
        "notes.txt",
        "dev_20251127.txt",
        "template.md",
        "tmp.md",
        "sedation.md",
        "partial-results.md",
        "explore-half.md",
    ],
)
def test_other_names_are_none_of_these(name):
    assert not is_being_saved(name)


@given(names, instants)
def test_no_handoff_is_taken_for_one_that_is_being_saved(instance, at):
    assert not is_being_saved(handoff_name(instance, at))


def test_a_long_name_is_known_as_soon_as_a_short_one():
    assert not is_being_saved("a.tmp" + "-a_b" * 60 + "!")
