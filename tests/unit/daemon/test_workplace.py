"""What is known of the place in which a run works."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.ingest.workplace import workplace_of
from orchestrator.model.task import WorkspaceKind
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

HOME = Path("/state/tasks/demo-1")
PROJECT = Path("/project")
WHERE = TaskPaths(PROJECT, HOME, PROJECT / "tasks/demo", Path("/state/worktrees/demo-1"))
LINKS = {"/tmp": "/private/tmp", "/home/me": "/data/me"}


def real(path: Path) -> Path:
    for link, leads in LINKS.items():
        if path.is_relative_to(link):
            return Path(leads) / path.relative_to(link)
    return path


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def found(files: MemoryFiles, story: Story, **environ: str):
    run = story.comes_alive("dev:a")
    environ = {"HOME": "/home/me"} | environ
    return workplace_of(run, story.state, WHERE, environ, files, real)


def test_folders_come_with_their_links_followed_and_as_written(files):
    workplace = found(files, Story().planned("a"), TMPDIR="/var/folders/x")
    assert workplace.grants[0] == "/state/worktrees/demo-1/a"
    assert workplace.temporary == ("/private/tmp", "/tmp", "/var/folders/x")
    assert workplace.home == "/data/me"
    assert dict(workplace.variables) == {"TMPDIR": "/var/folders/x"}


def test_homes_project_and_the_pm_are_withheld(files):
    workplace = found(files, Story().planned("a"))
    assert {"/data/me", "/home/me", "/project", "/state"} <= set(workplace.withheld)
    assert workplace.private == ("/state",)


def test_a_worktree_of_the_task_is_the_runs_own(files):
    workplace = found(files, Story().planned("a"))
    assert workplace.own_tree
    assert workplace.top == workplace.grants[0]


def test_the_users_own_tree_is_nobodys_own(files):
    files.make_folder(PROJECT / ".git")
    story = Story(workspace=WorkspaceKind.SHARED).planned("a")
    workplace = found(files, story)
    assert not workplace.own_tree
    assert workplace.top == str(PROJECT)
