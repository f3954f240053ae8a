"""Every fault of an operation is reported with its index, and the document's examples read as it says."""

import json

import jsonschema
import pytest

from orchestrator.formats.operations.read import EXAMPLE, SCHEMA, BadOperations, answer_to, read_operations
from orchestrator.model.file_operations import FullContent, Hunk, Hunks, OperationKind

GOOD = {"operation": "create", "file_path": "/w/a", "content": "x", "description": "why this is needed"}


def faults(*operations):
    with pytest.raises(BadOperations) as caught:
        read_operations(json.dumps({"file_operations": operations}))
    return [str(each) for each in caught.value.faults]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"operation": "move"}, "Invalid operation 'move'"),
        ({"operation": None}, "operation must be text"),
        ({"file_path": "a/b"}, "file_path must be absolute"),
        ({"file_path": 3}, "file_path must be text"),
        ({"description": "short"}, "description must have at least 10 characters"),
        ({"content": ["x"]}, "content must be text"),
        ({"verify_content": "yes"}, "verify_content must be true or false"),
        ({"edit_instructions": "do it"}, "create takes no edit_instructions"),
        ({"operation": "delete"}, "delete takes neither content nor edit_instructions"),
        ({"operation": "edit", "edit_instructions": "@@\n-a\n+b"}, "edit has both"),
    ],
)
def test_fault_names_its_operation(change, fault):
    (found,) = faults(GOOD, GOOD | change)
    assert found.startswith(f"Operation 1: {fault}")


@pytest.mark.parametrize("name", ["operation", "file_path", "description", "content"])
def test_missing_field_is_named(name):
    assert faults({key: value for key, value in GOOD.items() if key != name}) == [
        f"Operation 0: Missing {name}"
    ]


def test_all_faults_come_at_once():
    assert faults({}, [], GOOD) == [
        "Operation 0: Missing file_path",
        "Operation 0: Missing description",
        "Operation 0: Missing operation",
        "Operation 1: must be an object",
    ]


def test_prose_edit_is_sent_back_with_its_index():
    """The document's own second example gives prose: it cannot be carried out exactly, so it goes back."""
    prose = {**GOOD, "operation": "edit", "edit_instructions": "Add task '[ ] Onboarding' under Phase 3"}
    del prose["content"]
    (found,) = faults(GOOD, prose)
    assert found.startswith("Operation 1: edit_instructions in prose cannot be carried out")


def test_prose_beside_full_content_explains_it():
    edit = {**GOOD, "operation": "edit", "edit_instructions": "Add a task under Phase 3"}
    assert read_operations(json.dumps({"file_operations": [edit]})).operations[0].change == FullContent("x")


def test_three_kinds_of_edit():
    edit = {"operation": "edit", "file_path": "/w/a", "description": "why this is needed"}
    block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    diff = "--- a/a\n+++ b/a\n@@ -3,2 +3,2 @@ def f():\n x\n-a\n+b\n"
    text = json.dumps(
        {
            "file_operations": [
                edit | {"content": "b"},
                edit | {"edit_instructions": block},
                edit | {"edit_instructions": diff, "verify_content": False},
            ]
        }
    )
    full, blocks, hunks = read_operations(text).operations
    assert full.change == FullContent("b")
    assert blocks.change == Hunks((Hunk(("a",), ("b",)),), ordered=False)
    assert hunks.change == Hunks((Hunk(("x", "a"), ("x", "b"), 3, 1, 0),), ordered=True)
    assert (full.kind, full.verify, hunks.verify) == (OperationKind.EDIT, True, False)


@pytest.mark.parametrize(
    ("instructions", "fault"),
    [
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE", "no line '======='"),
        ("<<<<<<< SEARCH\na\n=======\n=======\n>>>>>>> REPLACE", "more than one line '======='"),
        ("<<<<<<< SEARCH\n\n=======\nb\n>>>>>>> REPLACE", "searches for nothing"),
        ("<<<<<<< SEARCH\na\n=======\nb", "no line '>>>>>>> REPLACE'"),
        ("also rename it\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "stands outside"),
        ("@@ -1 +1 @@\n-a\n+b\nthen run it", "must begin with"),
        ("and so on\n@@ -1 +1 @@\n-a\n+b", "no part of a diff"),
        ("@@ -1 +1 @@\n a", "changes nothing"),
        ("@@ -1 +1 @@\n-a\n+b\ndiff --git a/c b/c\n@@ -1 +1 @@\n-a\n+b", "begins another file"),
        ("@@ -1 +1 @@\n-a\n+b\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-a\n+b", "begins another file"),
    ],
)
def test_nothing_of_an_edit_is_passed_over(instructions, fault):
    (found,) = faults(
        {
            "operation": "edit",
            "file_path": "/w/a",
            "description": "why this is needed",
            "edit_instructions": instructions,
        }
    )
    assert fault in found


def test_answer_has_every_fault_and_the_format():
    with pytest.raises(BadOperations) as caught:
        read_operations(json.dumps({"file_operations": [GOOD, {}]}))
    answer = answer_to(caught.value)
    assert "- Operation 1: Missing file_path\n- Operation 1: Missing description\n" in answer
    assert json.loads(answer.split("```json\n")[1].split("\n```")[0]) == EXAMPLE


def test_schema_accepts_the_example():
    jsonschema.validate(EXAMPLE, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"file_operations": []}, SCHEMA)
