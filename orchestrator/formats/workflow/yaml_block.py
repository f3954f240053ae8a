"""The one block of YAML in a page of prose: YAML 1.2 (core schema), without anchors, aliases and tags.

Parsing stops at the first error of syntax; whatever else is wrong is collected. PyYAML's parser gives events with
positions; what they mean is decided here, because PyYAML itself reads YAML 1.1, where `no` is false and `012` is ten.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from orchestrator.formats.lines import Kind, scan, unclosed
from orchestrator.formats.strict_json import DEEPEST
from orchestrator.formats.text import decoded, refused
from orchestrator.formats.workflow.nodes import Mark, Node
from orchestrator.model.errors import BadFile, Fault

PLAN_BYTES: Final = 4 * 1_048_576
"""A plan of a thousand agents has half a megabyte."""

_NULL: Final = frozenset({"", "null", "Null", "NULL", "~"})
_BOOLS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,19}")
_OCTAL: Final = re.compile(r"0o[0-7]{1,21}")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]{1,16}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class YamlBlock:
    """The block of a page: its value, its text, and the lines between which it stands (of the fences, from 1)."""

    root: Node
    text: str
    opened: int
    closed: int


def read_yaml_block(data: bytes, name: str, limit: int = PLAN_BYTES) -> YamlBlock:
    """Return the one fenced `yaml` block of a page.

    Raises:
        BadFile: there is none or more than one, or it is not the YAML that we read; with line and column.

    """
    lines = scan(decoded(data, name, limit).split("\n"))
    blocks, opened = list[tuple[int, int]](), 0
    for line in lines:
        if line.kind is Kind.FENCE:
            if opened and _is_yaml(lines[opened - 1].text):
                blocks.append((opened, line.number))
            opened = 0 if opened else line.number
    if opened and _is_yaml(lines[opened - 1].text):
        raise BadFile(
            name, [Fault(unclosed(lines), "the block of YAML is never closed: end it with a line ```")]
        )
    if not blocks:
        raise BadFile(
            name, [Fault(0, "has no block of YAML: begin one with a line ```yaml and end it with ```")]
        )
    if len(blocks) > 1:
        first, second = blocks[0][0], blocks[1][0]
        twice = f"a second block of YAML; the first begins in line {first}: keep one of them"
        raise BadFile(name, [Fault(second, twice)])
    opened, closed = blocks[0]
    text = "\n".join(line.text for line in lines[opened : closed - 1])
    return YamlBlock(parse_yaml(text, name, opened), text, opened, closed)


def parse_yaml(text: str, name: str, before: int = 0) -> Node:
    """Return the nodes of a text of YAML; `before` is how many lines stand before it in its file.

    Raises:
        BadFile: with every fault.

    """
    import yaml  # not needed to show a status

    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(before)
    try:
        for event in yaml.parse(text, Loader=parser):
            builder.take(event)
            if builder.stopped:
                break
    except yaml.MarkedYAMLError as problem:
        found = problem.problem_mark or problem.context_mark
        mark = builder.mark(found) if found else Mark()
        said = " ".join(part for part in (problem.context, problem.problem) if part)
        builder.faults.append(Fault(mark.line, f"is not YAML: {said}{_hint(said)}", mark.column))
    except yaml.YAMLError as problem:
        builder.faults.append(Fault(0, f"is not YAML: {problem}"))
    if not builder.faults and builder.root is None:
        builder.faults.append(Fault(before, "the block of YAML is empty: write the plan"))
    if builder.faults or builder.root is None:
        raise refused(name, builder.faults)
    return builder.root


@dataclass(slots=True)
class _Open:
    """A list or an object that is being read."""

    mark: Mark
    value: list[Node] | dict[str, Node]
    keys: dict[str, Mark] = field(default_factory=dict)
    key: str | None = None  # of the value that comes next
    awaits_key: bool = True


class _Builder:
    def __init__(self, before: int) -> None:
        self.faults = list[Fault]()
        self.root: Node | None = None
        self.stopped = False
        self._before = before
        self._open = list[_Open]()
        self._documents = 0

    def mark(self, found: Any) -> Mark:  # noqa: ANN401 (PyYAML's mark)
        return Mark(found.line + 1 + self._before, found.column + 1)

    def take(self, event: Any) -> None:  # noqa: ANN401 (PyYAML's event)
        mark = self.mark(event.start_mark)
        if getattr(event, "anchor", None) is not None:
            what = "an alias" if type(event).__name__ == "AliasEvent" else "an anchor"
            self._fault(mark, f"{what} ({event.anchor[:40]!a}): write the value out where it is needed")
        kind: str = type(event).__name__
        match kind:
            case "DocumentStartEvent":
                self._documents += 1
                if self._documents > 1:
                    self._fault(mark, "a second document begins (`---`): keep one of them")
                    self.stopped = True
                if event.version or event.tags:
                    self._fault(mark, "a directive (`%`): take it out")
            case "ScalarEvent":
                self._scalar(event, mark)
            case "AliasEvent":
                self._add(Node(None, mark))
            case "SequenceStartEvent" | "MappingStartEvent":
                self._tag(event, mark)
                self._open.append(_Open(mark, [] if kind == "SequenceStartEvent" else {}))
                if len(self._open) > DEEPEST:
                    self._fault(mark, f"is nested deeper than {DEEPEST} levels")
                    self.stopped = True
            case "SequenceEndEvent" | "MappingEndEvent":
                done = self._open.pop()
                self._add(Node(done.value, done.mark, done.keys))
            case _:  # where streams and documents end
                pass

    def _scalar(self, event: Any, mark: Mark) -> None:  # noqa: ANN401 (PyYAML's event)
        self._tag(event, mark)
        plain = event.style in {None, ""}
        top = self._open[-1] if self._open else None
        if top is not None and isinstance(top.value, dict) and top.awaits_key:
            if plain and event.value == "<<":
                self._fault(mark, "a merge key (`<<`): write the values out")
            if event.value in top.keys:
                first = top.keys[event.value].line
                self._fault(mark, f"`{event.value[:60]}` is in line {first} and here: keep one of them")
            top.key, top.awaits_key = event.value, False
            top.keys.setdefault(event.value, mark)
            return
        self._add(Node(_resolved(event.value) if plain else event.value, mark))

    def _add(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        top = self._open[-1]
        if isinstance(top.value, list):
            top.value.append(node)
        elif top.awaits_key:
            self._fault(node.mark, "a list or an object is used as a key: write a word and a colon")
            top.key, top.awaits_key = None, False
        else:
            if top.key is not None:
                top.value.setdefault(top.key, node)
            top.awaits_key = True

    def _tag(self, event: Any, mark: Mark) -> None:  # noqa: ANN401 (PyYAML's event)
        if event.tag is not None:
            self._fault(mark, f"a tag ({event.tag[:40]!a}): take it out; put a text in quotes")

    def _fault(self, mark: Mark, reason: str) -> None:
        self.faults.append(Fault(mark.line, reason, mark.column))


def _resolved(text: str) -> object:
    """Return what a plain scalar means in the core schema of YAML 1.2."""
    if text in _NULL:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text, 8)
    if _HEX.fullmatch(text):
        return int(text, 16)
    return float(text) if _FLOAT.fullmatch(text) else text


def _is_yaml(opener: str) -> bool:
    return opener.strip().strip("`~").strip().casefold().split(" ")[0] in {"yaml", "yml"}


def _hint(said: str) -> str:
    if "could not find expected ':'" in said or "mapping values are not allowed" in said:
        return ": put a text that holds `: ` in quotes, and check the indentation"
    if "cannot start any token" in said or "tab character" in said:
        return ": indent with spaces instead of tabs, and put a text that begins with such a sign in quotes"
    if "expected <block end>" in said or "did not find expected" in said:
        return ": check the indentation and the quotes of this line and the one before"
    return ""
