"""What is said of a task between its state and the daemon: project, result so far, limits, edits, report, boxes.

`task status`, `task watch` and the page of `task serve` say it in the same words.
"""

from __future__ import annotations

from orchestrator.cli.screen import ago, clock, cut, harmless, typed, wrapped
from orchestrator.cli.state_file import report_file

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_ACTIVE = ("running", "waiting")
_OF_RESULT = frozenset({"asked", "outcome", "work", "not done", "next"})
_LABEL = 10
"""Columns of what stands before each fact."""


def facts(view: dict[str, Any], name: str, width: int, now: float) -> list[str]:
    """Return the lines that say it on a terminal; `name` is what the user can call the task from here."""
    lines = [cut(f"project   {harmless(view['project'])}", width)]
    for label, said in labelled(view, name, now):
        plain = said.replace("`", "") if label in _OF_RESULT else said
        first, *more = wrapped(plain, width, " " * _LABEL) or [""]
        lines += [f"{label:{_LABEL}}{first.strip()}", *more]
    return lines


def labelled(view: dict[str, Any], name: str, now: float) -> Iterator[tuple[str, str]]:
    """Yield what is said beside the project, each with what stands before it. In the result code is in backticks."""
    active = view["state"] in _ACTIVE
    yield from _result(view, name, now, active=active)
    if limit := view.get("limited"):
        from orchestrator.cli.usage_limits import limit_said

        yield "limited", limit_said(limit, now)
    yield from (("task.md", said) for said in _edits(view, active=active))
    if not active:
        yield from _report(view, name, now)
        yield from _folder_gone(view)
    yield from (("box", said) for said in _boxes(view, name, now))


def next_try(limit: dict[str, Any], now: float) -> str:
    """Return when a limited step is tried again; or was to be: while the daemon is down, nobody tries it."""
    due = limit.get("next_try") or 0
    return f"{'the next try was due' if 0 < due < now else 'next try'} at {clock(due, now)}"


def _result(view: dict[str, Any], name: str, now: float, *, active: bool) -> Iterator[tuple[str, str]]:
    """Yield the task's result; while it is at work, the result so far."""
    outcome = view.get("outcome") or {}
    seen = outcome.get("branch_seen")
    shown = ("asked", "outcome", "work") if active else ("asked", "outcome", "work", "not_done", "next")
    for key in shown:
        if said := str(outcome.get(key) or ""):
            said += f" (the branch as of {clock(seen, now)})" if key == "work" and seen else ""
            yield key.replace("_", " "), _with_reachable_name(said, view, name) if key == "next" else said


def _with_reachable_name(said: str, view: dict[str, Any], name: str) -> str:
    """Return commands with the name that works from here: the daemon does not know the user's folder."""
    words = said.split(" ")
    meant = {view["task"], view.get("id")}
    for place, word in enumerate(words[2:], 2):
        if (
            word.rstrip("`") in meant
            and words[place - 2].lstrip("`") == "task"
            and words[place - 1] != "start"
        ):
            words[place] = name + "`" * word.endswith("`")
    return " ".join(words)


def _edits(view: dict[str, Any], *, active: bool) -> Iterator[str]:
    """Yield which edits of task.md are not in force, and why; and what one that is over asks for beyond its result."""
    if fault := view.get("brief_fault"):
        yield f"your edit cannot be taken, and the last good one is in force: {harmless(fault)}"
    if keys := ", ".join(str(each.get("key")) for each in view.get("edited") or ()):
        command = typed("task", "start", view["task"], "--project", view["project"])
        yield f"{keys} changed since the start; to apply the change: {command}"
    if not active:
        from orchestrator.cli.brief_now import asked_since

        if said := asked_since(view):
            yield said


def _report(view: dict[str, Any], name: str, now: float) -> Iterator[tuple[str, str]]:
    """Yield where the report of a task at rest lies, and from when it is; nothing if there is none."""
    if (found := report_file(view)) is not None:
        path, written, is_old = found
        since = (
            f"; the task went on since: `{typed('task', 'report', name)}` writes it anew" if is_old else ""
        )
        yield "report", f"{path} (written {ago(written, now)}{since})"


def _folder_gone(view: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Report that the folder of a task at rest is missing; for a task at work the daemon reports it."""
    from orchestrator.cli.branch_now import folder_missing  # for a task at work nothing is looked at

    if said := folder_missing(view):
        yield "folder", harmless(said)


def unfetched(failing: Iterable[dict[str, Any]], now: float) -> Iterator[str]:
    """Yield what cannot be fetched from a box, since when and why; what has one cause is said at once."""
    by_cause: dict[str, list[dict[str, Any]]] = {}
    for each in failing:
        by_cause.setdefault(str(each.get("why")), []).append(each)
    for why, alike in by_cause.items():
        by_time: dict[str, list[str]] = {}
        for each in alike:
            by_time.setdefault(clock(each.get("since"), now), []).append(str(each.get("what")))
        (first, what), *later = by_time.items()
        parts = [f"{_together(what)} cannot be fetched since {first}"]
        parts += [f"{_together(what)} since {then}" for then, what in later]
        yield f"{', '.join(parts)}: {why}"


def _together(what: Iterable[str]) -> str:
    return ", as well as ".join(dict.fromkeys(what))


def _boxes(view: dict[str, Any], name: str, now: float) -> Iterator[str]:
    """Yield what cannot be fetched from boxes (since when, why, what to do), and runs with incomplete files."""
    for box in view.get("boxes") or ():
        address, parts = box.get("address"), list[str]()
        if box.get("lost"):
            parts.append(str(box["lost"]))
        parts += [f"{address}: {said}" for said in unfetched(box.get("failing") or (), now)]
        if parts:
            parts[-1] += f" (retried automatically; to retry now: task checkin {name})"
        for each in box.get("missing") or ():
            ended = clock(each.get("ended"), now)
            parts.append(
                f"{address}: {each.get('instance')} ended at {ended}; its log and artifacts are not completely fetched"
            )
        yield from map(harmless, parts)
