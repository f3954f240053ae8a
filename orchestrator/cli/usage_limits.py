"""A usage limit that stops work: since when, until when, in which words of its program, and the next try."""

from __future__ import annotations

from orchestrator.cli.screen import clock, harmless, stamp

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_MOMENTS = ("since", "refused_at", "resets_at", "next_try")


def limit_shape(limit: dict[str, Any]) -> dict[str, Any]:
    """Return a limit for the JSON documents, with RFC 3339 timestamps."""
    return {**limit, **{key: stamp(limit.get(key)) for key in _MOMENTS}}


def limit_said(limit: dict[str, Any], now: float) -> str:
    """Return why the task waits."""
    times = limit.get("refusals") or 1
    refused = (
        "once" if times == 1 else f"{times} times, most recently at {clock(limit.get('refused_at'), now)}"
    )
    from orchestrator.cli.status_facts import next_try  # not for the JSON documents

    words = harmless(limit.get("words") or "without a reason")
    return (
        f"since {clock(limit.get('since'), now)}{_until(limit, now)} ({words}); refused {refused}; "
        f"{next_try(limit, now)}"
    )


def _until(limit: dict[str, Any], now: float) -> str:
    """Return when a limit ends, if its program said so; programs give it to the minute."""
    shown = limit.get("resets_at")
    if not shown:
        return ""
    late = now >= shown + 60 or (limit.get("refused_at") or 0) >= shown
    return f", {'should have ended at' if late else 'until'} {clock(shown, now)}"
