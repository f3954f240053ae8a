"""A report as JSON: `task report --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

from orchestrator.formats.timestamps import rfc3339
from orchestrator.reporting.task_report import TaskReport

_OF_STATUS: Final = ("state", "why", "outcome", "criteria", "usage", "used_by")
"""What the document shares with that of `task status`."""

_MOMENTS: Final = frozenset({"made_at", "began", "ended", "since", "until", "asked_at", "answered_at", "at"})


def document_of(report: TaskReport) -> dict[str, Any]:
    """Return a report's JSON document: moments are RFC 3339 in UTC."""
    document: dict[str, Any] = _plain(report)
    view = document.pop("view")
    return {"task": document.pop("name"), **{key: view[key] for key in _OF_STATUS}, **document}


def _plain(value: Any) -> Any:  # noqa: ANN401 (any value of a report)
    if is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: _moment(getattr(value, each.name))
            if each.name in _MOMENTS
            else _plain(getattr(value, each.name))
            for each in fields(value)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _moment(at: float | None) -> str | None:
    return None if at is None else rfc3339(at)
