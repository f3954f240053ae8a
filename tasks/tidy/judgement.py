"""What review approves and what it rejects: rules over numbers, and no other grounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from comparison import Comparison
from errors import ArtifactError
from findings import Counts, of, risen
from subtasks import Subtask
from wording import count, listed


@dataclass(frozen=True)
class Judgement:
    """Review's decision on one attempt: approved if there is no reason against it."""

    before: int
    after: int
    files: int
    added: int
    removed: int
    reasons: tuple[str, ...] = ()

    @property
    def approved(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    def summary(self) -> str:
        """The numbers, in a sentence."""
        return (
            f"Findings of this subtask: {self.before} before, {self.after} now. "
            f"{count(self.files, 'file')} changed, {count(self.added, 'line')} added, {self.removed} removed."
        )

    def to_json(self) -> dict[str, object]:
        """As the artifact keeps it."""
        return asdict(self) | {"approved": self.approved}

    @classmethod
    def from_json(cls, said: Mapping[str, object]) -> Judgement:
        """As the artifact has it.

        Raises:
            ArtifactError: it was not written by this template.
        """
        reasons = said.get("reasons")
        if not isinstance(reasons, list):
            raise ArtifactError("A review does not say why.")
        before, after, files, added, removed = (
            int(str(said.get(key, 0))) for key in ("before", "after", "files", "added", "removed")
        )
        return cls(before, after, files, added, removed, tuple(map(str, reasons)))


def objections(
    subtask: Subtask, before: Counts, after: Counts, changed: Collection[str], tests: Comparison
) -> tuple[str, ...]:
    """The reasons to reject a change; none: it is approved.

    Args:
        subtask: What was to be done.
        before: All findings of the project before the change.
        after: All findings of the project with it.
        changed: The files that the change touches.
        tests: The tests before and after.
    """
    reasons = [failing(tests)] if tests.worse else []
    if strays := sorted(set(changed) - set(subtask.files)):
        reasons.append(f"Files that are none of this subtask's were changed: {listed(strays)}.")
    if worse := risen(before, after):
        increases = [f"{path} from {then} to {now}" for path, (then, now) in worse.items()]
        reasons.append(f"Findings went up: {listed(increases)}.")
    then, now = (of(counts, subtask.rules, subtask.files) for counts in (before, after))
    unharmed = (
        subtask.unsafe and not changed
    )  # it was to be tried, and no fix was found that the tests can bear
    if then and now >= then and not unharmed:
        reasons.append(
            f"Nothing got better: ruff found {then} things to mend here before, and finds {now} now."
        )
    return tuple(reasons)


def failing(tests: Comparison) -> str:
    """What newly fails, as a reason against a change."""
    failures = []
    if tests.newly_failing:
        failures.append(f"Newly failing tests, {len(tests.newly_failing)}: {listed(tests.newly_failing)}.")
    if tests.broken:
        failures.append(f"No longer compiling: {listed(tests.broken)}.")
    return " ".join(failures)
