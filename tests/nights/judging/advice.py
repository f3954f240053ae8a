"""The rule on what is said to be done next: where something waits for an answer, that is what has to be done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tests.nights.judging.rules import Checking, Ruled, by_source, documents
from tests.nights.looking import PROGRESS
from tests.nights.observation import Observation, Shown

_AT_WORK: Final = frozenset({"running", "waiting"})
_NEXT: Final = re.compile(r"^- \*\*Cost:\*\* .*? Next: (.+)$", re.MULTILINE)
_TO_ANSWER: Final = re.compile(r"^ *Answer with: `task answer .*?\b(q\d+)\b", re.MULTILINE)
_ANSWERS: Final = re.compile(r"`task answer .*?\b(q\d+)\b")
_RESULT_SO_FAR: Final = "## Result so far"


def next_step(seen: Observation) -> Ruled:
    """While a question of a task at work is open, what comes next is to answer it; no other question is named."""
    checking = Checking("next")
    for shown, said, asked, at_work in _said(seen):
        named = set(_ANSWERS.findall(said))
        truth = None
        if at_work and asked and not named & asked:
            truth = f"open: {', '.join(sorted(asked))}"
        elif named - asked:
            truth = f"not open: {', '.join(sorted(named - asked))}"
        checking.check(shown, said, truth)
    return checking.ruled


def _said(seen: Observation) -> Iterator[tuple[Shown, str, set[str], bool]]:
    """Yield what comes next by each document and page, which questions are open by it, and if the task is at work."""
    for shown, reported in documents(seen):
        if said := str((reported.get("outcome") or {}).get("next") or ""):
            asked = {str(each["id"]) for each in reported.get("questions", ())}
            yield shown, said, asked, reported.get("state") in _AT_WORK
    for shown in by_source(seen, PROGRESS):
        for found in _NEXT.finditer(shown.text):
            yield shown, found[1], set(_TO_ANSWER.findall(shown.text)), _RESULT_SO_FAR in shown.text
