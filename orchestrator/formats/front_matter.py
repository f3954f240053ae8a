"""Front matter: the small part of YAML that agent definitions need, read without a YAML library.

`key: value` lines and lists, quoted or not. Tags, anchors, nesting and blocks are refused with their line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from orchestrator.model.errors import Fault, Refused

Value: TypeAlias = str | tuple[str, ...]

_RULE: Final = re.compile(r"---[ \t]*")
_ENTRY: Final = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_-]{0,63})[ \t]*:(?:[ \t]+(.*)|$)")
_ITEM: Final = re.compile(r"[ \t]*-(?:[ \t]+(.*)|$)")
_SINGLE: Final = re.compile(r"'((?:[^']|'')*)'(.*)")
_COMMENT: Final = re.compile(r"(?:[ \t]+#.*|[ \t]*)")
_REFUSED: Final = {
    "!": "a tag",
    "&": "an anchor",
    "*": "an alias",
    "|": "a block of text",
    ">": "a block of text",
    "{": "nesting",
    "[": "nesting",
    "%": "a directive",
    "@": "a reserved sign",
    "`": "a reserved sign",
}
_PLAIN: Final = re.compile(r"[A-Za-z/(][A-Za-z0-9_/().,;+=-]*(?: [A-Za-z0-9_/().,;+=-]+)*")
_NULLS: Final = frozenset({"null", "~"})
_QUOTED_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off"})


class Field(NamedTuple):
    """The value of a key, and its line; the first line of the file is 1."""

    line: int
    value: Value


class FrontMatter(NamedTuple):
    """The fields of a file, the text after them, and the faults."""

    fields: dict[str, Field]
    body: str
    faults: list[Fault]


class _Entry(NamedTuple):
    line: int
    key: str
    text: str
    items: list[tuple[int, str]]


def read_front_matter(text: str) -> FrontMatter:
    """Return the fields between the two `---` lines at the beginning of a text, and the text after them."""
    lines = text.split("\n")
    if not _RULE.fullmatch(lines[0]):
        return FrontMatter({}, text, [Fault(1, "has no front matter: begin with a line `---`")])
    end = next((place for place, line in enumerate(lines[1:], 1) if _RULE.fullmatch(line)), 0)
    if not end:
        return FrontMatter({}, "", [Fault(1, "the front matter is never closed: end it with a line `---`")])
    entries, faults = _entries(lines[1:end])
    fields = dict[str, Field]()
    for entry in entries:
        if entry.key in fields:
            twice = f"`{entry.key}:` is in line {fields[entry.key].line} and in line {entry.line}"
            faults.append(Fault(entry.line, f"{twice}: keep one of them"))
            continue
        fields[entry.key] = Field(entry.line, _value(entry, faults))
    return FrontMatter(fields, "\n".join(lines[end + 1 :]), faults)


def render_front_matter(fields: Mapping[str, Value], body: str) -> str:
    """Return fields and a text as front matter; `read_front_matter` reads it back."""
    lines = ["---"]
    for key, value in fields.items():
        if isinstance(value, str):
            lines.append(f"{key}: {_quoted(value)}")
        else:
            lines += [f"{key}:", *(f"  - {_quoted(item)}" for item in value)]
    return "\n".join((*lines, "---", "", body)).rstrip("\n") + "\n"


def _entries(lines: Sequence[str]) -> tuple[list[_Entry], list[Fault]]:
    """Return the keys with the text on their line and the items below them."""
    entries, faults = list[_Entry](), list[Fault]()
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry, item = _ENTRY.fullmatch(line), _ITEM.fullmatch(line)
        if item and entries and not entries[-1].text:
            entries[-1].items.append((number, (item[1] or "").strip()))
        elif entry:
            entries.append(_Entry(number, entry[1], (entry[2] or "").strip(), []))
        else:
            reason = "is not `key: value`: nesting and text over several lines are not supported"
            faults.append(Fault(number, reason))
    return entries, faults


def _value(entry: _Entry, faults: list[Fault]) -> Value:
    texts = entry.items or [(entry.line, entry.text)]
    listed = bool(entry.items)
    if entry.text.startswith("[") and (end := entry.text.rfind("]")) > 0:
        inner = entry.text[1:end].strip()
        listed, texts = True, [(entry.line, part.strip()) for part in inner.split(",")] if inner else []
        if not _COMMENT.fullmatch(entry.text[end + 1 :]):
            faults.append(Fault(entry.line, "goes on after its list"))
    values = list[str]()
    for line, text in texts:
        try:
            values.append(_scalar(text))
        except Refused as problem:
            faults.append(Fault(line, f"`{entry.key}:` {problem}"))
    return tuple(values) if listed else "".join(values)


def _scalar(text: str) -> str:
    """Return the text of one value. Raises Refused."""
    if text.startswith('"'):
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            raise Refused(
                "cannot be read: a text in double quotes must end with them and may use JSON's escapes"
            ) from None
        rest = text[end:]
    elif text.startswith("'"):
        found = _SINGLE.fullmatch(text)
        if not found:
            raise Refused("cannot be read: the single quote is never closed")
        value, rest = found[1].replace("''", "'"), found[2]
    elif text[:1] in _REFUSED and text:
        raise Refused(f"holds {_REFUSED[text[0]]}, which is not supported: put the value in quotes")
    elif text == "-" or text.startswith("- "):
        raise Refused("holds nesting, which is not supported: put the value in quotes")
    else:
        value, rest = text.partition(" #")[0].rstrip(), ""
        value = "" if value in _NULLS or value.startswith("#") else value
    if not _COMMENT.fullmatch(rest):
        raise Refused("goes on after its closing quote")
    return str(value)


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.casefold() not in _QUOTED_WORDS:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
