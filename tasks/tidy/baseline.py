"""What the project's tests said before anything was changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import suite
from errors import ArtifactError
from outcomes import Outcomes, gist, is_of_tests
from repository import Repository
from scratch import copied
from suite import Runner, SuiteRun
from wording import count, seconds


@dataclass(frozen=True)
class Baseline:
    """The tests at one commit; without a runner, the project's tests could not be run, and `note` says why."""

    commit: str
    runner: Runner | None
    outcomes: Outcomes = field(default_factory=Outcomes)
    seconds: float = 0.0
    note: str = ""

    @property
    def decides(self) -> bool:
        """Whether a test run can tell a good change from a bad one."""
        return self.runner is not None and bool(self.outcomes.passed)

    @property
    def tested(self) -> frozenset[str]:
        """The files of which a test run can tell: those that it imports, and not the tests themselves."""
        if not self.decides:
            return frozenset()
        return frozenset(path for path in self.outcomes.imported if not is_of_tests(path))

    def summary(self) -> str:
        """One or two sentences on it."""
        if self.runner is None:
            return f"{self.note} Changes are checked by compiling and by ruff only."
        summary = (
            f"{count(len(self.outcomes.passed), 'test')} passed, {len(self.outcomes.failed)} failed, "
            f"{len(self.outcomes.skipped)} skipped in {seconds(self.seconds)} ({self.runner})."
        )
        return f"{summary} {self.note}".strip()

    def to_json(self) -> dict[str, object]:
        """As baseline.json keeps it."""
        return {
            "commit": self.commit,
            "runner": self.runner.to_json() if self.runner else None,
            "seconds": round(self.seconds, 2),
            "note": self.note,
            "passed": sorted(self.outcomes.passed),
            "failed": {test: gist(words) for test, words in sorted(self.outcomes.failed.items())},
            "skipped": sorted(self.outcomes.skipped),
            "imported": sorted(self.outcomes.imported),
        }

    @classmethod
    def from_json(cls, said: dict[str, object]) -> Baseline:
        """As baseline.json has it.

        Raises:
            ArtifactError: it was not written by this template.
        """
        runner, failed = said.get("runner"), said.get("failed")
        passed, skipped, imported = (_names(said.get(key)) for key in ("passed", "skipped", "imported"))
        if not isinstance(failed, dict):
            raise ArtifactError("baseline.json does not say which tests failed: let explore run again.")
        return cls(
            commit=str(said.get("commit")),
            runner=Runner.from_json(runner) if isinstance(runner, dict) else None,
            outcomes=Outcomes(passed, failed, skipped, imported),
            seconds=float(str(said.get("seconds", 0))),
            note=str(said.get("note", "")),
        )


def take(workspace: Repository, project: Path, limit: float) -> Baseline:
    """Run the tests of a work tree as they are.

    Of the ways to run them the first that reads every test module counts, else the one under which most
    tests pass.

    Args:
        workspace: The work tree.
        project: The user's own folder, whose virtualenv may have what the tests need.
        limit: Seconds for one run.
    """
    commit = workspace.commit()
    original = workspace.users_tree(project)
    homes = list(dict.fromkeys([project, original]))
    best: tuple[Runner, SuiteRun] | None = None
    why = ""
    with copied(workspace, original) as copy:
        for runner, ran in suite.choose(copy, homes, limit):
            if ran.status is None:
                return Baseline(commit, None, note=f"The tests did not end within {seconds(limit)}.")
            if not ran.outcomes.tells:
                why = why or suite.why_none(ran)
            elif best is None or len(ran.outcomes.passed) > len(best[1].outcomes.passed):
                best = (runner, ran)
            if ran.outcomes.tells and not ran.outcomes.unread:
                break
    if best is None:
        note = f"No test passes here: {why}." if why else "No tests were found."
        return Baseline(commit, None, note=note)
    runner, ran = best
    return Baseline(commit, runner, ran.outcomes, ran.seconds, _unread_note(ran.outcomes))


def _unread_note(outcomes: Outcomes) -> str:
    unread = outcomes.unread
    if not unread:
        return ""
    return (
        f"{count(len(unread), 'test module')} could not be read before either, so nothing is known of them."
    )


def _names(said: object) -> frozenset[str]:
    return frozenset(map(str, said)) if isinstance(said, list) else frozenset()
