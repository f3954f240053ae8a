"""The steps of a task as they end, one line each: number, agent, title, duration, outcome."""

from __future__ import annotations

import re

from orchestrator.cli.exits import step_said
from orchestrator.cli.screen import cut, fitted, harmless, paint, wrapped
from orchestrator.cli.table import COLOURS

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_AGENT, _TIME, _OUTCOME = 8, 6, 14
_INDENT = " " * 5
_LINES_OF_REASON = 2
_ASKED_FOR = "The goal "  # how feedback begins that comes from an edit of task.md, and not from a judge
_REJECTED_BY = re.compile(r"^Rejected by \S+: ")  # the line above names the step already
_SHORT = 7
_MINUTE, _HOUR = 60, 3600
_ENDED = {"passed": "passed", "failed": "failed", "blocked": "waits for you", "set_aside": "set aside"}


class StepsShown:
    """What was printed of a task's steps. Steps that had ended before are not printed."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self._known: dict[str, tuple[int, str]] = {step["id"]: _stands(step) for step in steps}
        self._began: dict[str, float] = {}

    def news(self, steps: list[dict[str, Any]], width: int, *, colour: bool) -> list[str]:
        """Return the lines for steps that ended, or were sent back, since the last call."""
        lines = []
        again = [step for step in steps if self._is_again(step)]
        said = next((str(step["said"]) for step in again if step.get("said")), "")
        for number, step in enumerate(steps, 1):
            name, stands = step["id"], _stands(step)
            if again and step is again[-1]:  # of those that are done again, the last is the one that judged
                last = {**step, "tries": _tries_before(step), "why": said}
                judged = len(again) > 1 and not said.startswith(_ASKED_FOR)
                outcome = "rejected" if judged else "tried again"
                lines += self._line(number, last, outcome, width, colour=colour)
            elif (
                step["status"] in _ENDED
                and self._known.get(name) != stands
                and not self._repeats(step, steps)
            ):
                lines += self._line(number, step, step["status"], width, colour=colour)
            self._known[name] = stands
            if step["status"] == "working" and step.get("since"):
                self._began[name] = step["since"]
        return lines

    def _is_again(self, step: dict[str, Any]) -> bool:
        """Return whether a step was sent back. One that was set aside is in a new plan: nobody has judged it."""
        attempts, status = self._known.get(step["id"], (1, ""))
        return bool(step["attempts"] > attempts) and status != "set_aside"

    def _repeats(self, step: dict[str, Any], steps: list[dict[str, Any]]) -> bool:
        """Return whether an earlier step of the subtask shows the same: a subtask is set aside as a whole."""
        if step["status"] != "set_aside" or not step.get("subtask"):
            return False
        first = next(each for each in steps if each.get("subtask") == step["subtask"])
        return first is not step and first["status"] == "set_aside"

    def at_work(self, steps: list[dict[str, Any]], now: float, width: int) -> str:
        """Return one line about the step that is being worked on; empty if there is none."""
        working = [(n, step) for n, step in enumerate(steps, 1) if step["status"] in {"working", "checking"}]
        if not working:
            return ""
        number, step = working[-1]
        more = f"  and {len(working) - 1} more" if len(working) > 1 else ""
        since = self._began.get(step["id"]) or step.get("since") or now
        return cut(f"{number:3}  {_what(step, width)}  {_span(now - since):>{_TIME}}  …{more}", width)

    def _line(
        self, number: int, step: dict[str, Any], outcome: str, width: int, *, colour: bool
    ) -> list[str]:
        began = self._began.get(step["id"]) or step.get("began") or 0.0
        took = _span(step["since"] - began) if began and step.get("since", 0.0) >= began else ""
        said, shade = _outcome(step, outcome)
        head = f"{number:3}  {_what(step, width)}  {took:>{_TIME}}  "
        lines = [head + (paint(said, shade) if colour else said)]
        if why := _why(step, outcome):
            shade = "dim" if outcome == "passed" else "yellow"
            reason = wrapped(why, width, _INDENT)[:_LINES_OF_REASON]
            lines += [paint(line, shade) for line in reason] if colour else reason
        return lines


def _stands(step: dict[str, Any]) -> tuple[int, str]:
    return step["attempts"], step["status"]


def _tries_before(step: dict[str, Any]) -> int:
    """Return how many attempts of a step there were ahead of the one that is on now, if one is."""
    tries = int(step.get("tries", step["attempts"] - 1))
    return tries - 1 if "tries" in step and step["status"] in {"working", "checking"} else tries


def _what(step: dict[str, Any], width: int) -> str:
    room = max(width - 3 - _AGENT - _TIME - _OUTCOME - 8, 10)
    tries = step.get("tries", step["attempts"])
    attempt = f" (attempt {tries})" if tries > 1 else ""
    title = cut(harmless(step.get("title") or step["id"]), max(room - len(attempt), 8)) + attempt
    return f"{fitted(harmless(step['agent']), _AGENT)}  {fitted(title, room)}"


def _outcome(step: dict[str, Any], outcome: str) -> tuple[str, str]:
    """Return a step's outcome in words, and its colour."""
    if outcome not in _ENDED:
        return outcome, "yellow"
    if outcome == "passed" and step.get("commit"):
        return f"commit {harmless(step['commit'])[:_SHORT]}", COLOURS["passed"]
    if outcome == "passed" and step.get("unchanged"):
        return "no change", COLOURS["passed"]
    if outcome == "passed" and step.get("check") == 0:
        return "check passed", COLOURS["passed"]
    if outcome == "passed" and step.get("check"):
        return f"check exited {step['check']}", "yellow"
    said = step_said(step) if outcome == "set_aside" else _ENDED[outcome]
    return said, COLOURS[outcome]


def _why(step: dict[str, Any], outcome: str) -> str:
    """Return why work was sent back, why a step did not pass, or why it changed nothing."""
    why = str(step.get("unchanged" if outcome == "passed" else "why") or "").strip()
    return harmless(_REJECTED_BY.sub("", why.splitlines()[0])) if why else ""


def _span(seconds: float) -> str:
    """Return a duration in at most six columns."""
    if seconds < _MINUTE:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"
