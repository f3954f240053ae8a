"""What journals called things before they were renamed, and how their lines read today.

A journal is never rewritten: its old lines are given today's names each time that they are read. Imports nothing
heavy: `task why` reads journals as well.
"""

from __future__ import annotations

from typing import Any, Final

_KINDS: Final = {
    "told": "notified",
    "tell": "notify",
    "run_told": "run_signalled",
    "run_wished": "run_tool_requested",
    "news_noted": "briefing_extended",
    "counsel_begun": "consultation_begun",
    "request_heard": "request_acknowledged",
}
"""Kinds of facts, changes and actions."""

_RUN: Final = {
    "heard": "acknowledged",
    "told_at": "event_at",
    "wishes": "tool_requests",
    "news_at": "screen_changed_at",
}
_QUESTION: Final = {"leave": "permission"}
_CONSULTATION: Final = {"news": "pending", "told": "briefing"}
_REQUEST: Final = {"wish": "tool_request"}
_STATE: Final = {"counsel": "consultation"}
_RULE: Final = {"ruling": "decision"}

_ENDINGS: Final = {"overtaken": "superseded"}
_QUESTION_KINDS: Final = {"unended": "termination"}
"""Values of a run's `ending`, and of a question's `kind`."""

_DECISIONS: Final = ("allow", "deny", "ask")

_MARKS: Final = tuple(
    f'"{name}"'.encode()
    for names in (_KINDS, _RUN, _QUESTION, _CONSULTATION, _REQUEST, _STATE, _RULE, _ENDINGS, _QUESTION_KINDS)
    for name in names
)


def renewed(raw: bytes, line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a journal under today's names.

    Args:
        raw: The line as it was written. Most lines hold no old name, which this shows quickly.
        line: The same as JSON: an entry with a fact, its changes and its actions, or a snapshot.

    """
    if not any(mark in raw for mark in _MARKS):
        return line
    if b'"ruling"' in raw:
        line = _decisions(line)
    if isinstance(snapshot := line.get("snapshot"), dict):
        return line | {"snapshot": _state(snapshot)}
    entry = {name: [_part(each) for each in line.get(name) or ()] for name in ("changes", "actions")}
    return line | entry | {"fact": _part(line.get("fact"))}


def _part(part: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a fact, a change or an action, with what it holds of a run, a question or a tool request."""
    if not isinstance(part, dict):
        return part
    kind = part.get("kind")
    renamed = part | {"kind": _KINDS.get(kind, kind)} if isinstance(kind, str) else part
    match kind:
        case "run_opened":
            return renamed | {"run": _run(part.get("run"))}
        case "run_ending":
            return _valued(renamed, "ending", _ENDINGS)
        case "question_asked":
            return renamed | {"question": _question(part.get("question"))}
        case "event_landed":
            return renamed | {"event": _named(part.get("event"), _REQUEST)}
        case "run_wished":
            return _named(renamed, _REQUEST)
        case _:
            return renamed


def _state(state: dict[str, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = _named(state, _STATE)
    for table, renew in (("runs", _run), ("questions", _question)):
        if isinstance(entries := renamed.get(table), dict):
            renamed[table] = {key: renew(each) for key, each in entries.items()}
    if "consultation" in renamed:
        renamed["consultation"] = _named(renamed["consultation"], _CONSULTATION)
    if isinstance(outbox := renamed.get("outbox"), dict):
        renamed["outbox"] = {key: _part(action) for key, action in outbox.items()}
    return renamed


def _run(run: Any) -> Any:  # noqa: ANN401 (JSON)
    return _valued(_named(run, _RUN), "ending", _ENDINGS)


def _question(question: Any) -> Any:  # noqa: ANN401 (JSON)
    return _valued(_named(question, _QUESTION), "kind", _QUESTION_KINDS)


def _decisions(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a part of a line in which permission rules have their `decision`, however deep they lie.

    An agent or a step may be called `ruling`, too, but its value is none of a decision's three words.
    """
    if isinstance(value, list):
        return [_decisions(each) for each in value]
    if not isinstance(value, dict):
        return value
    parts = {key: _decisions(each) for key, each in value.items()}
    return _named(parts, _RULE) if parts.get("ruling") in _DECISIONS else parts


def _valued(fields: Any, name: str, values: dict[str, str]) -> Any:  # noqa: ANN401 (JSON)
    if not isinstance(fields, dict) or not isinstance(value := fields.get(name), str):
        return fields
    return fields | {name: values.get(value, value)}


def _named(fields: Any, names: dict[str, str]) -> Any:  # noqa: ANN401 (JSON)
    if not isinstance(fields, dict):
        return fields
    return {names.get(name, name): value for name, value in fields.items()}
