"""A task's journal, gathered line by line into attempts, questions, checks, incidents and stretches of time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut, neutral
from orchestrator.formats.timestamps import parted
from orchestrator.pm.explain.sentences import explain
from orchestrator.reporting.task_report import (
    Attempt,
    CheckStory,
    Decision,
    Incident,
    QuestionStory,
    Span,
    SpanKind,
)

DECISIONS: Final = 1500
"""How many decisions a report shows: the newest."""

NOTABLE: Final = re.compile(
    rb'"kind": ?"(?:task_|phase_|brief_|base_|question_|answered|run_(?:opened|gone|left|cautioned|spent)|launch_failed'
    rb"|step_|tree_|work_|report_landed|decision_|criteria_|noticed|rule_|budget_|box_|folder_|journal_damaged|clock_"
    rb"|intruded|stop_asked|rebase|evidence_resolved|branch_tended)"
)
"""What a line holds if it matters for a report: most lines tell of signals and tokens, and need not be parsed."""

_TEXT: Final = 4000
_OUTPUT: Final = 40
_TELLING: Final = frozenset(
    {"box_lost", "folder_lost", "journal_damaged", "intruded", "launch_failed", "tree_vanished"}
)
_REFUSED: Final = "asked again: "
"""How the reason begins for which a step waits whose handoff was refused (`pm.policies.retries`)."""

_OVER: Final = frozenset({"passed", "failed", "set_aside", "blocked"})
_RESTING: Final = frozenset({"stopped", "complete", "partial", "failed"})


def clean(text: object, limit: int = _TEXT) -> str:
    """Return text of others fit to be shown: secrets masked, control characters visible, at most `limit` characters."""
    return cut(redacted(neutral(str(text or "")[: 4 * limit])), limit)


_Taker = Callable[[dict[str, Any], float, int], None]
"""Takes a fact or change in JSON form, when it was, and the number of its line."""


@dataclass
class _OpenRun:
    step: str
    attempt: int
    instance: str
    check: bool
    span: Span


@dataclass
class History:
    """What the lines taken so far say. Feed `take` the journal's lines, oldest first."""

    began: float | None = None
    last: float | None = None
    ended: float | None = None
    """When the task last came to rest; None while it is at work."""

    attempts: dict[tuple[str, int], Attempt] = field(default_factory=dict)
    questions: dict[str, QuestionStory] = field(default_factory=dict)
    checks: list[CheckStory] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    artifacts: dict[tuple[str, str], int] = field(default_factory=dict)
    spans: dict[str, list[Span]] = field(default_factory=dict)
    """Finished stretches of time, by lane."""

    _runs: dict[str, _OpenRun] = field(default_factory=dict)
    _held: dict[str, tuple[str, Span]] = field(default_factory=dict)
    """Stretches that have not ended, by what will end them: their lane, and themselves."""

    _attempt: dict[str, int] = field(default_factory=dict)
    _feedback: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._of_facts: dict[str, _Taker] = {
            "run_gone": self._gone,
            "launch_failed": self._never_lived,
            "report_landed": self._report,
            "work_committed": self._committed,
            "box_lost": self._box_lost,
            "box_back": self._box_back,
        }
        self._of_changes: dict[str, _Taker] = {
            "task_begun": self._task_begun,
            "task_moved": self._task_moved,
            "run_opened": self._opened,
            "step_reopened": self._reopened,
            "step_moved": self._step_moved,
            "step_fed": self._fed,
            "step_limited": self._limited,
            "step_troubled": self._troubled,
            "noticed": self._noticed,
            "question_asked": self._asked,
            "question_answered": self._answered,
        }

    def take(self, line: dict[str, Any]) -> None:
        """Take the next line in JSON form. Lines of any version are fit: what is missing is left out."""
        number, at = int(line.get("n") or 0), float(line.get("at") or 0.0)
        self.last = max(self.last or at, at)
        fact = line.get("fact")
        if not isinstance(fact, dict):
            return
        if taker := self._of_facts.get(str(fact.get("kind"))):
            taker(fact, at, number)
        for change in line.get("changes") or ():
            if taker := self._of_changes.get(str(change.get("kind"))):
                taker(change, at, number)
        if sentences := explain(line):
            first = sentences[0].partition(" ")[2]
            texts = (first, *(each.strip() for each in sentences[1:]))
            self.decisions.append(Decision(number, at, tuple(clean(each, 600) for each in texts)))
        if fact.get("kind") in _TELLING:
            self._happened(self.decisions[-1].sentences[0], at, number)

    def close(self) -> None:
        """End the gathering: what has not ended stays without an end."""
        for run in self._runs.values():
            self.spans.setdefault(run.instance, []).append(run.span)
        for lane, span in self._held.values():
            self.spans.setdefault(lane, []).append(span)
        self._runs.clear()
        self._held.clear()

    # Facts -------------------------------------------------------------------------------------------

    def _gone(self, fact: dict[str, Any], at: float, number: int) -> None:
        run = self._runs.pop(str(fact.get("run")), None)
        if run is None:
            return
        code = (fact.get("exit") or {}).get("code")
        self.spans.setdefault(run.instance, []).append(replace(run.span, until=at))
        if run.check:
            output = tuple(clean(each, 400) for each in (fact.get("lines") or ())[-_OUTPUT:])
            self.checks.append(CheckStory(run.step, run.attempt, at, code, output, number))

    def _never_lived(self, fact: dict[str, Any], _: float, __: int) -> None:
        self._runs.pop(str(fact.get("run")), None)

    def _report(self, fact: dict[str, Any], _: float, number: int) -> None:
        report = fact.get("report") or {}
        run = self._runs.get(str(report.get("run")))
        step = run.step if run else ""
        for path in report.get("artifacts") or ():
            named = path.get("path") if isinstance(path, dict) else path
            self.artifacts.setdefault((step, clean(named, 400)), number)

    def _committed(self, fact: dict[str, Any], _: float, number: int) -> None:
        if commit := fact.get("commit"):
            key = str(fact.get("step")), int(fact.get("attempt") or 1)
            if attempt := self.attempts.get(key):
                self.attempts[key] = replace(attempt, commit=clean(commit, 64), line=number)

    def _box_lost(self, fact: dict[str, Any], at: float, number: int) -> None:
        box = clean(fact.get("box"), 100)
        self._hold(f"box {box}", "boxes", SpanKind.BOX, at, f"{box} did not answer", number)

    def _box_back(self, fact: dict[str, Any], at: float, _: int) -> None:
        self._let_go(f"box {clean(fact.get('box'), 100)}", at)

    # Changes -----------------------------------------------------------------------------------------

    def _task_begun(self, _: dict[str, Any], at: float, __: int) -> None:
        self.began = at if self.began is None else self.began

    def _task_moved(self, change: dict[str, Any], at: float, number: int) -> None:
        to = str(change.get("to"))
        self._let_go("rest", at)
        self.ended = at if to in _RESTING else None
        if to in _RESTING:
            self._hold("rest", "stopped", SpanKind.STOPPED, at, f"the task was {to}", number)

    def _opened(self, change: dict[str, Any], at: float, number: int) -> None:
        run = change.get("run") or {}
        step, attempt = str(run.get("step")), int(run.get("attempt") or 1)
        instance, check = clean(run.get("instance") or run.get("agent"), 80), run.get("purpose") == "check"
        kind = SpanKind.CHECK if check else SpanKind.WORK
        opened = float(run.get("opened_at") or at)
        text = f"{'check of ' if check else ''}{clean(step, 200)}, attempt {attempt}"
        span = Span(kind, opened, None, text, number)
        self._runs[str(run.get("id"))] = _OpenRun(step, attempt, "checks" if check else instance, check, span)
        self._let_go(f"limit {step}", at)
        self._attempt[step] = attempt
        if (step, attempt) not in self.attempts:
            feedback = self._feedback.pop(step, "")
            self.attempts[step, attempt] = Attempt(attempt, opened, None, "open", "", feedback, "", number)

    def _reopened(self, change: dict[str, Any], at: float, number: int) -> None:
        step, attempt = str(change.get("step")), int(change.get("attempt") or 1)
        before = self.attempts.get((step, attempt - 1))
        if before is None:
            return
        # Passed, and only to be checked or merged again: what others merged meanwhile is no fault of this attempt.
        sound = before.outcome == "passed" and bool(change.get("recheck") or change.get("queued"))
        why = clean(change.get("why"))
        asked = before.outcome == "blocked" and " is blocked on " in before.why
        outcome = (
            "passed, then checked again" if sound else "waited for an answer" if asked else "not accepted"
        )
        if why.startswith(
            f"rejected by {clean(step, 200)}:"
        ):  # this step is the judge: its own attempt was sound
            outcome = "rejected the work"
        self.attempts[step, attempt - 1] = replace(before, ended=at, outcome=outcome, why=why, line=number)

    def _step_moved(self, change: dict[str, Any], at: float, number: int) -> None:
        step, to = str(change.get("step")), str(change.get("to"))
        if to == "working" or to in _OVER:
            self._let_go(f"limit {step}", at)
        why = str(change.get("why") or "")
        if to == "pending" and why.startswith(_REFUSED):
            reasons = clean(why.removeprefix(_REFUSED))
            self._happened(f"{clean(step, 200)} was asked for its handoff again: {reasons}", at, number)
        if to in _OVER:
            why = clean(change.get("why"))
            self._end_attempt(step, self._attempt.get(step, 0), at, to.replace("_", " "), why, number)

    def _fed(self, change: dict[str, Any], _: float, __: int) -> None:
        self._feedback[str(change.get("step"))] = clean("\n".join(map(str, change.get("feedback") or ())))

    def _limited(self, change: dict[str, Any], at: float, number: int) -> None:
        step, limit = str(change.get("step")), change.get("limit")
        if not limit:
            self._let_go(f"limit {step}", at)
        elif f"limit {step}" not in self._held:
            words = clean(limit.get("words"), 300)
            self._hold(
                f"limit {step}", "usage limits", SpanKind.LIMIT, at, f"{clean(step, 200)}: {words}", number
            )

    def _troubled(self, change: dict[str, Any], at: float, number: int) -> None:
        cause = change.get("cause")
        if isinstance(cause, dict):
            text = f"{clean(change.get('step'), 200)}: {clean(cause.get('what'))}"
            self._happened(text, at, number, cause.get("lines") or ())

    def _noticed(self, change: dict[str, Any], at: float, number: int) -> None:
        self._happened(clean(parted(str(change.get("text")))[1]), at, number)

    def _asked(self, change: dict[str, Any], at: float, number: int) -> None:
        question = change.get("question") or {}
        name, asked = str(question.get("id")), float(question.get("asked_at") or at)
        text, step = clean(question.get("text")), clean(question.get("step"), 200)
        self.questions[name] = QuestionStory(clean(name, 60), step, text, asked, number)
        self._hold(
            f"question {name}", "questions", SpanKind.QUESTION, asked, f"{clean(name, 60)}: {text}", number
        )

    def _answered(self, change: dict[str, Any], at: float, number: int) -> None:
        name = str(change.get("question"))
        self._let_go(f"question {name}", at)
        if question := self.questions.get(name):
            self.questions[name] = replace(
                question,
                answer=clean(change.get("text")),
                answered_at=at,
                by=clean(change.get("by"), 100),
                answer_line=number,
            )

    # -------------------------------------------------------------------------------------------------

    def _end_attempt(self, step: str, number: int, at: float, outcome: str, why: str, line: int) -> None:
        attempt = self.attempts.get((step, number))
        if attempt is not None and (attempt.outcome != "passed" or outcome != "passed"):
            self.attempts[step, number] = replace(attempt, ended=at, outcome=outcome, why=why, line=line)

    def _happened(self, text: str, at: float, line: int, output: object = ()) -> None:
        lines = output if isinstance(output, list | tuple) else ()
        shown = tuple(clean(each, 400) for each in lines[-_OUTPUT:])
        self.incidents.append(Incident(at, text, shown, line))

    def _hold(self, key: str, lane: str, kind: SpanKind, at: float, text: str, line: int) -> None:
        self._held.setdefault(key, (lane, Span(kind, at, None, text, line)))

    def _let_go(self, key: str, at: float) -> None:
        if held := self._held.pop(key, None):
            lane, span = held
            self.spans.setdefault(lane, []).append(replace(span, until=at))
