"""Writes a plan: as plain values, as a block of YAML, and back into the page of prose around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestrator.formats.text import decoded
from orchestrator.formats.workflow.nodes import plain
from orchestrator.formats.workflow.plan import PlanDocument, read_plan_document
from orchestrator.formats.workflow.plan_values import approval_values, plan_values
from orchestrator.formats.workflow.yaml_block import PLAN_BYTES, parse_yaml
from orchestrator.model.errors import Refused
from orchestrator.model.workflow import (
    PLAN_FILE,
    PlanApproval,
    WorkflowPlan,
)

_PLAIN: Final = re.compile(r"[A-Za-z_/][A-Za-z0-9_/.*-]*(?: [A-Za-z0-9_/.(][A-Za-z0-9_/.,;()+=*-]*)*")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_WIDTH: Final = 100
_APPROVAL: Final = re.compile(r"approval[ \t]*:")


def render_block(plan: WorkflowPlan) -> str:
    """Return a plan as YAML without the fences. An agent's optional fields that say nothing are left out."""
    values = plan_values(plan)
    values["agents"] = [_without_blanks(agent) for agent in values["agents"]]
    return "".join(f"{line}\n" for line in _mapping(values, 0))


def replace_plan(data: bytes, plan: WorkflowPlan, name: str = PLAN_FILE) -> bytes:
    """Return a page with its plan replaced; the prose around the block stays, and so does an equal plan.

    Raises:
        BadFile: the page has no readable plan.

    """
    document = read_plan_document(data, name)
    if document.plan == plan:
        return data
    return _with_block(data, document, render_block(plan), name)


def set_approval(data: bytes, approval: PlanApproval | None, name: str = PLAN_FILE) -> bytes:
    """Return a page with another approval; every other line, comments too, stays as it is.

    Raises:
        BadFile: the page has no readable plan.
        Refused: the block is one line in braces, which cannot be edited line by line.

    """
    document = read_plan_document(data, name)
    if document.plan.approval == approval:
        return data
    lines = document.block.text.split("\n")
    said = "".join(f"{line}\n" for line in _mapping({"approval": approval_values(approval)}, 0)).rstrip("\n")
    start = next((at for at, line in enumerate(lines) if _APPROVAL.match(line)), None)
    if start is None:
        while lines and not lines[-1].strip():
            lines.pop()
        lines.append(said)
    else:
        end = start + 1
        while end < len(lines) and (lines[end].startswith((" ", "\t")) or lines[end].startswith("}")):
            end += 1
        lines[start:end] = said.split("\n")
    block = "\n".join(lines) + "\n"
    expected = {**plain(document.block.root), "approval": approval_values(approval)}
    if plain(parse_yaml(block, name, document.block.opened)) != expected:
        raise Refused(
            f"{name}: write `approval: null` on a line of its own at the end of the block, then try again"
        )
    return _with_block(data, document, block, name)


def _with_block(data: bytes, document: PlanDocument, block: str, name: str) -> bytes:
    lines = decoded(data, name, PLAN_BYTES).split("\n")
    head, tail = lines[: document.block.opened], lines[document.block.closed - 1 :]
    return "\n".join((*head, block.rstrip("\n"), *tail)).encode()


def _without_blanks(agent: dict[str, Any]) -> dict[str, Any]:
    kept = {"needs", "verifier"}
    return {key: value for key, value in agent.items() if key in kept or value not in (None, [], {}, "")}


def _mapping(values: Mapping[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, value in values.items():
        flat = _flow(value)
        if (
            not value
            or not isinstance(value, dict | list)
            or (_shallow(value) and len(flat) + len(key) + indent < _WIDTH)
        ):
            yield f"{pad}{_scalar(key)}: {flat}"
        elif isinstance(value, dict):
            yield f"{pad}{_scalar(key)}:"
            yield from _mapping(value, indent + 2)
        else:
            yield f"{pad}{_scalar(key)}:"
            for item in value:
                yield from _item(item, indent + 2)


def _item(item: Any, indent: int) -> Iterator[str]:  # noqa: ANN401 (any JSON value)
    pad = " " * indent
    flat = _flow(item)
    if not isinstance(item, dict) or (_shallow(item) and len(flat) + indent < _WIDTH):
        yield f"{pad}- {flat}"
        return
    first, *rest = _mapping(item, indent + 2)
    yield f"{pad}- {first.lstrip()}"
    yield from rest


def _shallow(value: Any) -> bool:  # noqa: ANN401 (any JSON value)
    """Return whether a value reads well in one line: it holds no lists of objects."""
    inner = value.values() if isinstance(value, dict) else value
    return all(
        not each or _shallow(each) if isinstance(each, dict) else not isinstance(each, list) or not each
        for each in inner
    )


def _flow(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.casefold() not in _WORDS and "," not in value:
            return value
        return _UNPRINTABLE.sub(
            lambda found: f"\\U{ord(found[0]):08x}", json.dumps(value, ensure_ascii=False)
        )
    return json.dumps(value)
