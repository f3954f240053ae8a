"""A task's journal, gathered line by line into attempts, questions, checks, incidents and stretches of time."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from orchestrator.formats.timestamps import parted
from orchestrator.reporting.room import (
    DECISIONS,
    OUTPUT,
    OUTPUT_OF_SUCCESS,
    clean,
    clean_lines,
    decisions_of,
    fit_outputs,
    fit_reasons,
    sentences_of,
)
from orchestrator.reporting.task_report import (
    Attempt,
    CheckStory,
    Decision,
    Incident,
    QuestionStory,
    Span,
    SpanKind,
)

NOTABLE: Final = re.compile(
    rb'"kind": ?"(?:task_|phase_|brief_|base_|question_|answered|run_(?:opened|gone|left|cautioned|spent)|launch_failed'
    rb"|step_|tree_|work_|report_landed|decision_|criteria_|noticed|rule_|budget_|box_|folder_|journal_damaged|clock_"
    rb"|intruded|stop_asked|session_asked|rebase|evidence_resolved|branch_tended)"
)
"""What a line holds if it matters for a report: most lines tell of signals and tokens, and need not be parsed."""

_TELLING: Final = frozenset(
    {"box_lost", "folder_lost", "journal_damaged", "intruded", "launch_failed", "tree_vanished"}
)
_REFUSED: Final = "asked again: "
"""How the reason begins for which a step waits whose handoff was refused (`pm.policies.retries`)."""

_REJECTED: Final = ("rejected ", "does not fit to what was merged meanwhile")
"""How the reason begins for which work is done again because it was not good enough (`pm.policies`)."""

_HANDED_IN: Final = {"blocked: ": "blocked", "more is to be planned: ": "found the task not done"}
"""How the reason begins for which a step is done again whose agent did hand in, and what came of that attempt."""

_CHECK_ENDED: Final = frozenset({"step_troubled", "step_checked"})
"""A notice right behind one of these says in other words what the check came to."""

_OVER: Final = frozenset({"passed", "failed", "set_aside", "blocked"})
_RESTING: Final = frozenset({"stopped", "complete", "partial", "failed"})


_Taker = Callable[[dict[str, Any], float, int], None]
"""Takes a fact or change in JSON form, when it was, and the number of its line."""


_OF_COMMANDS: Final = {"check": ("checks", "check of "), "prepare": ("preparations", "preparation of ")}
"""The lane of runs that are commands of the daemon, and what is said of each, by their purpose."""


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
    """The newest ones that a report has room for, once the gathering has ended."""

    decisions_left_out: int = 0
    set_back: list[tuple[float, int]] = field(default_factory=list)
    """By how many seconds the clock was set back, and the first line after that."""

    artifacts: dict[tuple[str, str], int] = field(default_factory=dict)
    spans: dict[str, list[Span]] = field(default_factory=dict)
    """Finished stretches of time, by lane."""

    _runs: dict[str, _OpenRun] = field(default_factory=dict)
    _held: dict[str, tuple[str, Span]] = field(default_factory=dict)
    """Stretches that have not ended, by what will end them: their lane, and themselves."""

    _attempt: dict[str, int] = field(default_factory=dict)
    _feedback: dict[str, str] = field(default_factory=dict)
    _lines: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=DECISIONS))
    """The newest lines: what they say is put into words at the end, as most of them are left out of a long night."""

    _taken: int = 0
    _at: float | None = None
    _before: str = ""
    """The kind of the change before the one at hand, in the same line."""

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
        self._before = ""
        for change in line.get("changes") or ():
            kind = str(change.get("kind"))
            if taker := self._of_changes.get(kind):
                taker(change, at, number)
            self._before = kind
        if self._at is not None and at < self._at:
            self.set_back.append((self._at - at, number))
        self._at = at
        self._lines.append(line)
        self._taken += 1
        if fact.get("kind") in _TELLING:
            self._happened(sentences_of(line)[0], at, number)

    def close(self) -> None:
        """End the gathering: what has not ended stays without an end, and what there is no room for is left out."""
        self.decisions = [*decisions_of(self._lines), *self.decisions]
        self.decisions_left_out = self._taken - len(self.decisions)
        self._lines.clear()
        fit_outputs(self.checks, self.incidents)
        fit_reasons(self.attempts)
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
            output = clean_lines(fact.get("lines") or (), OUTPUT_OF_SUCCESS if code == 0 else OUTPUT)
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
        instance, purpose = clean(run.get("instance") or run.get("agent"), 80), str(run.get("purpose"))
        lane, said = _OF_COMMANDS.get(purpose, (instance, ""))
        kind = SpanKind.CHECK if said else SpanKind.WORK
        opened = float(run.get("opened_at") or at)
        text = f"{said}{clean(step, 200)}, attempt {attempt}"
        span = Span(kind, opened, None, text, number)
        self._runs[str(run.get("id"))] = _OpenRun(step, attempt, lane, purpose == "check", span)
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
        why, outcome = clean(change.get("why")), before.outcome
        if why.startswith(f"rejected by {clean(step, 200)}:"):
            outcome = "rejected the work"  # this step is the judge: its own attempt was sound
        elif outcome == "passed" and (change.get("recheck") or change.get("queued")):
            outcome = "passed, then checked again"  # what others merged meanwhile is no fault of this attempt
        elif why.startswith(_REJECTED):
            outcome = "not accepted"
        elif outcome == "blocked" and " is blocked on " in before.why:
            outcome = "waited for an answer"
        elif outcome == "open":
            outcome = next(
                (said for began, said in _HANDED_IN.items() if why.startswith(began)), "interrupted"
            )
        elif outcome == "passed":
            outcome = "done again, though it had passed"
        else:
            return  # it was over before: blocked, failed or given up, for the reason that it has
        ended = before.ended if before.outcome == "passed" and before.ended is not None else at
        self.attempts[step, attempt - 1] = replace(before, ended=ended, outcome=outcome, why=why, line=number)

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
        text = clean(parted(str(change.get("text")))[1])
        last = self.incidents[-1] if self.incidents else None
        if self._before in _CHECK_ENDED and last is not None and last.line == number:
            self.incidents[-1] = replace(last, text=text)
        else:
            self._happened(text, at, number)

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
        self.incidents.append(Incident(at, text, clean_lines(lines), line))

    def _hold(self, key: str, lane: str, kind: SpanKind, at: float, text: str, line: int) -> None:
        self._held.setdefault(key, (lane, Span(kind, at, None, text, line)))

    def _let_go(self, key: str, at: float) -> None:
        if held := self._held.pop(key, None):
            lane, span = held
            self.spans.setdefault(lane, []).append(replace(span, until=at))
