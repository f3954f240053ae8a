"""The published JSON Schemas, and whether what a verb printed is as they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker

FOLDER: Final = Path(__file__).parents[1] / "docs" / "reference" / "schemas"
_FORMATS: Final = FormatChecker(formats=())


def schema_of(words: Sequence[str]) -> str:
    """Return the name of the schema of what a command prints with `--json`."""
    options = {word for word in words if word.startswith("-")}
    verb, *others = [word for word in words if not word.startswith("-")]
    match verb:
        case "list":
            return "list-archived" if "--archived" in options else "list"
        case "start":
            return "start-check"
        case "doctor" if "--project" not in options and others:
            return "doctor" if others[0].startswith("podman:") else "doctor-host"
        case "notify" | "daemon" | "workflow" | "memory" | "skill":
            return f"{verb}-{others[0]}"
        case _:
            return verb


def faults(name: str, document: Any) -> list[str]:
    """Return what in a document is not as its schema says; a field that the schema does not name is such a fault."""
    return sorted(
        f"{error.json_path}: {error.message[:200]}" for error in _validator(name).iter_errors(document)
    )


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(_closed(schema), format_checker=_FORMATS)


@_FORMATS.checks("date-time", ValueError)
def _is_moment(value: object) -> bool:
    """Tell whether a text is a moment in UTC, to the second: jsonschema by itself checks no format."""
    return not isinstance(value, str) or bool(datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ"))  # noqa: DTZ007


def _closed(schema: Any) -> Any:
    """Let objects have no other fields than those that are named: to readers they may, in a later version."""
    match schema:
        case dict():
            closed = {key: _closed(value) for key, value in schema.items()}
            return {"additionalProperties": False, **closed} if "properties" in schema else closed
        case list():
            return [_closed(each) for each in schema]
        case _:
            return schema
