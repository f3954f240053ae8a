"""Where the steps of a run leave what the next ones read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from baseline import Baseline
from comparison import Comparison
from errors import ArtifactError
from order import Order
from whole_file import read_json


@dataclass(frozen=True)
class Artifacts:
    """The task's artifacts, by what they are."""

    folder: Path

    @classmethod
    def of(cls, order: Order) -> Artifacts:
        """The artifacts of the order's task."""
        return cls(order.task_dir / "artifacts")

    @property
    def baseline(self) -> Path:
        """The tests before any change."""
        return self.folder / "tests" / "baseline.json"

    @property
    def findings(self) -> Path:
        """What ruff found before any change."""
        return self.folder / "analysis" / "findings.json"

    @property
    def analysis(self) -> Path:
        """Explore's report for a person."""
        return self.folder / "analysis" / "report.md"

    @property
    def plan(self) -> Path:
        """The subtasks."""
        return self.folder / "design" / "plan.json"

    @property
    def design(self) -> Path:
        """Plan's report for a person."""
        return self.folder / "design" / "plan.md"

    @property
    def changes(self) -> Path:
        """All that was changed, as `git apply` takes it."""
        return self.folder / "code" / "changes.diff"

    @property
    def summary(self) -> Path:
        """The end of it, for a person."""
        return self.folder / "reviews" / "summary.md"

    def comparison(self, order: Order) -> Path:
        """The tests after a change; those of the last step stand under its own name."""
        return self.folder / "tests" / f"{_attempt(order)}.json"

    def change(self, order: Order) -> Path:
        """What dev changed in one attempt."""
        return self.folder / "code" / f"{_attempt(order)}.diff"

    def review(self, subtask: str, attempt: int) -> Path:
        """What review decided of one attempt."""
        return self.folder / "reviews" / f"{subtask}-attempt-{attempt}.json"

    def read_baseline(self, commit: str) -> Baseline:
        """The baseline of a task that started from `commit`.

        Raises:
            ArtifactError: there is none, or it is another commit's.
        """
        baseline = Baseline.from_json(read_json(self.baseline))
        if baseline.commit != commit:
            raise ArtifactError(
                f"{self.baseline} is of commit {baseline.commit[:12]}, but the task starts from {commit[:12]}: "
                "run `check.py baseline` again."
            )
        return baseline

    def read_comparison(self, order: Order) -> Comparison:
        """What the check before this step found.

        Raises:
            ArtifactError: there is nothing, or not what it should be.
        """
        return Comparison.from_json(read_json(self.comparison(order)))


def _attempt(order: Order) -> str:
    return f"{order.subtask}-attempt-{order.attempt}" if order.subtask else "accept"
