"""plan: makes subtasks of what explore found, in the order in which they are to be done."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

import not_by_hand
import taken_names
import task_file
import testing_by_import
from agent import carry_out
from artifacts import Artifacts
from order import Order
from planning import PLAIN_PATH, make_plan, most_subtasks
from report import Report
from repository import Repository
from subtasks import Left, Plan, Subtask
from survey import Survey
from whole_file import read_json, write_json, write_text
from wording import bullets, count, say

MOST_LISTED = 100
"""How many files of a subtask its line in the report names."""


def design(order: Order) -> Report:
    """Make the plan."""
    artifacts = Artifacts.of(order)
    survey = Survey.from_json(read_json(artifacts.findings))
    baseline = artifacts.read_baseline(order.base)
    settings = task_file.read(order.task_dir)
    files = Repository(order.workspace).python_files()
    plan = make_plan(
        survey.findings,
        settings,
        tested=baseline.tested,
        most=settings.subtasks or most_subtasks(baseline.seconds),
        taken_from=taken_names.files(order.workspace, files, survey.findings),
        as_they_stand=not_by_hand.files(order.workspace, files, baseline.outcomes.imported),
        by_importing=testing_by_import.files(order.workspace, survey.findings),
    )
    write_json(artifacts.plan, plan.to_json())
    write_text(artifacts.design, describe(plan))
    say(in_short(plan))
    return Report(
        done=f"{in_short(plan)}\n\n{left_in_words(plan.left)}".strip(),
        artifacts=(artifacts.plan, artifacts.design),
        sections={"Subtasks": "\n".join(map(milestone, plan.subtasks)) or "None"},
    )


def in_short(plan: Plan) -> str:
    """What is planned, in numbers."""
    planned = sum(subtask.findings for subtask in plan.subtasks)
    left = sum(left.findings for left in plan.left)
    if not plan.subtasks:
        return f"Nothing to mend; {count(left, 'finding')} left for a person." if left else "Nothing to mend."
    tried = sum(subtask.unsafe for subtask in plan.subtasks)
    return (
        f"{count(len(plan.subtasks), 'subtask')} for {count(planned, 'finding')}"
        + (f", {tried} of them to be tried, for the tests to decide" if tried else "")
        + f"; {count(left, 'finding')} left for a person."
    )


def milestone(subtask: Subtask) -> str:
    """A subtask as the plan's report lists it."""
    rules = " and ".join(subtask.rules) if len(subtask.rules) < 3 else "these rules"  # noqa: PLR2004 - reads well
    return (
        f"- [{subtask.id}] {subtask.title} (agent: dev; files: {claimed(subtask.files)})\n"
        f"  Done when: ruff finds fewer of {rules} there, no test newly fails, and nothing else has changed."
    )


def claimed(files: Sequence[str]) -> str:
    """The files that a subtask changes: the PM keeps apart those that change the same. All, if they can't be listed."""
    listed = len(files) <= MOST_LISTED and all(PLAIN_PATH.fullmatch(path) for path in files)
    return ", ".join(files) if listed else "**"


def left_in_words(left: Iterable[Left]) -> str:
    """What is left to a person, by reason."""
    reasons = Counter[str]()
    for each in left:
        reasons[each.why] += each.findings
    if not reasons:
        return ""
    return "Left for a person:\n" + bullets(f"{number}: {why}" for why, number in reasons.most_common())


def describe(plan: Plan) -> str:
    """Plan's report for a person."""
    done = [
        f"{number}. `{subtask.id}`: {subtask.title}"
        + (" (tried: the tests decide)" if subtask.unsafe else "")
        for number, subtask in enumerate(plan.subtasks, 1)
    ]
    left = [f"| {each.code} | {each.name} | {each.findings} | {each.why} |" for each in plan.left]
    table = ["| rule | name | findings | why |", "| --- | --- | ---: | --- |", *left] if left else ["None"]
    return "\n".join(["# Plan", "", in_short(plan), "", *done, "", "## Left for a person", "", *table, ""])


if __name__ == "__main__":
    sys.exit(carry_out(design))
