"""Which tests that passed before fail after a change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath

import suite
from baseline import Baseline
from compiling import newly_broken
from errors import ArtifactError
from outcomes import lost
from repository import Repository
from scratch import copied
from wording import count, seconds

# A shared machine is slower at times: three times what the tests took before, and a minute.
SLOWER, GRACE_SECONDS = 3, 60
WORDS_KEPT = 50


@dataclass(frozen=True)
class Comparison:
    """A work tree's tests beside the baseline's.

    `newly_failing` maps each test that passed before and failed twice now to its last words; `unsteady` are
    those that passed when they were run again; `suspects` are the changed files that a failure names;
    `broken` are the files that no longer compile.
    """

    commit: str
    ran: bool
    passed_before: int = 0
    failed_before: int = 0
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0
    newly_failing: Mapping[str, str] = field(default_factory=dict)
    unsteady: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def worse(self) -> bool:
        """Whether something that worked before does not now."""
        return bool(self.newly_failing or self.broken)

    def summary(self) -> str:
        """What happened, in a sentence or two."""
        if self.ran:
            summary = (
                f"{count(self.passed, 'test')} passed and {self.failed} failed in {seconds(self.seconds)}; "
                f"before, {self.passed_before} passed and {self.failed_before} failed. "
                + (
                    f"Newly failing: {len(self.newly_failing)}."
                    if self.newly_failing
                    else "None newly fails."
                )
            )
        else:
            summary = "There are no tests that can be run, so the changed files were compiled."
        if self.unsteady:
            summary += f" {count(len(self.unsteady), 'test')} failed once and passed when run again."
        if self.broken:
            summary += f" No longer compiling: {count(len(self.broken), 'file')}."
        return summary

    def to_json(self) -> dict[str, object]:
        """As the artifact keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: dict[str, object]) -> Comparison:
        """As the artifact has it.

        Raises:
            ArtifactError: it was not written by this template.
        """
        failing, broken = said.get("newly_failing"), said.get("broken")
        if not (isinstance(failing, dict) and isinstance(broken, dict)):
            raise ArtifactError("The comparison of the tests does not say which newly fail.")
        numbers = {
            key: int(str(said.get(key, 0))) for key in ("passed_before", "failed_before", "passed", "failed")
        }
        return cls(
            commit=str(said.get("commit")),
            ran=bool(said.get("ran")),
            seconds=float(str(said.get("seconds", 0))),
            newly_failing=failing,
            broken=broken,
            unsteady=_names(said.get("unsteady")),
            suspects=_names(said.get("suspects")),
            **numbers,
        )


def _names(said: object) -> tuple[str, ...]:
    return tuple(map(str, said)) if isinstance(said, list) else ()


def compare(workspace: Repository, baseline: Baseline, project: Path, since: str) -> Comparison:
    """Run the tests of a work tree and set them beside the baseline's.

    Tests that newly fail are run once more, by themselves: only those that fail twice count.

    Args:
        workspace: The work tree.
        baseline: The tests before the task's first change.
        project: The user's own folder.
        since: The commit before the change that is under suspicion.
    """
    broken = newly_broken(workspace, baseline.commit)
    if baseline.runner is None:
        return Comparison(workspace.commit(), ran=False, broken=broken)
    original = workspace.users_tree(project)
    limit = SLOWER * baseline.seconds + GRACE_SECONDS
    with copied(workspace, original) as copy:
        ran = suite.run(copy, baseline.runner, limit)
    failing = lost(baseline.outcomes.passed, ran.outcomes)
    again = set(failing)
    if failing:
        with copied(workspace, original) as copy:
            again -= suite.run(copy, baseline.runner, limit, only=failing).outcomes.passed
    twice = {test: words for test, words in failing.items() if test in again}
    changed = [change.path for change in workspace.changes(since)]
    return Comparison(
        commit=workspace.commit(),
        ran=True,
        passed_before=len(baseline.outcomes.passed),
        failed_before=len(baseline.outcomes.failed),
        passed=len(ran.outcomes.passed),
        failed=len(ran.outcomes.failed),
        seconds=round(ran.seconds, 2),
        newly_failing={
            test: words if n < WORDS_KEPT else "" for n, (test, words) in enumerate(twice.items())
        },
        unsteady=tuple(sorted(set(failing) - again)),
        suspects=suspects(changed, twice.values()),
        broken=broken,
    )


def suspects(changed: Iterable[str], words: Iterable[str]) -> tuple[str, ...]:
    """The changed files that a failure's words name, as a path or as a module."""
    said = "\n".join(words)
    return tuple(path for path in sorted(changed) if any(_names_it(said, name) for name in _spellings(path)))


def _spellings(path: str) -> list[str]:
    """How a traceback may name a file: `src/shop/tags.py`, `shop/tags.py`, `shop.tags`."""
    pure = PurePosixPath(path)
    parts = pure.with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    inner = parts[1:] if parts and parts[0] in {"src", "lib"} else parts
    # A module's one-word name may be any word of a message, so there only as Python quotes it.
    return [path, ".".join(inner) if len(inner) > 1 else f"module '{'.'.join(inner)}'"]


def _names_it(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w]|\.\w)", text) is not None
