"""What the observer needs of each handoff in an archive, read fast: ten thousand in less than a second.

A handoff that is plainly well formed is read here by itself. Anything odd is given to the strict reader, which says
what is wrong, so there is one judge of what a handoff is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.coordination.fields import is_handoff_id
from orchestrator.formats.coordination.handoff import SUFFIX, read_handoff
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.coordination import (
    CHAIN,
    ROUTES,
    HandoffContext,
    HandoffStatus,
    IssueSeverity,
    MemoryReferences,
    PipelineRole,
    RoleHandoff,
    Transition,
    moment,
)
from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.records.archive_files import DAMAGED, UnreadRecord
from orchestrator.records.handoff_versions import CONFLICT

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files

_TASK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
# Looked up by value: calling an enum takes five times as long.
_TRANSITIONS: Final = {each.value: each for each in Transition}
_ROLES: Final = {each.value: each for each in PipelineRole}
_STATUSES: Final = {each.value: each for each in HandoffStatus}
_SEVERITIES: Final = {each.value: each for each in IssueSeverity}
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class HandoffFact:
    """A handoff, as far as figures go. `at` is in seconds since the epoch; without a status it is pending."""

    id: str
    task: str
    source: PipelineRole
    target: PipelineRole
    transition: Transition
    status: HandoffStatus
    at: float
    issues: tuple[tuple[IssueSeverity, str], ...] = ()
    created: tuple[str, ...] = ()
    referenced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchiveFacts:
    """Handoffs in order, when the tasks began that have a chain (seconds since the epoch), and what did not read."""

    handoffs: tuple[HandoffFact, ...]
    began: dict[str, float]
    unread: tuple[UnreadRecord, ...]


def read_archive(files: Files, root: Path, since: str = "", until: str = "9999-12-31") -> ArchiveFacts:
    """Return what the folders of some dates hold, `since` and `until` included. Nothing is written.

    Raises:
        Refused: the archive is a link or no folder.
        OSError: the disk fails.

    """
    handoffs, began, unread = list[HandoffFact](), dict[str, float](), list[UnreadRecord]()
    there = files.entry(root)
    if there is not None and not there.is_folder:
        raise Refused(f"{root} is a link or a file: put a folder in its place")
    for date in sorted(name for name in files.names(root) if _DATE.fullmatch(name)):
        folder = root / date
        entry = files.entry(folder)
        if not since <= date <= until or entry is None:
            continue
        if not entry.is_folder:
            unread.append(UnreadRecord(folder, "is no folder of a date"))
            continue
        for name in files.names(folder):
            try:
                _take(files, folder, name, handoffs, began)
            except OrchestratorError as problem:
                unread.append(UnreadRecord(folder / name, str(problem)))
    handoffs.sort(key=lambda each: (each.at, each.id))
    return ArchiveFacts(tuple(handoffs), began, tuple(sorted(unread, key=lambda each: each.path)))


def memory_uses(files: Files, root: Path, memory: str) -> tuple[list[str], list[str]]:
    """Return the ids of the handoffs that say to have created a memory, and of those that consulted it."""
    found = read_archive(files, root).handoffs
    return (
        [each.id for each in found if memory in each.created],
        [each.id for each in found if memory in each.referenced],
    )


def fact_of(handoff: RoleHandoff) -> HandoffFact:
    """Return a handoff as a fact. Raises Refused if it lacks what figures need."""
    head, memory = handoff.head, handoff.memory or MemoryReferences()
    at, task = moment(head.timestamp or ""), (handoff.context or HandoffContext()).task
    if None in {head.id, task, head.source, head.target, head.transition, at}:
        raise Refused("lacks its id, task, roles, type or timestamp")
    assert head.id and task and head.source and head.target and head.transition  # noqa: S101, PT018 (for mypy)
    return HandoffFact(
        head.id,
        task,
        head.source,
        head.target,
        head.transition,
        head.status or HandoffStatus.PENDING,
        at or 0.0,
        tuple((each.severity, each.description) for each in handoff.issues or ()),
        memory.created or (),
        memory.referenced or (),
    )


def read_fact(data: bytes, name: str) -> HandoffFact:
    """Return the fact in a file of an archive. Raises Refused, with every fault, if it is no handoff."""
    try:
        fact = _plain(json.loads(data.decode()), name.removesuffix(SUFFIX))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fact = None
    return fact or fact_of(read_handoff(data, name))


def _take(
    files: Files, folder: Path, name: str, handoffs: list[HandoffFact], began: dict[str, float]
) -> None:
    """Read a file of the archive. Raises Refused if it is no record."""
    if name.startswith((CONFLICT, DAMAGED)):
        return
    if name.startswith(CHAIN) and name.endswith(SUFFIX):
        _take_chain(files.read(folder / name, 16 * FILE_BYTES), began)
    elif is_handoff_id(name.removesuffix(SUFFIX)) and name.endswith(SUFFIX):
        handoffs.append(read_fact(files.read(folder / name, FILE_BYTES), name))
    else:
        raise Refused("is neither a handoff nor a chain by its name")


def _take_chain(data: bytes, began: dict[str, float]) -> None:
    """Note when a chain began: all else about it is worked out of its handoffs."""
    try:
        found = json.loads(data.decode())  # bytes are looked at for their encoding first
        task, at = found["taskId"], moment(found["created"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refused("is a damaged chain: opening the archive makes it again") from None
    if isinstance(task, str) and at is not None:
        began[task] = min(at, began.get(task, at))


def _plain(found: dict[str, Any], identifier: str) -> HandoffFact | None:
    """Return the fact in the JSON of a handoff; None if the strict reader is to look at it."""
    head, memory = found["handoff"], found.get("memory") or {}
    task, at, transition = found["context"]["taskId"], moment(head["timestamp"]), _TRANSITIONS[head["type"]]
    source, target = _ROLES[head["from"]], _ROLES[head["to"]]
    sources, to = ROUTES[transition]
    sound = (
        at is not None
        and _TASK.fullmatch(task)
        and source in sources
        and target is to
        and head.get("handoffId", identifier) == identifier
    )
    if not sound or at is None:
        return None
    return HandoffFact(
        identifier,
        task,
        source,
        target,
        transition,
        _STATUSES[head.get("status") or "pending"],
        at,
        tuple((_SEVERITIES[each["severity"]], each["description"]) for each in found.get("issues") or ()),
        tuple(memory.get("created") or ()),
        tuple(memory.get("referenced") or ()),
    )
