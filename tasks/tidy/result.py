"""The whole run, gathered when it is over."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import task_file
from artifacts import Artifacts
from baseline import Baseline
from comparison import Comparison, compare
from errors import ArtifactError
from findings import Counts
from judgement import Judgement, failing
from order import Order
from repository import Repository
from subtasks import Left, Plan, Subtask
from survey import Survey, before_and_after
from whole_file import read_json, write_json


@dataclass(frozen=True)
class Ended:
    """How one subtask ended, after how many attempts; `why` if it was set aside."""

    subtask: Subtask
    attempts: int
    approved: bool
    changed: bool = False
    why: str = ""


@dataclass(frozen=True)
class Result:
    """The whole run, in numbers."""

    base: str
    tip: str
    branch: str
    branch_tip: str
    before: Counts
    after: Counts
    baseline: Baseline
    tests: Comparison
    subtasks: tuple[Ended, ...]
    left: tuple[Left, ...]
    commits: tuple[str, ...]
    merges: int

    @property
    def planned(self) -> int:
        """How many findings were to be mended."""
        return sum(ended.subtask.findings for ended in self.subtasks)


def gather(order: Order, artifacts: Artifacts) -> Result:
    """All that the summary and the criteria rest on."""
    workspace = Repository(order.workspace)
    settings = task_file.read(order.task_dir)
    survey = Survey.from_json(read_json(artifacts.findings))
    plan = Plan.from_json(read_json(artifacts.plan))
    baseline = artifacts.read_baseline(order.base)
    before, after = before_and_after(workspace, order.base, survey.manner)
    tests = compare(workspace, baseline, order.project, order.base)
    write_json(artifacts.comparison(order), tests.to_json())
    return Result(
        base=order.base,
        tip=workspace.commit(),
        branch=order.branch,
        branch_tip=workspace.commit(f"refs/heads/{order.branch}"),
        before=_within(before, settings),
        after=_within(after, settings),
        baseline=baseline,
        tests=tests,
        subtasks=tuple(how_it_ended(subtask, artifacts) for subtask in plan.subtasks),
        left=plan.left,
        commits=tuple(workspace.commits(order.base)),
        merges=workspace.merges(order.base),
    )


def _within(counts: Counts, settings: task_file.Settings) -> Counts:
    return Counts({key: number for key, number in counts.items() if settings.covers(key[0])})


def how_it_ended(subtask: Subtask, artifacts: Artifacts) -> Ended:
    """What became of a subtask: the last review decides, and each thing that was said against it is told once."""
    reviews = []
    for path in artifacts.reviews(subtask.id):
        with suppress(ArtifactError):
            reviews.append(Judgement.from_json(read_json(path)))
    # Where the tests reject, there is no review of that attempt.
    objections = [failing(found) for found in artifacts.read_comparisons(subtask.id) if found.worse]
    objections += [reason for review in reviews for reason in review.reasons]
    reasons = " ".join(dict.fromkeys(objections))
    attempts = len(artifacts.changes_tried(subtask.id))
    if not reviews:
        return Ended(subtask, attempts, approved=False, why=reasons or "It was not reviewed.")
    last = reviews[-1]
    return Ended(subtask, attempts, last.approved, last.files > 0, reasons)
