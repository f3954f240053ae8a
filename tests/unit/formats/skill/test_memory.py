"""What makes a memory file complete, and what the workflow context tells (S3)."""

from dataclasses import replace

import pytest

from orchestrator.formats.skill.memory import COMPLETE, memory_form, read_memory, workflow_context
from orchestrator.model.composite import Classified, Confidence, Domain
from orchestrator.model.errors import BadFile
from tests.unit.skill_sessions import SKILL, TASK_ID, memory, session

PHASE = SKILL.phases[0]
WHOLE = memory(PHASE).decode()


def faults(text):
    with pytest.raises(BadFile) as caught:
        read_memory(text.encode(), TASK_ID, PHASE)
    return [fault.reason for fault in caught.value.faults]


def test_a_complete_file_is_read():
    found = read_memory(WHOLE.encode(), TASK_ID, PHASE)
    assert (found.summary, found.output) == ("Found it.", "In `a.py`.")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (COMPLETE, "**Status:** IN_PROGRESS", "the last line is not"),
        (COMPLETE, f"{COMPLETE}\nmore", "the last line is not"),
        (COMPLETE, f"```\n{COMPLETE}", "the last line is not"),
        (f"**Task:** {TASK_ID}", "**Task:** 000000000000", "`**Task:**` is '000000000000'"),
        (f"**Task:** {TASK_ID}\n", "", "is missing"),
        ("**Agent:** clarification", "**Agent:** research", "`**Agent:**` is 'research'"),
        ("**Phase:** clarification", "**Phase:** x\n**Phase:** clarification", "is there more than once"),
        ("Found it.", "", "`## Summary` is empty"),
        ("## Output", "## Result", "`## Output` is missing"),
        ("## Output", "## Summary\n\nx\n\n## Output", "`## Summary` is there more than once"),
    ],
)
def test_what_a_file_lacks_is_named(old, new, fault):
    assert WHOLE.count(old) == 1
    assert any(fault in each for each in faults(WHOLE.replace(old, new)))


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("<!-- nothing -->", "is empty"),
        ("<!--\nnothing\n-->", "is empty"),
        ("```\n```", "is empty"),
        ("---", "is empty"),
        (".", "is empty"),
        ("\u200b\u202e", "is empty"),
        ("### Findings", "is empty"),
        ("> **What you found or did**,  in a few sentences.", "the form's own text"),
    ],
)
def test_what_says_nothing_is_no_text(said, fault):
    """A section has to hold words of its own, whatever stands there beside them."""
    assert fault in "".join(faults(WHOLE.replace("Found it.", said)))
    whole = WHOLE.replace("Found it.", f"{said}\nFound it.")
    assert "Found it." in read_memory(whole.encode(), TASK_ID, PHASE).summary


def test_code_alone_is_text():
    whole = WHOLE.replace("In `a.py`.", "```c\n#include <stdio.h>\n```")
    assert read_memory(whole.encode(), TASK_ID, PHASE).output


def test_the_form_alone_is_not_complete():
    assert [each for each in faults(memory_form(TASK_ID, PHASE)) if "the form's own text" in each] != []


def test_no_part_of_a_file_is_complete():
    """A file that is still being written is never taken for a whole one, wherever it was cut."""
    whole = WHOLE.rstrip("\n")
    for length in range(len(whole)):
        assert faults(whole[:length])


def test_the_context_has_request_domain_and_phases():
    begun = replace(
        session(request="Develop a parser\n## Not a heading"),
        task_id=TASK_ID,
        classified=Classified(Domain.TECHNICAL, Confidence.LIKELY, "it says parser*"),
        config=SKILL,
    )
    text = workflow_context(begun, ["Use the grammar\nof 2019"])
    assert f"**Task:** {TASK_ID}" in text
    assert "**Domain:** technical (LIKELY: it says parser*)" in text
    assert "> Develop a parser\n> ## Not a heading" in text
    assert "- Use the grammar of 2019" in text
    assert "2. research: research writes `.claude/memory/abc123def456-research-memory.md`" in text
