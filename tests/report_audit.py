"""Holds a task's report against the raw lines of its journal, by another way than the report was made.

It reads the JSON lines by itself: which runs lived when, which checks ended how, what was asked and answered, which
attempts there were, and what was committed. What a report says beyond that, or leaves out, is a fault.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.daemon.journal.segments import unpacked
from orchestrator.formats.timestamps import rfc3339

SHORT: Final = 30.0
"""Seconds without any program that are no news: the documentation says the same."""

WAITS: Final = ("usage limits", "questions", "boxes", "nobody at work", "stopped")

Document = Mapping[str, Any]


def audit(home: Path, report: Document) -> list[str]:
    """Return what a report says that is not so, or leaves out.

    Args:
        home: the task's own folder.
        report: the document of this task in `task report --json`.

    """
    lines = [
        line
        for path in sorted(layout.task_journal(home).iterdir())
        for line in map(json.loads, unpacked(path.name, path.read_bytes()).splitlines())
        if "fact" in line
    ]
    return faults(lines, json.loads(layout.task_state(home).read_text()), report)


@dataclass
class Counted:
    """What the lines of a journal say, counted by itself."""

    opened: dict[str, dict[str, Any]] = field(default_factory=dict)
    gone: dict[str, tuple[float, int | None, int]] = field(default_factory=dict)
    """When a run was gone, its exit status, and the number of that line."""

    never_lived: set[str] = field(default_factory=set)
    asked: dict[str, tuple[dict[str, Any], float, int]] = field(default_factory=dict)
    answered: dict[str, tuple[dict[str, Any], float, int]] = field(default_factory=dict)
    commits: dict[tuple[str, int], str] = field(default_factory=dict)
    reopened: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    over: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    """The ends of a step: the name of each, and why."""

    boxes: list[tuple[str, float, float | None]] = field(default_factory=list)
    notices: list[tuple[str, int]] = field(default_factory=list)
    began: float | None = None
    numbers: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, lines: Sequence[dict[str, Any]]) -> Counted:
        """Count."""
        self, lost = cls(), dict[str, float]()
        for line in lines:
            self.numbers.add(line["n"])
            fact, at = line["fact"], line["at"]
            match fact["kind"]:
                case "run_gone" if fact["run"] not in self.gone and fact["run"] not in self.never_lived:
                    self.gone[fact["run"]] = at, (fact.get("exit") or {}).get("code"), line["n"]
                case "launch_failed" if fact["run"] not in self.gone:
                    self.never_lived.add(fact["run"])
                case "work_committed" if fact.get("commit"):
                    self.commits[fact["step"], fact["attempt"]] = fact["commit"]
                case "box_lost":
                    lost.setdefault(fact["box"], at)
                case "box_back" if fact["box"] in lost:
                    self.boxes.append((fact["box"], lost.pop(fact["box"]), at))
                case _:
                    pass
            for change in line["changes"]:
                self._change(change, at, line["n"])
        self.boxes += [(box, since, None) for box, since in lost.items()]
        return self

    def _change(self, change: dict[str, Any], at: float, number: int) -> None:
        match change["kind"]:
            case "task_begun" if self.began is None:
                self.began = at
            case "run_opened":
                self.opened[change["run"]["id"]] = change["run"]
            case "question_asked":
                self.asked[change["question"]["id"]] = change["question"], at, number
            case "question_answered" if change["question"] in self.asked:
                self.answered[change["question"]] = change, at, number
            case "step_reopened":
                self.reopened[change["step"], change["attempt"] - 1] = change
            case "step_moved" if change["to"] in {"passed", "failed", "set_aside", "blocked"}:
                self.over[change["step"]].append((change["to"], change.get("why") or ""))
            case "noticed":
                self.notices.append((change["text"], number))
            case _:
                pass


def faults(lines: Sequence[dict[str, Any]], state: Document, report: Document) -> list[str]:
    """Return where a report of a task differs from the lines of its journal, and from what status shows."""
    counted = Counted.of(lines)
    return [
        *_steps(state, report),
        *_end(lines, report),
        *_runs(counted, report),
        *_checks(counted, report),
        *_questions(counted, report),
        *_attempts(counted, report),
        *_boxes(counted, report),
        *_idle(counted, report),
        *_references(lines, counted, report),
        *_criteria(report),
    ]


def _steps(state: Document, report: Document) -> Iterator[str]:
    if [each["id"] for each in state["steps"]] != [each["id"] for each in report["steps"]]:
        yield "it has other steps than status"
        return
    for step, shown in zip(state["steps"], report["steps"], strict=True):
        outcomes = [each["outcome"] for each in shown["attempts"]]
        if len(outcomes) != step["tries"]:
            yield f"{step['id']} had {step['tries']} tries, not {len(outcomes)}"
        if outcomes and (step["status"] == "passed") != outcomes[-1].startswith("passed"):
            yield f"{step['id']} is {step['status']}, and its last attempt {outcomes[-1]}"
    unanswered = {each["id"] for each in report["questions"] if each["answered_at"] is None}
    if {each["id"] for each in state["questions"]} != unanswered:
        yield f"it calls {sorted(unanswered)} open, and status other questions"


def _end(lines: Sequence[dict[str, Any]], report: Document) -> Iterator[str]:
    """A task ended when it last came to rest, if it has not gone on since."""
    moves = [
        (line["at"], each["to"]) for line in lines for each in line["changes"] if each["kind"] == "task_moved"
    ]
    at, to = moves[-1]
    ended = None if to in {"running", "waiting"} else rfc3339(at)
    if report["ended"] != ended:
        yield f"it ended at {ended}, not {report['ended']}"


def _runs(counted: Counted, report: Document) -> Iterator[str]:
    """Each run that lived is one span of its lane, as long as it lived; there is no other work."""
    wanted, shown = Counter[Any](), Counter[Any]()
    end = report["ended"] or report["made_at"]
    for run in counted.opened.values():
        if run["id"] in counted.never_lived or rfc3339(run["opened_at"]) > end:
            continue
        check = run.get("purpose") == "check"
        lane = "checks" if check else run.get("instance") or run["agent"]
        until = counted.gone[run["id"]][0] if run["id"] in counted.gone else None
        text = f"{run['step']}, attempt {run['attempt']}"
        wanted[lane, rfc3339(run["opened_at"]), _moment(until), text] += 1
    for lane in report["lanes"]:
        if lane["name"] not in WAITS:
            for span in lane["spans"]:
                shown[lane["name"], span["since"], span["until"], span["text"].removeprefix("check of ")] += 1
    yield from (f"no span shows the run {each}" for each in wanted - shown)
    yield from (f"no run is behind the span {each}" for each in shown - wanted)


def _checks(counted: Counted, report: Document) -> Iterator[str]:
    """Each command of the daemon that ended is shown with its exit status."""
    ended = [
        (run, *counted.gone[name])
        for name, run in counted.opened.items()
        if run.get("purpose") == "check" and name in counted.gone
    ]
    wanted = Counter((run["step"], run["attempt"], rfc3339(at), code, line) for run, at, code, line in ended)
    shown = Counter(
        (each["step"], each["attempt"], each["at"], each["exit"], each["line"]) for each in report["checks"]
    )
    yield from (f"the check {each} is not shown" for each in wanted - shown)
    yield from (f"the check {each} never ran" for each in shown - wanted)


def _questions(counted: Counted, report: Document) -> Iterator[str]:
    if set(counted.asked) != {each["id"] for each in report["questions"]}:
        yield f"asked were {sorted(counted.asked)}, shown are {sorted(each['id'] for each in report['questions'])}"
    for shown in report["questions"]:
        if shown["id"] not in counted.asked:
            continue
        question, at, number = counted.asked[shown["id"]]
        if _bare(question["text"]) != _bare(shown["text"]):
            yield f"{shown['id']} asks something else"
        if (shown["asked_at"], shown["line"]) != (rfc3339(question.get("asked_at") or at), number):
            yield f"{shown['id']} was asked at another time"
        answer, answered_at, line = counted.answered.get(shown["id"], ({}, None, 0))
        if (shown["answered_at"], shown["answer_line"]) != (_moment(answered_at), line):
            yield f"{shown['id']} was answered at another time"
        if _bare(shown["answer"]) != _bare(answer.get("text") or ""):
            yield f"{shown['id']} was answered otherwise"


def _attempts(counted: Counted, report: Document) -> Iterator[str]:
    """Each attempt that had a run is shown, with its commit, and with why it was not the last."""
    tried = defaultdict[str, set[int]](set)
    for run in counted.opened.values():
        tried[run["step"]].add(run["attempt"])
    for step in report["steps"]:
        numbers = [each["number"] for each in step["attempts"]]
        if sorted(tried[step["id"]]) != numbers:
            yield f"{step['id']} had the attempts {sorted(tried[step['id']])}, shown are {numbers}"
        for attempt in step["attempts"]:
            yield from _attempt(counted, step["id"], attempt)
        status, _ = counted.over[step["id"]][-1] if counted.over[step["id"]] else ("", "")
        if numbers and status.replace("_", " ") == step["status"]:
            last = step["attempts"][-1]
            if (step["id"], last["number"]) not in counted.reopened and last["outcome"] != step["status"]:
                yield f"{step['id']} {step['status']}, its last attempt is called {last['outcome']}"


def _attempt(counted: Counted, step: str, attempt: Document) -> Iterator[str]:
    key = step, attempt["number"]
    if attempt["commit"] != counted.commits.get(key, ""):
        yield f"{key} committed {counted.commits.get(key)}, shown is {attempt['commit']}"
    if again := counted.reopened.get(key):
        if attempt["outcome"] == "passed":
            yield f"{key} is called passed, and was begun anew: {again}"
        given_up = {_bare(why) for _, why in counted.over[step]}
        if _bare(attempt["why"]) not in {_bare(again.get("why") or "")} | given_up:
            yield f"{key} was begun anew because of '{again.get('why')}', not '{attempt['why']}'"


def _boxes(counted: Counted, report: Document) -> Iterator[str]:
    end = report["ended"] or report["made_at"]
    wanted = Counter(
        (f"{box} did not answer", rfc3339(since), _moment(until))
        for box, since, until in counted.boxes
        if rfc3339(since) <= end
    )
    shown = Counter(
        (span["text"], span["since"], span["until"])
        for lane in report["lanes"]
        if lane["name"] == "boxes"
        for span in lane["spans"]
    )
    if wanted != shown:
        yield f"boxes were away {sorted(wanted)}, shown is {sorted(shown)}"


def _idle(counted: Counted, report: Document) -> Iterator[str]:
    """No program ran in what is called idle; and all of the time without any is called so, but for short pauses."""
    end = _seconds(report["ended"] or report["made_at"])
    busy, idle = list[tuple[float, float]](), list[tuple[float, float]]()
    for lane in report["lanes"]:
        spans = [
            (_seconds(span["since"]), _seconds(span["until"]) if span["until"] else end)
            for span in lane["spans"]
        ]
        if lane["name"] == "nobody at work":
            idle += spans
        elif lane["name"] == "stopped" or lane["name"] not in WAITS:
            busy += spans
    for since, until in idle:
        if any(begin < until - 1 and since < over - 1 for begin, over in busy):
            yield f"a program ran between {since} and {until}, which is called idle"
    edge = counted.began if counted.began is not None else end
    causes = sum(len(lane["spans"]) for lane in report["lanes"] if lane["name"] in WAITS)
    for begin, over in sorted([*busy, (end, end)]):
        called = sum(
            min(until, begin) - max(since, edge) for since, until in idle if edge - 1 <= since < begin
        )
        if begin - edge - called > SHORT * (causes + 1):
            yield f"nothing ran between {edge} and {begin}, and only {called:.0f} s of it are called idle"
        edge = max(edge, over)


def _references(lines: Sequence[dict[str, Any]], counted: Counted, report: Document) -> Iterator[str]:
    """Each line that is named as a source exists; a notice is shown with the line that has it."""
    parts = [*report["incidents"], *report["decisions"], *report["artifacts"]]
    parts += [each for step in report["steps"] for each in step["attempts"]]
    for number in sorted({each["line"] for each in parts} - counted.numbers):
        yield f"line {number} is named, and is not there"
    shown = defaultdict[int, list[str]](list)
    for each in report["incidents"]:
        shown[each["line"]].append(_bare(each["text"]))
    for text, number in counted.notices:
        if not any(_bare(text).endswith(each) for each in shown[number]):
            yield f"the notice of line {number} is not among the incidents: {text}"
    written = {line["n"]: rfc3339(line["at"]) for line in lines}
    for each in report["decisions"]:
        if each["at"] != written.get(each["line"], each["at"]):
            yield f"line {each['line']} was written at another time"


def _criteria(report: Document) -> Iterator[str]:
    met = sum(bool(each["met"]) for each in report["criteria"])
    if report["criteria"] and not report["trust"][0].startswith(f"{met} of {len(report['criteria'])} "):
        yield f"{met} of {len(report['criteria'])} criteria are met, and it says: {report['trust'][0]}"


def _moment(at: float | None) -> str | None:
    return None if at is None else rfc3339(at)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _bare(text: str) -> str:
    """Return the letters and digits of a text: how it is wrapped and cut is no matter of truth."""
    return "".join(filter(str.isalnum, text))[:400]
