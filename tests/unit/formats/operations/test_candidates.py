"""File operations are found in any fence or in none, and a text of others costs no squares."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.operations.candidates import candidates
from orchestrator.formats.operations.read import EXAMPLE, BadOperations, read_operations

ONE = {
    "file_operations": [
        {
            "operation": "create",
            "file_path": "/w/a.md",
            "content": "```json\n{}\n```\n",
            "description": "a page with a fence in it",
        }
    ],
    "specialist_summary": "Wrote a page",
}
TEXT = json.dumps(ONE, indent=2)


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "```json\n{}\n```",
        "```\n{}\n```",
        "~~~~ JSON5\n{}\n~~~~",
        "````json title=x\n{}\n````\nDone.",
        'Here it is: {}\nNot this: {{"a": 1}}, nor {{ "b',
        '<think>a {{ brace }} and " a quote</think>\n{}',
        "Don't {{'x'}}:\n\n    {}",
    ],
)
def test_any_fence_or_none(around):
    assert read_operations(around.format(TEXT)).summary == "Wrote a page"


def test_repeated_example_does_not_count():
    text = f"The format is\n```json\n{json.dumps(EXAMPLE)}\n```\nMine:\n{TEXT}"
    assert read_operations(text).operations[0].path == "/w/a.md"


def test_same_object_twice_is_one():
    assert read_operations(f"{TEXT}\n\n{json.dumps(ONE)}").operations[0].path == "/w/a.md"


def test_two_that_differ_are_an_error():
    other = TEXT.replace("a.md", "b.md")
    with pytest.raises(BadOperations, match="line 1 and line 12 both"):
        read_operations(f"{TEXT}\n{other}")


def test_one_without_fault_is_taken():
    """A draft with a fault before the answer does not stand in its way."""
    assert read_operations(f"{TEXT.replace('create', 'make')}\n{TEXT}").operations[0].path == "/w/a.md"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("All done, the files are written.", "No JSON object with 'file_operations'"),
        ('{"operations": []}', "No JSON object with 'file_operations'"),
        (TEXT[:-20], "is cut off"),
        (TEXT.replace('"operation"', "operation"), "line 4 is not JSON"),
        (TEXT.replace('"specialist_summary"', '"file_operations"'), "twice in one object"),
    ],
)
def test_what_does_not_read_says_why(text, reason):
    with pytest.raises(BadOperations, match=reason):
        read_operations(text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read_or_refused(before, after):
    """Nothing else is raised, whatever stands around the object or is put into it."""
    for text in (before + after, f"{before}{TEXT}{after}", TEXT[: len(before)] + after):
        try:
            read_operations(text)
        except BadOperations as error:
            assert error.faults  # noqa: PT017 (most texts are refused, some are not)


@pytest.mark.parametrize("piece", ['{"file_operations":', '{"', '{"a":"', '["file_operations"{"a":[{"'])
def test_reading_costs_no_squares(piece):
    start = time.perf_counter()
    candidates(piece * 20_000)
    assert time.perf_counter() - start < 10
