"""Reports of recorded nights: true to the journal, changed by each change of it, and an answer to ten questions.

The nights are those that `tests/simulation/record_night.py` wrote. `QUESTIONS` has what is asked in the morning, and
where the answer stands in the data behind the page; `nights/answers.json` has what that must say of each night.
"""

from __future__ import annotations

import copy
import gzip
import json
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from orchestrator.reporting.build import report_of
from orchestrator.reporting.history import History
from orchestrator.reporting.html import page
from orchestrator.reporting.shape import document_of
from tests.report_audit import faults

FOLDER = Path(__file__).parent / "nights"
NIGHTS = sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))
ANSWERS = json.loads((FOLDER / "answers.json").read_text())

QUESTIONS = {
    "What was done?": lambda report: report["outcome"]["outcome"],
    "What was not done, and why?": lambda report: report["outcome"]["not_done"],
    "What is there to merge?": lambda report: report["outcome"]["work"],
    "What did it cost?": lambda report: report["outcome"]["cost"],
    "What did it wait for longest?": lambda report: report["waits"][0]["text"],
    "What was tried and rejected?": lambda report: [
        f"{step['id']} {attempt['number']}"
        for step in report["steps"]
        for attempt in step["attempts"]
        if attempt["outcome"] not in {"passed", "open"}
    ],
    "On what does each claim rest?": lambda report: [each["evidence"] for each in report["criteria"]],
    "What is not known?": lambda report: report["unknown"],
    "What do I type next?": lambda report: report["outcome"]["next"],
    "Can it be trusted?": lambda report: report["trust"],
}


@cache
def night(name):
    """Return what was recorded of a night."""
    return json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))


def reported(recorded, lines):
    """Return the report of a night with these lines in its journal."""
    history = History()
    for line in lines:
        history.take(line)
    return report_of(recorded["view"], history, made_at=recorded["made_at"])


@cache
def true_report(name):
    """Return the report of a night as it was recorded."""
    return reported(night(name), night(name)["lines"])


@pytest.mark.parametrize("name", NIGHTS)
def test_report_says_what_the_journal_says(name):
    recorded = night(name)
    assert faults(recorded["lines"], recorded["view"], document_of(true_report(name))) == []


def other(value):
    """Return another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 61
        case None:
            return 17
        case _:
            return f"another {value}"


MUTATIONS = {
    "the end of a run": ("fact", "run_gone", ("at",)),
    "the exit of a check": ("fact", "run_gone", ("exit", "code")),
    "a launch": ("change", "run_opened", ("run", "opened_at")),
    "an agent": ("change", "run_opened", ("run", "instance")),
    "a question": ("change", "question_asked", ("question", "text")),
    "an answer": ("change", "question_answered", ("text",)),
    "why an attempt was not the last": ("change", "step_reopened", ("why",)),
    "a commit": ("fact", "work_committed", ("commit",)),
    "a notice": ("change", "noticed", ("text",)),
    "a box": ("fact", "box_lost", ("box",)),
}


def mutants(lines, where, kind, path):
    """Yield the lines with one of that kind changed, and the number of that line."""
    for index, line in enumerate(lines):
        parts = [line["fact"]] if where == "fact" else line["changes"]
        for place, part in enumerate(parts):
            if part["kind"] != kind:
                continue
            changed = copy.deepcopy(line)
            if path == ("at",):
                changed["at"] += 61
            else:
                holder = (changed["fact"] if where == "fact" else changed["changes"][place]) or {}
                for key in path[:-1]:
                    holder = holder.get(key) or {}
                if path[-1] not in holder:
                    continue
                holder[path[-1]] = other(holder[path[-1]])
            yield line["n"], [*lines[:index], changed, *lines[index + 1 :]]


def is_shown(lines, number, what):
    """Return whether a report shows what was changed: not an agent's exit status, nor the instance of a check."""
    checks = {
        change["run"]["id"]
        for line in lines
        for change in line["changes"]
        if change["kind"] == "run_opened" and change["run"].get("purpose") == "check"
    }
    line = lines[number - 1]
    opened = {change["run"]["id"] for change in line["changes"] if change["kind"] == "run_opened"}
    match what:
        case "the exit of a check":
            return line["fact"]["run"] in checks
        case "an agent":
            return not opened & checks
        case _:
            return True


@pytest.mark.parametrize("what", MUTATIONS)
def test_another_journal_makes_another_report(what):
    """And the audit tells that it is not the report of this one: it would find a report that lies so."""
    tried = 0
    for name in NIGHTS:
        recorded = night(name)
        whole = document_of(true_report(name))
        fit = (
            (number, lines)
            for number, lines in mutants(recorded["lines"], *MUTATIONS[what])
            if is_shown(recorded["lines"], number, what)
        )
        for number, lines in islice(fit, 1):
            document = document_of(reported(recorded, lines))
            assert document != whole, f"{name}, line {number}"
            assert faults(recorded["lines"], recorded["view"], document), f"{name}, line {number}"
            tried += 1
    assert tried


@pytest.mark.parametrize("name", NIGHTS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_page_answers_what_is_asked_in_the_morning(name, question):
    assert QUESTIONS[question](document_of(true_report(name))) == ANSWERS[name][question]


@pytest.mark.parametrize("name", NIGHTS)
def test_page_of_a_night_has_all_its_answers(name):
    """The page is drawn from the same data: no answer is left out of it."""
    report = true_report(name)
    text = page([report], "night")
    for step in report.steps:
        assert step.id in text
    for each in report.questions:
        assert f"{each.id}" in text
    assert len(text) < 500_000
