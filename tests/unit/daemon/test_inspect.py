"""Trees that are not the task's own are compared, by content, around each run that works or judges there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.actions.admission import leases_of
from orchestrator.daemon.actions.inspect import inspect, look_ahead
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.model.actions import Inspect
from orchestrator.model.facts import WorkInspected
from orchestrator.model.handoff import Verdict
from orchestrator.model.run import Run
from orchestrator.model.task import WorkspaceKind
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

PROJECT = Path("/project")
WHERE = TaskPaths(PROJECT, Path("/pm/tasks/demo"), PROJECT / "tasks/demo", Path("/pm/trees"))


class Bench:
    """A task in the user's own tree, of which the last run was looked at ahead."""

    def __init__(self, *done: str, step: str) -> None:
        self.story = Story(workspace=WorkspaceKind.SHARED).planned("a")
        for each in done:
            (self.story.does if each.startswith("dev") else self.story.approves)(each)
        self.workspaces = FakeWorkspaces()
        self.workspaces.shared[PROJECT] = {"a.py": "one"}
        world: Any = SimpleNamespace(files=MemoryFiles(), workspaces=self.workspaces)
        self.adapters = world
        self.run = self.story.comes_alive(step)
        self.step = self.story.step(step)
        self.looks_ahead(self.run)

    def looks_ahead(self, run: Run) -> None:
        self.adapters.files.make_folder(layout.run_home(WHERE.home, run.id))
        look_ahead(self.adapters, self.story.state, self.step, run, WHERE)

    def inspected(self) -> WorkInspected:
        return inspect(self.adapters, self.story.state, Inspect("a1", self.step.id, 1), WHERE, 1.0)

    def record(self) -> Path:
        return layout.run_home(WHERE.home, self.run.id) / "before"


@pytest.fixture
def working() -> Bench:
    return Bench(step="dev:a")


@pytest.fixture
def judging() -> Bench:
    return Bench("dev:a", step="test:a")


def test_work_is_a_change_of_content(working: Bench) -> None:
    assert working.inspected().changed is False
    working.workspaces.shared[PROJECT] = {"a.py": "one", ".aider.chat.history.md": "x"}
    assert working.inspected().changed is False
    working.workspaces.shared[PROJECT] = {"a.py": "two"}
    done = working.inspected()
    assert (done.changed, done.where, done.files) == (True, "/project", ())


def test_a_check_rewritten_in_a_shared_tree_is_named(working: Bench) -> None:
    state = working.story.state
    test = replace(state.agents["test"], check=("./check.sh",))
    working.story.state = replace(state, agents={**state.agents, "test": test})
    working.workspaces.shared[PROJECT] = {"a.py": "two", "check.sh": "exit 0"}
    assert working.inspected().check_files == ("'check.sh'",)


def test_what_a_judge_changes_is_named(judging: Bench) -> None:
    assert judging.inspected().changed is False
    judging.workspaces.shared[PROJECT] = {"a.py": "two", "b.py": "x"}
    done = judging.inspected()
    assert (done.changed, done.files, done.kept) == (True, ("a.py", "b.py"), "")


@pytest.mark.parametrize("record", [b"", b"4711 99"])
def test_without_a_baseline_changes_are_unknown(working: Bench, record: bytes) -> None:
    """An older version wrote the second: by that, everything would seem to be changed."""
    working.adapters.files.write(working.record(), record)
    assert working.inspected().changed is None


def test_each_run_of_a_judge_is_compared_by_itself(judging: Bench) -> None:
    """Its next run is not blamed again for what the last one changed."""
    judging.workspaces.shared[PROJECT] = {"a.py": "two"}
    story = judging.story
    story.strewn["test:a"] = ("a.py",)
    story.reports("test:a", verdict=Verdict.APPROVED)
    story.ends("test:a")
    again = story.comes_alive("test:a")
    judging.looks_ahead(again)
    assert judging.inspected().changed is False


def test_nobody_writes_in_a_shared_tree_until_it_was_looked_at(judging: Bench) -> None:
    story = judging.story
    story.works = False
    story.reports("test:a", verdict=Verdict.APPROVED)
    story.ends("test:a")
    assert story.works_on() == set()
    assert [lease.path for lease in leases_of(story.state, {}, ())] == ["/project"]
    look = next(iter(story.state.outbox.values()))
    story.feed(WorkInspected(story.at, look.id, "test:a", 1, changed=False))
    assert all(lease.place for lease in leases_of(story.state, {}, ()))
