"""A task's branch only moves forward, and receives only what the PM decided to merge.

No commit holds a file of a run that did not work on its step, and none lacks a file that nobody deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.model.plan import Gate, StepState
from orchestrator.pm.state.task_state import PMState
from orchestrator.testing.fake_git import ELSEWHERE
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.simulation.engine.agents import LATE
from tests.simulation.engine.audit import Audit
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.user_task import PROJECT, UserTask


@dataclass(slots=True)
class Branch:
    """Watches the branch of one task. `tip` is its last known commit."""

    workspaces: FakeWorkspaces
    user_task: UserTask
    tip: str = ""
    _held: set[str] = field(default_factory=set)

    def moved(self) -> list[Finding]:
        """Return what is wrong with how the branch moved since the last look."""
        old, self.tip = self.tip, self._tip()
        here = self.tip
        if here == old or not old:
            return []
        while here and here != old:
            here = self.workspaces.commits[here].parent
        return (
            []
            if here
            else [
                Finding(
                    Law.MERGED,
                    f"{self.user_task.branch} was moved from {old[-4:]} to {self.tip[-4:]}: not ahead",
                )
            ]
        )

    def foreign(self, audit: Audit) -> list[Finding]:
        """Return the files that a new commit of a step must not have, and those that it lacks."""
        found = list[Finding]()
        for (step, attempt), name in audit.ledger.evidence.commits.items():
            if name in self._held or name not in self.workspaces.commits:
                continue
            self._held.add(name)
            commit = self.workspaces.commits[name]
            before = self.workspaces.commits[commit.parent].contents if commit.parent else {}
            missing = sorted(before.keys() - commit.contents.keys())
            found += [
                Finding(Law.COMMIT, f"the commit of {step} lacks {each}, which nobody has deleted")
                for each in missing
            ]
            late = [each for each in commit.contents.keys() - before.keys() if each.startswith(LATE)]
            first = audit.ledger.tree_since.get(step, attempt)
            workers = _workers(audit.state, step, range(first, attempt + 1)) if late else set()
            strangers = [each for each in late if each.removeprefix(LATE) not in workers]
            found += [
                Finding(Law.COMMIT, f"the commit of {step}, attempt {attempt}, holds {each}")
                for each in strangers
            ]
        return found

    def unmerged(self, audit: Audit) -> list[Finding]:
        """Return the differences between the branch and the merges that were decided."""
        found, merged, here = list[Finding](), set[str](), self._tip()
        while here and here != audit.state.base:
            if here not in audit.ledger.merges and not (merged and self._is_elsewhere(here)):
                found.append(Finding(Law.MERGED, f"the branch has {here[-4:]}, which the PM did not merge"))
            merged.add(here)
            here = self.workspaces.commits[here].parent
        for step in audit.state.steps.values():
            if Gate.MERGED in step.gates and step.state is StepState.PASSED:
                commit = step.commit or (audit.state.steps[step.judges].commit if step.judges else "")
                if commit and commit not in merged:
                    found.append(
                        Finding(
                            Law.MERGED,
                            f"{step.id} has passed, and its commit {commit[-4:]} is not on the branch",
                        )
                    )
        return found

    def _is_elsewhere(self, commit: str) -> bool:
        """Return whether a commit was made on a box. Such a commit arrives together with its ancestors."""
        return self.workspaces.commits[commit].message == ELSEWHERE

    def _tip(self) -> str:
        return self.workspaces.ref(PROJECT, self.user_task.branch)


def _workers(state: PMState, step: str, attempts: range) -> set[str]:
    """Return the runs whose work a commit may hold: those that reported in one life of a tree, and all before them."""
    found = set[str]()
    for run in state.runs.values():
        if run.step == step and run.attempt in attempts and run.reported_at is not None:
            here = run
            while here.id not in found:
                found.add(here.id)
                here = state.runs.get(here.resumes) or here
    return found
