"""Trying a change on a copy: do the tests bear it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import suite
from baseline import Baseline
from comparison import GRACE_SECONDS, SLOWER
from outcomes import lost
from repository import Repository
from scratch import copied
from wording import count, say
from workshop import Contents


@dataclass(frozen=True)
class Trial:
    """Some of the project's tests (none named: all that passed before), to try changes with."""

    workspace: Repository
    baseline: Baseline
    project: Path
    tests: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """For a report: which tests."""
        if not self.baseline.decides:
            return "no tests, for there are none that can be run"
        return f"the {count(len(self.tests), 'test')} that failed" if self.tests else "all tests"

    def of_all(self) -> Trial:
        """The same with all tests."""
        return replace(self, tests=frozenset())

    def passes(self, contents: Contents) -> bool:
        """Whether the tests pass with these contents in place of the files' own."""
        runner = self.baseline.runner
        if runner is None or not self.baseline.decides:
            return True
        with copied(self.workspace, self.workspace.users_tree(self.project)) as copy:
            for path, data in contents.items():
                (copy / path).write_bytes(data)
            limit = SLOWER * self.baseline.seconds + GRACE_SECONDS
            ran = suite.run(copy, runner, limit, only=self.tests or None)
        wanted = self.tests or self.baseline.outcomes.passed
        passes = wanted <= ran.outcomes.passed if self.tests else not lost(wanted, ran.outcomes)
        say(f"  {count(len(contents), 'file')} changed: {'the tests pass' if passes else 'a test fails'}")
        return passes
