"""Where the steps of a run leave what the next ones read."""

from __future__ import annotations

import re
from contextlib import suppress
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
        """The tests after a change, by the attempt of the step `test`; those of the last step by its name."""
        return self.folder / "tests" / f"{_attempt(order)}.json"

    def change(self, order: Order) -> Path:
        """What dev changed, by the attempt of the step `dev`."""
        return self.folder / "code" / f"{_attempt(order)}.diff"

    def review(self, order: Order) -> Path:
        """What review decided, by the attempt of the step `review`, which may be fewer than dev's."""
        return self.folder / "reviews" / f"{_attempt(order)}.json"

    def comparisons(self, subtask: str) -> list[Path]:
        """The tests after each change that was tried for a subtask, in their order."""
        return _attempts(self.folder / "tests", subtask, "json")

    def changes_tried(self, subtask: str) -> list[Path]:
        """What dev changed in each of its attempts at a subtask, in their order."""
        return _attempts(self.folder / "code", subtask, "diff")

    def reviews(self, subtask: str) -> list[Path]:
        """What review decided of a subtask, each time, in their order."""
        return _attempts(self.folder / "reviews", subtask, "json")

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

    def read_comparisons(self, subtask: str) -> list[Comparison]:
        """What the checks of a subtask found so far; what cannot be read is passed over."""
        found = []
        for path in self.comparisons(subtask):
            with suppress(ArtifactError):
                found.append(Comparison.from_json(read_json(path)))
        return found

    def comparison_of(self, subtask: str, commit: str) -> Comparison:
        """What the last check of a commit found: the steps count their attempts each for itself.

        Raises:
            ArtifactError: none has looked at that commit.
        """
        for found in reversed(self.read_comparisons(subtask)):
            if found.commit == commit:
                return found
        raise ArtifactError(
            f"The tests have not been compared for {commit[:12]}: run `check.py compare` on it."
        )


def _attempts(folder: Path, subtask: str, ending: str) -> list[Path]:
    name = re.compile(rf"{re.escape(subtask)}-attempt-(\d+)\.{ending}")
    numbered = [(int(found[1]), path) for path in folder.glob("*") if (found := name.fullmatch(path.name))]
    return [path for _, path in sorted(numbered)]


def _attempt(order: Order) -> str:
    return f"{order.subtask}-attempt-{order.attempt}" if order.subtask else "accept"
