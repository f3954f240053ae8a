"""What the rollout of a Codex session tells that no hook does: turns that failed, or that somebody broke off.

One JSON object per line. `task_complete` ends a turn; it has an `error` where the model's service failed, with a
`codex_error_info` that is a word, or an object of one word and the status of the HTTP answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from orchestrator.formats.json_fields import number_of, text_of
from orchestrator.formats.strict_json import load_json
from orchestrator.model.errors import BadFile
from orchestrator.model.event import Event, EventKind, Failure

LINE: Final = 1_048_576
"""The most bytes of a line that is read: the lines that count here are short."""

_ENDS: Final = (b'"task_complete"', b'"turn_aborted"')
_FAILURES: Final = {
    "context_window_exceeded": Failure.CONTEXT,
    "internal_server_error": Failure.OVERLOAD,
    "server_overloaded": Failure.OVERLOAD,
    "unauthorized": Failure.LOGIN,
    # Where no status says more: nothing was reached, or the answer broke off each time.
    "http_connection_failed": Failure.OVERLOAD,
    "response_stream_connection_failed": Failure.OVERLOAD,
    "response_stream_disconnected": Failure.OVERLOAD,
    "response_too_many_failed_attempts": Failure.OVERLOAD,
}
_STATUSES: Final = {
    401: Failure.LOGIN,
    402: Failure.CREDIT,
    403: Failure.LOGIN,
    413: Failure.CONTEXT,
    429: Failure.LIMIT,
}
_SERVER_ERROR: Final = 500
_PAID: Final = ("quota exceeded", "billing", "out of credits", "spend cap", "spending limit")
_COMES_BACK: Final = ("try again", "resets")
_LOGIN: Final = ("log out and sign in", "sign in again", "log in again", "not logged in", "refresh token")


def events_of(lines: Sequence[bytes]) -> list[Event]:
    """Return what new whole lines mean, in their order."""
    return list(_events(lines))


def _events(lines: Sequence[bytes]) -> Iterator[Event]:
    for line in lines:
        if not any(end in line for end in _ENDS):
            continue
        try:
            read = load_json(line, "a rollout", LINE)
        except BadFile:
            continue
        payload = read.get("payload") if isinstance(read, dict) and read.get("type") == "event_msg" else None
        event = _event(payload) if isinstance(payload, dict) else None
        if event is not None:
            yield event


def _event(payload: Mapping[str, Any]) -> Event | None:
    match text_of(payload, "type"):
        case "turn_aborted" if text_of(payload, "reason") == "interrupted":
            return Event(EventKind.ABORTED)
        case "task_complete" if isinstance(error := payload.get("error"), dict):
            text = text_of(error, "message")
            return Event(EventKind.FAILED, text=text, failure=_failure(error, text.lower()))
        case _:
            return None


def _failure(error: Mapping[str, Any], said: str) -> Failure:
    info = error.get("codex_error_info")
    word = info if isinstance(info, str) else next(iter(info), "") if isinstance(info, dict) else ""
    if word == "usage_limit_exceeded":
        # One word for a limit that ends by itself, and for an account that nothing is left on.
        gone = any(phrase in said for phrase in _PAID) and not any(phrase in said for phrase in _COMES_BACK)
        return Failure.CREDIT if gone else Failure.LIMIT
    status = number_of(error, "codex_error_info", word, "http_status_code")
    if status is not None:
        known = _STATUSES.get(int(status))
        return known or (Failure.OVERLOAD if status >= _SERVER_ERROR else Failure.OTHER)
    if any(phrase in said for phrase in _LOGIN):
        return Failure.LOGIN
    return _FAILURES.get(word, Failure.OTHER)
