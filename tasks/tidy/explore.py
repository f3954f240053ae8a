"""explore: counts what ruff finds, and says what the project's tests say, before anything is changed."""

from __future__ import annotations

import sys

import linter
import task_file
from agent import carry_out
from artifacts import Artifacts
from baseline import Baseline
from errors import TidyError
from order import Order
from report import Report
from repository import Repository
from survey import Survey
from whole_file import write_json, write_text
from wording import count, plain, say

ROWS = 40


def explore(order: Order) -> Report:
    """Look at the project and write down what there is."""
    if order.check_exit:
        raise TidyError(
            f"The tests were not looked at: `check.py baseline` ended with exit status {order.check_exit}. "
            "Its own words are in its log."
        )
    artifacts = Artifacts.of(order)
    workspace = Repository(order.workspace)
    settings = task_file.read(order.task_dir)
    files = [path for path in workspace.python_files() if settings.covers(path)]
    say(f"Asking ruff about {count(len(files), 'file')} …")
    manner, findings = linter.survey(workspace.folder, files)
    survey = Survey(workspace.commit(), manner, len(files), tuple(findings))
    baseline = artifacts.read_baseline(order.base)
    write_json(artifacts.findings, survey.to_json())
    write_text(artifacts.analysis, describe(survey, baseline))
    done = (
        f"{in_short(survey)}\n\nRuff was asked with {manner.note}.\n\n"
        f"Tests before any change: {baseline.summary()}"
    )
    say(in_short(survey))
    return Report(done=done, artifacts=(artifacts.findings, artifacts.analysis, artifacts.baseline))


def in_short(survey: Survey) -> str:
    """The number that matters."""
    where = count(survey.files, "Python file")
    if not survey.findings:
        return f"Ruff finds nothing in {where}: the project is tidy."
    fixable = sum(finding.fix is not None for finding in survey.findings)
    return (
        f"Ruff finds {count(len(survey.findings), 'thing')} in {where}, of {count(len(survey.rules()), 'rule')}; "
        f"for {fixable} of them it knows a fix."
    )


def describe(survey: Survey, baseline: Baseline) -> str:
    """Explore's report for a person."""
    rows = [
        f"| {code} | {plain(name)} | {number} | {fixable} |"
        for code, name, number, fixable in survey.rules()[:ROWS]
    ]
    return "\n".join(
        [
            "# Before anything was changed",
            "",
            in_short(survey),
            f"Ruff was asked with {survey.manner.note}.",
            "",
            f"Tests: {baseline.summary()}",
            "",
            "| rule | name | findings | ruff knows a fix |",
            "| --- | --- | ---: | ---: |",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(carry_out(explore))
