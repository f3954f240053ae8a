"""Archived sessions: their names, `cleanup_log.json` and `archive_index.json` (WF, Issue 2 and 3)."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Any, Final

from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.json_text import json_text, overlaid
from orchestrator.formats.workflow.nodes import Fields, read_json
from orchestrator.model.errors import BadFile
from orchestrator.model.workflow import TASK_ID
from orchestrator.model.workflow_records import ArchivalOperation, ArchivedSession, CleanupOperation

LOG_FILE: Final = "cleanup_log.json"
INDEX_FILE: Final = "archive_index.json"
MOST_BYTES: Final = 16 * FILE_BYTES
_LATEST: Final = 253_402_300_799  # the end of the year 9999


class _Outcome(StrEnum):
    DONE = "done"
    FAILED = "failed"


def archive_name(task_id: str, archived_at: int, taken: int = 0) -> str:
    """Return `session_YYYYMMDD_HHMM_SLUG.json` in UTC. `taken` is how many files have this name already."""
    found = TASK_ID.fullmatch(task_id)
    slug = found["slug"] if found else "unknown"
    at = time.strftime("%Y%m%d_%H%M", time.gmtime(min(max(archived_at, 0), _LATEST)))
    return f"session_{at}_{slug}{f'_{taken + 1}' if taken else ''}.json"


def read_cleanup_log(data: bytes, name: str = LOG_FILE) -> tuple[CleanupOperation, ...]:
    """Return what was moved away, and what could not be. Raises BadFile."""
    return read_json(
        data, name, lambda found: tuple(map(_operation, found.objects("operations"))), MOST_BYTES
    )


def render_cleanup_log(operations: tuple[CleanupOperation, ...], base: bytes = b"") -> bytes:
    """Return a log with operations added at its end; entries of `base` stay as they are.

    Raises:
        BadFile: `base` is no log.

    """
    return _appended(base, "operations", [_operation_values(each) for each in operations], LOG_FILE)


def read_archive_index(data: bytes, name: str = INDEX_FILE) -> tuple[ArchivedSession, ...]:
    """Return the archived sessions. Raises BadFile."""
    return read_json(data, name, lambda found: tuple(map(_session, found.objects("sessions"))), MOST_BYTES)


def render_archive_index(sessions: tuple[ArchivedSession, ...], base: bytes = b"") -> bytes:
    """Return an index with sessions added at its end; entries of `base` stay as they are.

    Raises:
        BadFile: `base` is no index.

    """
    return _appended(base, "sessions", [_session_values(each) for each in sessions], INDEX_FILE)


def _appended(base: bytes, key: str, entries: list[dict[str, Any]], name: str) -> bytes:
    if base and not entries:
        return base
    old = load_json(base, name, MOST_BYTES) if base else {}
    was = old.get(key, []) if isinstance(old, dict) else None
    if not isinstance(was, list):
        from orchestrator.model.errors import Fault

        raise BadFile(name, [Fault(0, f"has no list `{key}`")])
    return json_text(overlaid(old, {key: [*was, *entries]}))


def _operation(found: Fields) -> CleanupOperation:
    return CleanupOperation(
        timestamp=found.integer("timestamp"),
        operation=found.member("operation", ArchivalOperation),
        agent=found.name("agent"),
        source=found.text("from"),
        target=found.text("to", ""),
        sha256=found.text("sha256", ""),
        done=found.member("result", _Outcome) is _Outcome.DONE,
        reason=found.text("reason", ""),
    )


def _operation_values(operation: CleanupOperation) -> dict[str, Any]:
    return {
        "timestamp": operation.timestamp,
        "operation": operation.operation.value,
        "agent": operation.agent,
        "from": operation.source,
        "to": operation.target,
        "sha256": operation.sha256,
        "result": (_Outcome.DONE if operation.done else _Outcome.FAILED).value,
        "reason": operation.reason,
    }


def _session(found: Fields) -> ArchivedSession:
    return ArchivedSession(
        agent=found.name("agent"),
        task_id=found.text("task_id"),
        session_start=found.integer("session_start"),
        archived_at=found.integer("archived_at"),
        file=found.text("file", blank=False),
        sha256=found.text("sha256"),
        notes=found.integer("notes", 0),
    )


def _session_values(session: ArchivedSession) -> dict[str, Any]:
    return {
        "agent": session.agent,
        "task_id": session.task_id,
        "session_start": session.session_start,
        "archived_at": session.archived_at,
        "file": session.file,
        "sha256": session.sha256,
        "notes": session.notes,
    }
