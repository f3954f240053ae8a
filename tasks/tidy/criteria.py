"""The task's success criteria: which hold, and why another does not."""

from __future__ import annotations

from result import Result


def mark(criterion: str, result: Result) -> str:
    """Why a criterion is not met; empty if it is."""
    judge = CRITERIA.get(" ".join(criterion.lower().rstrip(".").split()))
    if judge is None:
        return "this template cannot tell; look at the summary and decide"
    return judge(result)


def _no_test_lost(result: Result) -> str:
    if result.tests.worse:
        return result.tests.summary()
    return ""


def _fewer_findings(result: Result) -> str:
    before, after = result.before.total(), result.after.total()
    if after < before or result.planned == 0:
        return ""
    return f"ruff found {before} before and finds {after} now"


def _own_branch(result: Result) -> str:
    expected = sum(ended.approved and ended.changed for ended in result.subtasks)
    if result.branch_tip != result.tip:
        return f"{result.branch} is at {result.branch_tip[:12]}, and what was looked at is {result.tip[:12]}"
    if result.merges or len(result.commits) != expected:
        return f"{expected} subtasks changed something, but {result.branch} has {len(result.commits)} commits"
    return ""


CRITERIA = {
    "no test that passed before fails after": _no_test_lost,
    "fewer findings than before, where there was anything to fix": _fewer_findings,
    "every change is on a branch of its own, one commit per subtask": _own_branch,
}
"""The criteria of this template's task.md, as they are compared: small letters, single spaces, no full stop."""


def marked(criterion: str, why: str, result: Result) -> str:
    """A criterion as the report lists it, with its evidence or with the reason against it.

    The summary is our own word; the last commit, where there is one, stands apart from it.
    """
    if why:
        return f"- [ ] {criterion} (reason: {why})"
    evidence = ["artifacts/reviews/summary.md"]
    if result.commits and result.branch_tip == result.tip:
        evidence.insert(0, result.tip[:12])
    return f"- [x] {criterion} (evidence: {', '.join(evidence)})"
