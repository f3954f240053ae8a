"""Reads the fields of untrusted YAML and JSON objects, and collects every fault with its line and its correction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from orchestrator.formats.strict_json import load_json
from orchestrator.formats.suggestions import nearest
from orchestrator.formats.text import FILE_BYTES, refused
from orchestrator.model.errors import BadFile, BadName, Fault
from orchestrator.model.names import checked_name

LARGEST_NUMBER: Final = 2**53 - 1
"""The largest integer that every JSON reader holds exactly."""

_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_T = TypeVar("_T")
_Enum = TypeVar("_Enum", bound=StrEnum)
_KINDS: Final = {
    str: "a text",
    int: "an integer",
    bool: "true or false",
    float: "a fraction",
    list: "a list",
    dict: "an object",
}


class Mark(NamedTuple):
    """A position in a file; both count from 1. JSON has none: 0."""

    line: int = 0
    column: int = 0


NOWHERE: Final = Mark()


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its position. `value` is a scalar, a list of nodes, or a dict of nodes by key."""

    value: Any
    mark: Mark = NOWHERE
    keys: Mapping[str, Mark] = field(default_factory=dict)


def json_node(value: Any) -> Node:  # noqa: ANN401 (any JSON value)
    """Return a JSON value as nodes."""
    if isinstance(value, dict):
        return Node({key: json_node(each) for key, each in value.items()})
    return Node([json_node(each) for each in value] if isinstance(value, list) else value)


def plain(node: Node) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the value of a node without positions."""
    if isinstance(node.value, dict):
        return {key: plain(each) for key, each in node.value.items()}
    return [plain(each) for each in node.value] if isinstance(node.value, list) else node.value


class Fields:
    """The fields of one object. Each method reads one; what is wrong with it goes into `faults`.

    Args:
        node: The object.
        where: Its path in the file, for messages; empty for the whole file.
        faults: Where faults are collected.
        known: The keys that there are; None if unknown keys are kept and ignored.

    """

    def __init__(
        self, node: Node, where: str, faults: list[Fault], known: Collection[str] | None = None
    ) -> None:
        self.where = where
        self.mark = node.mark
        self.faults = faults
        self._nodes: Mapping[str, Node] = node.value if isinstance(node.value, dict) else {}
        self._marks = node.keys
        if not isinstance(node.value, dict):
            self.fault(f"{self._named()} is {_said(node.value)}: write an object with its fields")
        for key in self._nodes if known is not None else ():
            if known is not None and key not in known:
                self.fault(
                    f"{self._named()} has no key {key[:60]!a}{nearest(key, known)}", self._marks.get(key)
                )

    @property
    def names_of_fields(self) -> tuple[str, ...]:
        """The keys of the object."""
        return tuple(self._nodes)

    def has(self, key: str) -> bool:
        """Return whether the field is there and not null."""
        return key in self._nodes and self._nodes[key].value is not None

    def mark_of(self, key: str) -> Mark:
        """Return where a field stands; where its object begins, if it is missing."""
        return self._nodes[key].mark if key in self._nodes else self.mark

    def fault(self, reason: str, mark: Mark | None = None) -> None:
        """Add a fault; without a position, at the object."""
        line, column = mark or self.mark
        self.faults.append(Fault(line, reason, column))

    def text(self, key: str, default: str | None = None, *, blank: bool = True) -> str:
        """Return a text. Without a `default` the field is required; `blank` says whether it may be empty."""
        value = self._value(key, str, default)
        if value is None:
            return default or ""
        if not blank and not value.strip():
            self.fault(f"`{self.path(key)}` is empty: write a text", self.mark_of(key))
        if not value.isprintable() and _CONTROL.search(value):
            self.fault(f"`{self.path(key)}` holds a control character: take it out", self.mark_of(key))
        return value

    def name(self, key: str, default: str | None = None, what: str = "agent name") -> str:
        """Return a name of an agent or of something else; empty only by `default`."""
        return self._checked(key, self.text(key, default), what)

    def integer(
        self, key: str, default: int | None = None, *, least: int = 0, most: int = LARGEST_NUMBER
    ) -> int:
        """Return an integer in a range. Without a `default` the field is required."""
        value = self._value(key, int, default)
        if value is None:
            return default or 0
        if not least <= value <= most:
            self.fault(
                f"`{self.path(key)}` is {value}: write a number from {least} to {most}", self.mark_of(key)
            )
            return min(max(value, least), most)
        return value

    def fraction(self, key: str, *, least: float = 0, most: float = 1) -> float:
        """Return a number in a range. The field is required."""
        node = self.node(key)
        value = node.value if node else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            said = "missing" if node is None else _said(value)
            self.fault(
                f"`{self.path(key)}` is {said}: write a number from {least:g} to {most:g}", self.mark_of(key)
            )
            return least
        return float(value)

    def boolean(self, key: str) -> bool:
        """Return true or false. The field is required."""
        return self._value(key, bool, None) or False

    def optional_integer(self, key: str, *, least: int = 0) -> int | None:
        """Return an integer, or None where the field is missing or null."""
        return self.integer(key, least=least) if self.has(key) else None

    def member(self, key: str, kind: type[_Enum], default: _Enum | None = None) -> _Enum:
        """Return a member of a closed set. Without a `default` the field is required."""
        value = self._value(key, str, None if default is None else "")
        if value is None:
            return default or next(iter(kind))
        if value in list(kind):
            return kind(value)
        self.fault(f"`{self.path(key)}` is {value[:60]!a}{nearest(value, kind)}", self.mark_of(key))
        return default or next(iter(kind))

    def texts(self, key: str, *, required: bool = False, most: int = 1000) -> tuple[str, ...]:
        """Return a list of texts; empty if it is missing."""
        return tuple(text for _, text in self.marked_texts(key, required=required, most=most))

    def marked_texts(
        self, key: str, *, required: bool = False, most: int = 1000
    ) -> Iterator[tuple[Mark, str]]:
        """Yield the texts of a list with their positions."""
        for number, node in enumerate(self.nodes(key, required=required, most=most)):
            if isinstance(node.value, str) and node.value.strip():
                yield node.mark, node.value
            else:
                self.fault(f"`{self.path(key)}[{number}]` is {_said(node.value)}: write a text", node.mark)

    def names(self, key: str, what: str = "agent name", *, most: int = 1000) -> tuple[str, ...]:
        """Return a list of names; empty if it is missing."""
        return tuple(self._checked(key, text, what, mark) for mark, text in self.marked_texts(key, most=most))

    def nodes(self, key: str, *, required: bool = False, most: int = 1000) -> list[Node]:
        """Return the nodes of a list; empty if it is missing and not required."""
        if not self.has(key) and not required:
            return []
        value = self._value(key, list, None) or []
        if len(value) > most:
            self.fault(f"`{self.path(key)}` has {len(value)} entries: {most} at most", self.mark_of(key))
        return value[:most]

    def objects(
        self, key: str, known: Collection[str] | None = None, *, required: bool = False
    ) -> Iterator[Fields]:
        """Yield the objects of a list."""
        for number, node in enumerate(self.nodes(key, required=required, most=5000)):
            yield Fields(node, f"{self.path(key)}[{number}]", self.faults, known)

    def node(self, key: str) -> Node | None:
        """Return the node of a field, or None where it is missing or null."""
        return self._nodes[key] if self.has(key) else None

    def object(self, key: str, known: Collection[str] | None = None) -> Fields | None:
        """Return the object in a field, or None where it is missing or null."""
        found = self.node(key)
        return Fields(found, self.path(key), self.faults, known) if found else None

    def entries(self, key: str, *, required: bool = False) -> Iterator[tuple[str, Node, Mark]]:
        """Yield the entries of an object by key, and where each key stands."""
        if not self.has(key) and not required:
            return
        found = self._value(key, dict, None) or {}
        keys = self._nodes[key].keys if key in self._nodes else {}
        for name, node in found.items():
            yield name, node, keys.get(name, node.mark)

    def path(self, key: str) -> str:
        """Return the path of a field in the file."""
        return f"{self.where}.{key}" if self.where else key

    def _value(self, key: str, kind: type[_T], default: _T | None) -> _T | None:
        """Return a field of a type; None if it is missing, null, or of another type."""
        if not self.has(key):
            if default is None:
                said = "is null" if key in self._nodes else "is missing"
                self.fault(f"`{self.path(key)}` {said}: write {_KINDS[kind]}", self.mark_of(key))
            return None
        value = self._nodes[key].value
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        hint = (
            ": put it in quotes"
            if kind is str and isinstance(value, int | float)
            else f": write {_KINDS[kind]}"
        )
        self.fault(f"`{self.path(key)}` is {_said(value)}{hint}", self.mark_of(key))
        return None

    def _checked(self, key: str, text: str, what: str, mark: Mark | None = None) -> str:
        if not text:
            return text
        try:
            return checked_name(text, what)
        except BadName as problem:
            self.fault(f"`{self.path(key)}`: {problem}", mark or self.mark_of(key))
            return ""

    def _named(self) -> str:
        return f"`{self.where}`" if self.where else "the file"


def read_json(data: bytes, name: str, read: Callable[[Fields], _T], limit: int = FILE_BYTES) -> _T:
    """Return what `read` makes of the object in a file of JSON. Unknown fields are ignored.

    Raises:
        BadFile: it is no JSON, or `read` found faults.

    """
    loaded = load_json(data, name, limit)
    if not isinstance(loaded, dict):
        raise BadFile(name, [Fault(1, "is not a JSON object: begin with `{`")])
    faults = list[Fault]()
    made = read(Fields(json_node(loaded), "", faults))
    if faults:
        raise refused(name, faults)
    return made


def _said(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"the text {value[:40]!a}" if value.strip() else "an empty text"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the number {value}"[:60] if isinstance(value, int | float) else _KINDS[type(value)]
