"""Deciding costs the same however large the plan is: counted in calls, which no busy machine can disturb."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from cProfile import Profile

import pytest

from orchestrator.model import facts as f
from orchestrator.model.handoff import ReportStatus, Subtask
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.usage import Usage
from orchestrator.pm.decide import decide
from orchestrator.pm.state.draft import Decision
from tests.unit.pm.story import Story

FLAT = 1.1
"""A plan eight times as large may cost so many times as much."""


class Counted(Story):
    """Counts, once it is told to, the calls that deciding takes: of the dearest fact of each kind."""

    def __init__(self, limits: Limits, workspace: WorkspaceKind) -> None:
        super().__init__(limits=limits, workspace=workspace)
        self.calls = Counter[str]()
        self.counting = False

    def feed(self, fact: f.Fact) -> Decision:
        """Let a fact happen, and what the hands do at once because of it."""
        counted = Profile()
        with counted if self.counting else nullcontext():
            self.last = decision = decide(self.state, fact, self.limits)
        self.state = decision.state
        calls = sum(each.callcount for each in counted.getstats())
        self.calls[fact.kind] = max(self.calls[fact.kind], calls)
        for action in decision.actions:
            self._work(action)
        return decision


def in_the_middle(subtasks: int, workspace: WorkspaceKind, *, chained: bool) -> Counter[str]:
    """Return what facts cost half-way through a plan: all goes well, and all goes wrong."""
    story = Counted(Limits(max_blocks=0), workspace)
    middle = subtasks // 2
    needs = [(f"s{n - 1}",) if chained and n else () for n in range(subtasks)]
    same = () if chained else ("shop.py",)  # else one after the other, because they claim the same file
    story.planned(*(Subtask(f"s{n}", "Do it", needs=needs[n], files=same) for n in range(subtasks)))
    for n in range(middle):
        story.finishes(f"s{n}")
    story.calls.clear()
    story.counting = True
    here = f"s{middle}"
    story.does(f"dev:{here}")
    story.rejects(f"test:{here}")
    story.comes_alive(f"dev:{here}")
    story.ends(f"dev:{here}", Exit(code=1))
    story.passes(60)
    story.comes_alive(f"dev:{here}")
    story.checks_in(**{f"dev:{here}": story.at + 1})
    story.reports(f"dev:{here}")
    story.ends(run=story.state.live_runs[0])
    story.does(f"test:{here}", ReportStatus.BLOCKED, blockers="no device")
    story.answers("q1", "it is there now")
    run = story.state.live_runs[0].id
    story.feed(f.UsageSeen(story.at, story.nonce(), run, Usage(1000, 10, 0, 0.5)))
    story.feed(f.Intruded(story.at, "pm-1.md", "digest", "not yours"))
    return story.calls


@pytest.mark.parametrize("workspace", [WorkspaceKind.WORKTREE, WorkspaceKind.SHARED])
@pytest.mark.parametrize("chained", [True, False])
def test_no_fact_costs_more_in_a_large_plan(workspace: WorkspaceKind, chained: bool) -> None:  # noqa: FBT001
    small, large = (in_the_middle(subtasks, workspace, chained=chained) for subtasks in (25, 200))
    assert set(small) == set(large)
    assert len(small) > 6
    dearer = {kind: (small[kind], large[kind]) for kind in small if large[kind] > FLAT * small[kind]}
    assert not dearer
