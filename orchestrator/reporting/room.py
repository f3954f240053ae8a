"""How much of a long night a report shows: a page of at most half a megabyte opens at once, on a phone as well.

What is left out are the oldest decisions, outputs and reasons, and each place says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut, neutral
from orchestrator.pm.explain.sentences import explain
from orchestrator.reporting.task_report import Attempt, CheckStory, Decision, Incident

DECISIONS: Final = 500
"""How many decisions a report shows at most: the newest."""

DECISIONS_TEXT: Final = 60_000
OUTPUTS_TEXT: Final = 40_000
REASONS_TEXT: Final = 40_000
"""Characters of all decisions, of all outputs, and of what attempts were told and why they ended."""

LEFT_OUT: Final = "(left out, so that this page stays small: the run's log has it)"
"""Stands for an older output once newer ones have taken the room."""

OUTPUT: Final = 40
OUTPUT_OF_SUCCESS: Final = 5
"""Last lines that are shown of what a program printed, and of a check that passed."""

_TEXT: Final = 4000
_SENTENCE: Final = 600
_LINE: Final = 400
_SHORT: Final = 200


def clean(text: object, limit: int = _TEXT) -> str:
    """Return text of others fit to be shown: secrets masked, control characters visible, at most `limit` characters."""
    return cut(redacted(neutral(str(text or "")[: 4 * limit])), limit)


def clean_lines(lines: Sequence[object], most: int = OUTPUT) -> tuple[str, ...]:
    """Return the last `most` lines of an output, fit to be shown. A secret that takes several lines is masked too."""
    text = "\n".join(str(each)[: 4 * _LINE] for each in lines[-most:])
    return tuple(cut(each, _LINE) for each in redacted(neutral(text)).split("\n")) if text else ()


def sentences_of(line: dict[str, Any]) -> tuple[str, ...]:
    """Return what happened by a journal line and what was decided on it, without the time."""
    first, *others = explain(line)
    return tuple(clean(each, _SENTENCE) for each in (first.partition(" ")[2], *map(str.strip, others)))


def decisions_of(lines: deque[dict[str, Any]]) -> list[Decision]:
    """Return the newest of these journal lines as decisions, as many as there is room for, oldest first."""
    room, decisions = DECISIONS_TEXT, list[Decision]()
    for line in reversed(lines):
        if room <= 0 or len(decisions) == DECISIONS:
            break
        sentences = sentences_of(line)
        room -= sum(map(len, sentences))
        decisions.append(Decision(int(line.get("n") or 0), float(line.get("at") or 0.0), sentences))
    return decisions[::-1]


def fit_outputs(checks: list[CheckStory], incidents: list[Incident]) -> None:
    """Leave the output of older checks and incidents out, once newer ones have taken the room."""
    room = OUTPUTS_TEXT
    places = [(check.line, checks, place) for place, check in enumerate(checks)]
    both: list[tuple[int, list[Any], int]] = [
        *places,
        *((incident.line, incidents, place) for place, incident in enumerate(incidents)),
    ]
    for _, stories, place in sorted(both, key=lambda each: each[0], reverse=True):
        room -= (size := sum(map(len, stories[place].output)))
        if room < 0 and size > len(LEFT_OUT):
            stories[place] = replace(stories[place], output=(LEFT_OUT,))


def fit_reasons(attempts: dict[tuple[str, int], Attempt]) -> None:
    """Cut what older attempts were told, and why they ended, once newer ones have taken the room."""
    room = REASONS_TEXT
    for key, attempt in sorted(attempts.items(), key=lambda each: each[1].line, reverse=True):
        room -= len(attempt.why) + len(attempt.feedback)
        if room < 0:
            attempts[key] = replace(
                attempt, why=cut(attempt.why, _SHORT), feedback=cut(attempt.feedback, _SHORT)
            )
