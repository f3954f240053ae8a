"""Trees that nobody will work in again are removed: each once, when its last step is settled and its last run gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon.actions.housekeeping import Housekeeping
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.model.errors import Unavailable
from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.settings import Settings
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.state.steps import Steps
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

HOME = Path("/pm/tasks/demo-1")
WHERE = TaskPaths(Path("/project"), HOME, Path("/project/tasks/demo"), Path("/pm/worktrees/demo-1"))


class Trees:
    """Workspaces that are asked for nothing but what is there, and to be released."""

    def __init__(self):
        self.there = {"a", "b", "c", "look"}
        self.released = []
        self.able = True

    def remains(self, project, root, branch):
        assert (project, root, branch) == (WHERE.code, WHERE.trees, "task/demo")
        return self.there

    def release(self, tree, _patience):
        if not self.able:
            raise Unavailable("git does not answer")
        self.released.append(tree.name)

    def taken(self):
        reported, self.released = self.released, []
        return sorted(reported)


class NoPanes:
    def panes(self):
        return []


@pytest.fixture
def trees():
    return Trees()


@pytest.fixture
def house(trees):
    """Do the housekeeping as it is done after each decision."""
    world = Adapters(MemoryFiles(), NoPanes(), trees, Settings(), {})  # type: ignore[arg-type]
    context = Context(
        world,
        FakeClock(),
        InlineExecutor(),
        InlineExecutor(),
        lambda: "n",
        lambda _: None,
        Path("/pm"),
        lambda *_: (),
    )
    return Housekeeping(context, "demo-1", HOME)


@pytest.fixture
def story():
    return Story(limits=Limits(max_blocks=0), workspace=WorkspaceKind.WORKTREE).planned("a", "b", "c")


def test_a_tree_goes_with_its_last_step_and_its_last_run(story, trees, house):
    story.does("dev:a")
    story.approves("test:a")
    story.comes_alive("review:a")
    story.reports("review:a", verdict=Verdict.APPROVED)
    house.keep_house(story.state, WHERE)
    assert trees.taken() == []
    story.ends("review:a")
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["a"]
    story.finishes("b")
    for _ in range(3):
        house.keep_house(story.state, WHERE)
    assert trees.taken() == ["b"]


def test_one_that_was_worked_in_again_is_removed_again(story, trees, house):
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no device")
    story.answers("q1", "set-aside")
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["a"]
    story.finishes("b")
    story.finishes("c")
    story.does("accept", ReportStatus.BLOCKED, blockers="no device")
    story.answers("q2", "set-aside")
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["b", "c", "look"]
    story.starts()
    house.keep_house(story.state, WHERE)
    assert trees.taken() == []
    story.finishes("a")
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["a"]


def test_what_could_not_be_done_is_done_the_next_time(story, trees, house):
    story.finishes("a")
    trees.able = False
    house.keep_house(story.state, WHERE)
    trees.able = True
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["a"]


def test_after_a_restart_everything_is_looked_at_once(story, trees, house):
    story.finishes("a")
    story.finishes("b")
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["a", "b"]
    house.keep_house(story.state, WHERE)
    assert trees.taken() == []


def test_what_a_killed_daemon_left_of_a_tree_goes_with_the_next(story, trees, house):
    """It was killed between the tree's folder and its branch. Trees of which nothing is left are left alone."""
    story.finishes("a")
    story.finishes("b")
    trees.there = {"b"}
    house.keep_house(story.state, WHERE)
    assert trees.taken() == ["b"]


def test_a_tree_that_many_steps_share_is_looked_at_once(house, monkeypatch):
    looked = list[str]()
    of_tree = Steps.of_tree

    def counted(steps, kind, workspace):
        looked.append(workspace)
        return of_tree(steps, kind, workspace)

    story = Story(workspace=WorkspaceKind.SHARED).planned(*map(str, range(10)))
    for subtask in range(9):
        story.finishes(str(subtask))
    monkeypatch.setattr(Steps, "of_tree", counted)
    house.keep_house(story.state, WHERE)
    assert len(looked) < 10, "not for each of some thirty steps"
