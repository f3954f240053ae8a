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
from judgement import Judgement
from order import Order
from repository import Repository
from subtasks import Left, Plan, Subtask
from survey import Survey, before_and_after
from whole_file import read_json, write_json

ATTEMPTS = 50
"""More than any setting of the daemon lets a subtask have."""


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
    """What the reviews of a subtask's attempts said: the last decides, and all give their reasons."""
    attempts: dict[int, Judgement] = {}
    for attempt in range(1, ATTEMPTS):
        with suppress(ArtifactError):
            attempts[attempt] = Judgement.from_json(read_json(artifacts.review(subtask.id, attempt)))
    if not attempts:
        return Ended(subtask, 0, approved=False, why="It was never reviewed.")
    last = attempts[max(attempts)]
    reasons = dict.fromkeys(" ".join(judgement.reasons) for judgement in attempts.values())
    return Ended(subtask, max(attempts), last.approved, last.files > 0, " Then: ".join(filter(None, reasons)))
