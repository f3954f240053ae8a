"""Reads the file operations that an agent handed in: every fault with its operation's index (F1, F2)."""

from __future__ import annotations

import json
from typing import Any, Final

from orchestrator.formats.operations.candidates import KEY, Candidate, candidates
from orchestrator.formats.operations.edits import FORMS, read_edit
from orchestrator.formats.text import FAULTS_SHOWN, cut, one_line
from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import (
    FileOperation,
    FileOperations,
    FullContent,
    Hunks,
    OperationFault,
    OperationKind,
)

DESCRIPTION_LENGTH: Final = 10
"""How many characters a description has at least."""

OPERATIONS: Final = 10_000
"""How many operations one text may hold."""

EXAMPLE: Final[dict[str, Any]] = {
    KEY: [
        {
            "operation": "create",
            "file_path": "/absolute/path/to/file.md",
            "content": "file content here",
            "description": "why this file is needed",
        }
    ]
}
"""The document's own example of the format."""

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": [KEY],
    "properties": {
        KEY: {
            "type": "array",
            "minItems": 1,
            "maxItems": OPERATIONS,
            "items": {
                "type": "object",
                "required": ["operation", "file_path", "description"],
                "properties": {
                    "operation": {"type": "string", "enum": [each.value for each in OperationKind]},
                    "file_path": {
                        "type": "string",
                        "pattern": "^/",
                        "description": "Absolute path inside an allowed root",
                    },
                    "content": {
                        "type": "string",
                        "description": "The whole text (create, edit) or the text to add (append); omit for delete",
                    },
                    "edit_instructions": {
                        "type": "string",
                        "description": f"For edit: {FORMS}",
                    },
                    "description": {
                        "type": "string",
                        "minLength": DESCRIPTION_LENGTH,
                        "description": "Why this file operation is needed (logged to progress.md)",
                    },
                    "verify_content": {
                        "type": "boolean",
                        "default": True,
                        "description": "Whether to verify file content after operation",
                    },
                },
            },
        },
        "specialist_summary": {
            "type": "string",
            "description": "Human-readable summary of specialist's work",
        },
    },
}


class BadOperations(Refused):
    """What an agent handed in holds no file operations that can be carried out; `faults` has each reason."""

    def __init__(self, faults: list[OperationFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, faults)))


def read_operations(text: str) -> FileOperations:
    """Return the file operations that an agent's text holds.

    Of several objects the only one without a fault counts; the document's example, repeated, does not. Two that differ
    are an error: which one is meant is not guessed.

    Raises:
        BadOperations: there are none, or several, or some cannot be read.

    """
    found = [each for each in candidates(text) if each.value != EXAMPLE]
    if not found:
        raise BadOperations([OperationFault(None, f"No JSON object with '{KEY}' was found in the response")])
    judged = [(each, *_judged(each)) for each in found]
    good = [(each, operations) for each, operations, faults in judged if not faults]
    if not good:
        raise BadOperations(judged[-1][2])
    for each, operations in good[1:]:
        if operations != good[0][1]:
            raise BadOperations(
                [
                    OperationFault(
                        None,
                        f"The objects in line {good[0][0].line} and line {each.line} both have '{KEY}' and differ: "
                        "hand in one",
                    )
                ]
            )
    return good[0][1]


def answer_to(error: BadOperations) -> str:
    """Return what an agent is answered: each fault with its operation's index, and the format."""
    faults = "\n".join(f"- {cut(one_line(str(fault)), 400)}" for fault in error.faults[:FAULTS_SHOWN])
    rest = len(error.faults) - FAULTS_SHOWN
    more = f"\n- and {rest} more" if rest > 0 else ""
    shown = json.dumps(EXAMPLE, indent=2)
    return (
        f"JSON validation errors:\n{faults}{more}\nPlease correct and resubmit.\n\n"
        f"Your response must include valid JSON in a code block. Use this format:\n```json\n{shown}\n```\n"
        f"To edit a file, {FORMS}.\n"
    )


def _judged(candidate: Candidate) -> tuple[FileOperations, list[OperationFault]]:
    faults = list[OperationFault]()
    if candidate.value is None:
        return FileOperations(()), [OperationFault(None, candidate.fault)]
    items, summary = candidate.value[KEY], candidate.value.get("specialist_summary", "")
    if not isinstance(summary, str):
        faults.append(OperationFault(None, "specialist_summary must be text"))
        summary = ""
    if not isinstance(items, list) or not items:
        faults.append(OperationFault(None, f"{KEY} must be a list of at least one operation"))
        items = []
    if len(items) > OPERATIONS:
        faults.append(
            OperationFault(None, f"{KEY} holds {len(items)} operations: at most {OPERATIONS} may be")
        )
        items = []
    operations = []
    for index, item in enumerate(items):
        wrong = list[str]()
        operation = _operation(item, wrong)
        faults += [OperationFault(index, reason) for reason in wrong]
        if operation:
            operations.append(operation)
    return FileOperations(tuple(operations), summary), faults


def _operation(item: object, wrong: list[str]) -> FileOperation | None:
    if not isinstance(item, dict):
        wrong.append("must be an object")
        return None
    path = _text(item, "file_path", wrong)
    if path and not path.startswith("/"):
        wrong.append("file_path must be absolute")
    description = _text(item, "description", wrong)
    if description is not None and len(description) < DESCRIPTION_LENGTH:
        wrong.append(f"description must have at least {DESCRIPTION_LENGTH} characters")
    verify = item.get("verify_content", True)
    if not isinstance(verify, bool):
        wrong.append("verify_content must be true or false")
    word = _text(item, "operation", wrong)
    if word is None:
        return None
    if word not in set(OperationKind):
        wrong.append(f"Invalid operation {word[:40]!a}")
        return None
    change = _change(OperationKind(word), item, wrong)
    if wrong or path is None or description is None:
        return None
    return FileOperation(OperationKind(word), path, description, change, verify)


def _change(kind: OperationKind, item: dict[str, Any], wrong: list[str]) -> FullContent | Hunks | None:
    content = _text(item, "content", wrong, needed=kind in {OperationKind.CREATE, OperationKind.APPEND})
    instructions = _text(item, "edit_instructions", wrong, needed=False)
    match kind:
        case OperationKind.DELETE:
            if content or instructions:
                wrong.append("delete takes neither content nor edit_instructions")
            return None
        case OperationKind.CREATE | OperationKind.APPEND:
            if instructions:
                wrong.append(f"{kind} takes no edit_instructions")
            return None if content is None else FullContent(content)
        case OperationKind.EDIT:
            return _edit(content, instructions, wrong)


def _edit(content: str | None, instructions: str | None, wrong: list[str]) -> FullContent | Hunks | None:
    if not instructions:
        if content is None and not wrong:
            wrong.append(f"edit requires 'content' or 'edit_instructions': {FORMS}")
        return None if content is None else FullContent(content)
    try:
        hunks = read_edit(instructions)
    except Refused as error:
        if content is None or not str(error).startswith("edit_instructions in prose"):
            wrong.append(str(error))
            return None
        return FullContent(content)  # prose beside the whole new text explains it
    if content is not None:
        wrong.append("edit has both 'content' and changes in 'edit_instructions': give one")
    return hunks


def _text(item: dict[str, Any], name: str, wrong: list[str], *, needed: bool = True) -> str | None:
    value = item.get(name)
    if isinstance(value, str):
        return value
    if name in item:
        wrong.append(f"{name} must be text")
    elif needed:
        wrong.append(f"Missing {name}")
    return None
