"""Handoffs from role to role, as JSON (C1): `handoff_<milliseconds>_<8 characters>.json`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from orchestrator.formats.coordination.fields import (
    ENTRIES,
    handoff_id,
    is_handoff_id,
    memory_ids,
    present,
    text,
    texts,
    time,
    unnamed,
    with_others,
)
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES, refused
from orchestrator.formats.workflow.json_text import rewritten
from orchestrator.formats.workflow.nodes import Fields, json_node
from orchestrator.model.coordination import (
    ROUTES,
    Deliverable,
    DeliverableKind,
    HandoffContext,
    HandoffHead,
    HandoffStatus,
    HandoffSteps,
    Issue,
    IssueSeverity,
    MemoryReferences,
    PipelineRole,
    RoleHandoff,
    Transition,
)
from orchestrator.model.errors import BadFile, Fault

SUFFIX: Final = ".json"
SHAPE: Final[dict[str, Any]] = {
    "handoff": dict.fromkeys(("from", "to", "timestamp", "type", "status", "handoffId")),
    "context": dict.fromkeys(("taskId", "phase", "scope", "dependencies")),
    "deliverable": dict.fromkeys(("type", "location", "summary", "artifacts")),
    "nextSteps": dict.fromkeys(("instructions", "constraints", "acceptanceCriteria")),
    "issues": [dict.fromkeys(("severity", "description", "recommendation"))],
    "memory": dict.fromkeys(("created", "referenced")),
    "report": {},  # what only a report can say: see `hub_report`
}
_ID_LENGTH: Final = 128
_T = TypeVar("_T")
_TASK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def read_handoff(data: bytes, name: str, limit: int = FILE_BYTES) -> RoleHandoff:
    """Return the handoff in a file. Fields may be missing: `lacking` says which of them its transition needs.

    Where the file is named by an id, that is the handoff's.

    Raises:
        BadFile: with every fault: no JSON, no object `handoff`, a field of another type or outside its closed set,
            roles between which its transition does not lead, an id that is none or not the one of the file's name.

    """
    loaded = load_json(data, name, limit)
    if not isinstance(loaded, dict):
        raise BadFile(name, [Fault(1, "is not a JSON object: begin with `{`")])
    faults = list[Fault]()
    handoff = handoff_in(loaded, faults)
    named = name.rpartition("/")[2].removesuffix(SUFFIX)
    if is_handoff_id(named):
        if handoff.head.id not in {None, named}:
            faults.append(
                Fault(0, f"`handoff.handoffId` is not {named}, as the file is named: use one id for both")
            )
        handoff = replace(handoff, head=replace(handoff.head, id=named))
    if faults:
        raise refused(name, faults)
    return handoff


def render_handoff(handoff: RoleHandoff, base: bytes = b"") -> bytes:
    """Return a handoff as a file. `base`, the file as it is, stays if it says the same."""
    return rewritten(
        handoff, base, lambda data: read_handoff(data, handoff.head.id or ""), lambda _: document(handoff)
    )


def handoff_in(loaded: dict[str, Any], faults: list[Fault]) -> RoleHandoff:
    """Return the handoff in a JSON object; adds what is wrong with it to `faults`."""
    whole = Fields(json_node(loaded), "", faults)
    head = whole.object("handoff")
    if head is None:
        whole.fault("has no object `handoff`: write who hands on to whom, and what its `type` is")
    return RoleHandoff(
        head=_head(head) if head else HandoffHead(),
        context=_in(whole, "context", _context),
        deliverable=_in(whole, "deliverable", _deliverable),
        steps=_in(whole, "nextSteps", _steps),
        issues=_issues(whole),
        memory=_in(whole, "memory", _memory),
        others=unnamed(loaded, SHAPE),
    )


def document(handoff: RoleHandoff) -> dict[str, Any]:
    """Return a handoff as the JSON object of its file, its fields in the order of the format."""
    head, context, deliverable = handoff.head, handoff.context, handoff.deliverable
    steps, memory = handoff.steps, handoff.memory
    made: dict[str, Any] = {
        "handoff": present(
            (
                ("from", head.source),
                ("to", head.target),
                ("timestamp", head.timestamp),
                ("type", head.transition),
                ("status", head.status),
                ("handoffId", head.id),
            )
        )
    }
    if context is not None:
        made["context"] = present(
            (
                ("taskId", context.task),
                ("phase", context.phase),
                ("scope", context.scope),
                ("dependencies", context.dependencies),
            )
        )
    if deliverable is not None:
        made["deliverable"] = present(
            (
                ("type", deliverable.kind),
                ("location", deliverable.location),
                ("summary", deliverable.summary),
                ("artifacts", deliverable.artifacts),
            )
        )
    if steps is not None:
        made["nextSteps"] = present(
            (
                ("instructions", steps.instructions),
                ("constraints", steps.constraints),
                ("acceptanceCriteria", steps.criteria),
            )
        )
    if handoff.issues is not None:
        made["issues"] = [
            present(
                (
                    ("severity", each.severity),
                    ("description", each.description),
                    ("recommendation", each.recommendation),
                )
            )
            for each in handoff.issues
        ]
    if memory is not None:
        made["memory"] = present((("created", memory.created), ("referenced", memory.referenced)))
    return with_others(made, handoff.others)


def _in(whole: Fields, key: str, read: Callable[[Fields], _T]) -> _T | None:
    found = whole.object(key)
    return read(found) if found is not None else None


def _context(found: Fields) -> HandoffContext:
    return HandoffContext(
        _task(found, "taskId"), text(found, "phase"), text(found, "scope"), texts(found, "dependencies")
    )


def _deliverable(found: Fields) -> Deliverable:
    return Deliverable(
        found.member("type", DeliverableKind) if found.has("type") else None,
        text(found, "location"),
        text(found, "summary"),
        texts(found, "artifacts"),
    )


def _steps(found: Fields) -> HandoffSteps:
    return HandoffSteps(
        texts(found, "instructions"), texts(found, "constraints"), texts(found, "acceptanceCriteria")
    )


def _memory(found: Fields) -> MemoryReferences:
    return MemoryReferences(memory_ids(found, "created"), memory_ids(found, "referenced"))


def _head(found: Fields) -> HandoffHead:
    head = HandoffHead(
        source=found.member("from", PipelineRole) if found.has("from") else None,
        target=found.member("to", PipelineRole) if found.has("to") else None,
        timestamp=time(found, "timestamp"),
        transition=found.member("type", Transition) if found.has("type") else None,
        status=found.member("status", HandoffStatus) if found.has("status") else None,
        id=handoff_id(found, "handoffId"),
    )
    if head.transition is not None:
        sources, target = ROUTES[head.transition]
        leads = f"{head.transition} leads from {' or '.join(sorted(sources))} to {target}"
        if head.source is not None and head.source not in sources:
            found.fault(f"`{found.path('from')}` is {head.source}: {leads}")
        if head.target is not None and head.target is not target:
            found.fault(f"`{found.path('to')}` is {head.target}: {leads}")
    return head


def _task(found: Fields, key: str) -> str | None:
    """Return the id of a task: it becomes a part of the name of a file, and so holds nothing but letters and signs."""
    value = text(found, key)
    if value is not None and not _TASK.fullmatch(value):
        found.fault(
            f"`{found.path(key)}` is {value[:60]!a}: use letters, digits, '_' and '-', at most {_ID_LENGTH}, "
            "the first a letter or a digit"
        )
    return value


def _issues(found: Fields) -> tuple[Issue, ...] | None:
    if not found.has("issues"):
        return None
    issues = tuple(
        Issue(
            each.member("severity", IssueSeverity),
            each.text("description", blank=False),
            text(each, "recommendation"),
        )
        for each in found.objects("issues")
    )
    if len(issues) > ENTRIES:
        found.fault(f"`issues` has {len(issues)} entries: {ENTRIES} at most")
    return issues
