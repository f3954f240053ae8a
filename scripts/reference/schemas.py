"""The JSON Schemas of what `--json` prints, and the page about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter
from typing_extensions import is_typeddict

from orchestrator.cli.mcp_server.tools import MESSAGE
from orchestrator.cli.parser import PROGRAM
from orchestrator.formats.operations.read import SCHEMA
from orchestrator.formats.skill import config as skill_config
from orchestrator.formats.skill import state as skill_state
from scripts.reference.catalogue import DOCUMENTS
from scripts.reference.coordination import FILES
from scripts.reference.documents import machines, memory, program, report, status, tasks
from scripts.reference.markdown import code, page, table
from scripts.reference.sources import meanings

FOLDER: Final = "schemas"
_EXTENDING: Final = {
    name: shape
    for module in (machines, memory, report, status, tasks)
    for name, shape in vars(module).items()
    if is_typeddict(shape) and any(is_typeddict(base) for base in shape.__orig_bases__)
}
"""Shapes that have the fields of another one, by name."""
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_INTRODUCTION: Final = f"""\
With `--json` a verb prints one document on one line. Each has a [JSON Schema](https://json-schema.org/) (draft
2020-12), which the program carries with it: `{PROGRAM} help {FOLDER}` prints their folder. Within version 1 fields may
be added; none is renamed or removed, so accept fields that you do not know. Moments are RFC 3339 in UTC
(`2026-11-27T15:30:00Z`), or null if there was none. Words of closed sets are explained under [states](states.md)."""

_COORDINATION: Final = """\
Records that roles hand on by, and that anybody reads with `jq` and `grep`. They lie below one folder, `data/` unless
`ORCHESTRATOR_DATA` names another. Fields that are not listed here stay as they are. How they come about:
[coordination by roles](../explanation/coordination.md)."""


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each document by name."""
    printed = {
        name: _schema(name, f"{PROGRAM} {command}", shape) for name, (command, shape) in DOCUMENTS.items()
    }
    kept = {name: _schema(name, path, shape) for name, (path, shape) in FILES.items()}
    said = {MESSAGE: _schema(MESSAGE, f"{PROGRAM} mcp: answer, start", program.McpMessage)}
    return printed | kept | said


def schema_files() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each schema's file."""
    # That of what agents of `hands: operations` write is the document's own, of an older draft; those of
    # composite skills stand beside their readers.
    others = {
        "file-operations": SCHEMA,
        "skill-config": skill_config.SCHEMA,
        "skill-state": skill_state.SCHEMA,
    }
    for name, schema in {**schemas(), **others}.items():
        yield f"{FOLDER}/{name}.schema.json", json.dumps(schema, indent=2) + "\n"


def json_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages about JSON documents: most on one page, those of status and of machines apart."""
    parted = {
        "json-status.md": ("status",),
        "json-report.md": ("report",),
        "json-machines.md": ("hosts", "doctor", "doctor-host", "start-check", "daemon-status"),
        "json-notifications.md": ("notify-test", "notify-list"),
        "json-skills.md": ("skill-list", "skill-show"),
        "json-memory.md": (
            "memory-search",
            "memory-show",
            "memory-add",
            "memory-forget",
            "memory-mark",
            "memory-export",
            "observe",
        ),
        "json-workflows.md": (
            "workflow-new",
            "workflow-design",
            "workflow-check",
            "workflow-approve",
            "workflow-show",
            "workflow-adapt",
            "workflow-archive",
        ),
    }
    apart = [name for names in parted.values() for name in names]
    found = schemas()
    where = {name: file for file, names in parted.items() for name in names}
    rows = [
        (
            f"[{code(f'{PROGRAM} {command}')}]({where.get(name, '')}#{name})",
            found[name]["description"],
            f"[schema]({FOLDER}/{name}.schema.json)",
        )
        for name, (command, _) in DOCUMENTS.items()
    ]
    others = [_section(name, found[name]) for name in DOCUMENTS if name not in apart]
    yield "json.md", page("JSON documents", _INTRODUCTION, table(("command", "document", ""), rows), *others)
    back = "See [JSON documents](json.md) for what holds of all of them."
    for file, names in parted.items():
        title = f"JSON documents: {file.removeprefix('json-').removesuffix('.md')}"
        yield file, page(title, back, *(_section(name, found[name]) for name in names))
    kept = [
        (f"[{code(path)}](#{name})", found[name]["description"], f"[schema]({FOLDER}/{name}.schema.json)")
        for name, (path, _) in FILES.items()
    ]
    yield (
        "coordination.md",
        page(
            "Files of coordination by roles",
            _COORDINATION,
            table(("file", "content", ""), kept),
            *(_section(name, found[name]) for name in FILES),
        ),
    )


def _schema(name: str, title: str, shape: type) -> dict[str, Any]:
    made = TypeAdapter(shape).json_schema()
    for each in ({"title": shape.__name__, **made}, *made.get("$defs", {}).values()):
        _inherit(each)
    return {
        "$schema": _DIALECT,
        "$id": f"urn:{PROGRAM}:json:{name}",
        **_without_titles(made),
        "title": title,
    }


def _inherit(schema: dict[str, Any]) -> None:
    """Put in what a shape that this one extends says of its fields: pydantic looks at the shape alone."""
    shape = _EXTENDING.get(schema.get("title", ""))
    for base in getattr(shape, "__orig_bases__", ()):
        for name, said in meanings(base).items() if is_typeddict(base) else ():
            schema["properties"][name].setdefault("description", said)


def _without_titles(schema: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Leave out the titles that pydantic makes of each field's name."""
    match schema:
        case dict():
            kept = {
                key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)
            }
            return {key: _without_titles(value) for key, value in kept.items()}
        case list():
            return [_without_titles(each) for each in schema]
        case _:
            return schema


# The page -----------------------------------------------------------------------------------------


def _section(name: str, schema: dict[str, Any]) -> str:
    """Return the document's fields; those of an object follow it, under their paths, where it first comes up."""
    rows = _rows("", schema, schema.get("$defs", {}), {})
    return f"## {name}\n\n{code(schema['title'])}\n\n" + table(("field", "type", "meaning"), rows)


def _rows(
    path: str, schema: dict[str, Any], defs: dict[str, Any], shown: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of an object. `shown` has the path under which the fields of each kind of object stand."""
    for name, field in schema["properties"].items():
        several = field.get("type") == "array"
        inner = field["items"] if several else field
        parts = [_resolved(each, defs) for each in inner.get("anyOf", [inner])]
        kind = ("list of " if several else "") + ", ".join(_word(meant) for _, meant in parts)
        found = next((part for part in parts if "properties" in part[1]), None)
        said = field.get("description") or (found and found[1]["description"]) or ""
        here = f"{path}{name}{'[]' if several else ''}"
        if found and found[0] in shown:
            yield code(here), kind, f"{said} Its fields are those of {code(shown[found[0]])}."
            continue
        yield code(here), kind, said
        if found:
            shown[found[0]] = here
            yield from _rows(f"{here}.", found[1], defs, shown)


def _resolved(schema: dict[str, Any], defs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the content of what a schema refers to, or else itself without a name."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return (name, defs[name]) if name else ("", schema)


def _word(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(code(word or '""') for word in schema["enum"])
    if "const" in schema:
        return code(schema["const"] or '""')
    if "additionalProperties" in schema:
        inner = schema["additionalProperties"]
        return f"object of {', '.join(_word(each) for each in inner.get('anyOf', [inner]))}"
    if schema.get("format") == "date-time":
        return "moment"
    return str(schema["type"])
