"""review: approves or rejects one attempt at a subtask; as the last step, accepts or refuses the whole."""

from __future__ import annotations

import sys

import acceptance
import feedback
from agent import carry_out
from artifacts import Artifacts
from findings import of
from judgement import Judgement, objections
from order import Order
from report import Report, Verdict
from repository import Change, Repository
from subtasks import Plan
from survey import Survey, before_and_after
from whole_file import read_json, write_json
from wording import bullets, say

ACCEPT = "accept"


def review(order: Order) -> Report:
    """Judge what the step's name says."""
    return acceptance.accept(order) if order.step == ACCEPT else judge(order)


def judge(order: Order) -> Report:
    """Judge one attempt at one subtask, by what ruff and the tests say of it."""
    artifacts = Artifacts.of(order)
    subtask = Plan.from_json(read_json(artifacts.plan)).subtask(order.subtask)
    manner = Survey.from_json(read_json(artifacts.findings)).manner
    workspace = Repository(order.workspace)
    fork = workspace.fork(order.branch)
    changes = workspace.changes(fork)
    tests = artifacts.comparison_of(subtask.id, workspace.commit())
    before, after = before_and_after(workspace, fork, manner)
    judgement = Judgement(
        before=of(before, subtask.rules, subtask.files),
        after=of(after, subtask.rules, subtask.files),
        files=len(changes),
        added=sum(change.added or 0 for change in changes),
        removed=sum(change.removed or 0 for change in changes),
        reasons=objections(subtask, before, after, [change.path for change in changes], tests),
    )
    written = artifacts.review(order)
    write_json(written, judgement.to_json() | {"changed": [_described(change) for change in changes]})
    verdict = Verdict.APPROVED if judgement.approved else Verdict.REJECTED
    say(f"{verdict}: {judgement.summary()}")
    return Report(
        done=in_words(judgement, tests.suspects),
        verdict=verdict,
        artifacts=(written,),
    )


def in_words(judgement: Judgement, suspects: tuple[str, ...]) -> str:
    """The judgement for a person, and for the next attempt of dev."""
    parts = [judgement.summary()]
    if judgement.reasons:
        parts.append("Rejected, for:\n" + bullets(judgement.reasons))
    if judgement.reasons and suspects:
        parts.append(feedback.marked(suspects))
    return "\n\n".join(parts)


def _described(change: Change) -> dict[str, object]:
    return {
        "path": change.path,
        "added": change.added,
        "removed": change.removed,
        "untracked": change.untracked,
    }


if __name__ == "__main__":
    sys.exit(carry_out(review))
