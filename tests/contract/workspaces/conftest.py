"""The world and the tree of each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.workspaces.git import GitWorkspaces
from tests.contract.workspaces.worlds import InGit, InMemory, World


@pytest.fixture(params=["git", "memory"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    project, root = tmp_path / "project", tmp_path / "trees"
    if request.param == "memory":
        return InMemory(project, root, FakeWorkspaces())
    (tmp_path / "gitconfig").write_text("[user]\nname = A User\nemail = user@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    project.mkdir()
    made = InGit(project, root, GitWorkspaces())
    made.git("init", "-qb", "main")
    (project / "readme.txt").write_text("hello\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "first")
    return made


@pytest.fixture
def tree(world: World) -> Tree:
    return Tree(
        project=world.project,
        root=world.root,
        name="parser",
        branch="task/demo",
        base=world.workspaces.head(world.project),
    )
