"""Evidence is looked up where it is said to lie, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.daemon.act.resolve import resolve
from orchestrator.daemon.world import Places, tree_of
from orchestrator.formats.evidence import references
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.actions import ResolveEvidence
from orchestrator.model.errors import Unavailable
from orchestrator.model.evidence import Reference, Resolution
from orchestrator.model.task import WorkspaceKind
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.unit.pm.story import Story


class Desk:
    """A task whose branch has `shop/greet.py` with three lines, and whose folder has some artifacts."""

    def __init__(self, root: Path, **config: object) -> None:
        self.where = Places(root / "p", root / "pm", root / "p" / "tasks" / "demo", root / "trees")
        self.workspaces = FakeWorkspaces()
        story = Story(**config)  # type: ignore[arg-type]
        story.planned("a")
        self.state = replace(story.state, base=self.workspaces.head(self.where.code))
        tree = tree_of(self.state, self.state.steps["dev:a"], self.where)
        self.commit = ""
        if tree is not None:
            self.workspaces.prepare(tree, 1)
            self.workspaces.work(tree, "a\nb\nc\n", "shop/greet.py")
            self.commit, _ = self.workspaces.commit(tree, "greet")
            self.workspaces.merge(tree, self.commit)
            self.workspaces.work(tree, "never committed", "shop/late.py")
            (tree.path / "shop").mkdir(parents=True)
            (tree.path / "shop" / "late.py").write_text("never committed")
        for name, text in {"seen.md": "one\ntwo\n", "empty.md": "", "run/log.txt": "x\n"}.items():
            path = self.where.task / "artifacts" / "tests" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.where.task / "artifacts" / "void").mkdir()
        (self.where.task / "artifacts" / "out").symlink_to("/etc")
        (self.where.task / "task.md").write_text("# Task: x\n")
        (self.where.code / "mine.py").write_text("1\n2\n")

    def look(self, text: str) -> Resolution:
        """Return what became of looking one thing up."""
        named, _ = references(text, frozenset())
        return self.found(*named)[0]

    def found(self, *named: Reference) -> tuple[Resolution, ...]:
        world: Any = SimpleNamespace(files=DiskFiles(), workspaces=self.workspaces)
        action = ResolveEvidence("a1", "accept", 1, (), named)
        return resolve(world, self.state, action, self.where, 1.0).found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("text", "exists"),
    [
        ("shop/greet.py", True),
        ("shop/greet.py:3", True),
        ("shop/greet.py:4", False),
        ("shop/", True),
        ("shop/late.py", False),  # it lies in the tree, and nobody committed it
        ("mine.py", False),  # it lies in the user's own tree
        ("artifacts/tests/seen.md", True),
        ("artifacts/tests/seen.md:2", True),
        ("artifacts/tests/seen.md:9", False),
        ("artifacts/tests/never.md", False),
        ("artifacts/tests/empty.md", False),
        ("artifacts/tests/", True),
        ("artifacts/void/", False),
        ("artifacts/out/passwd", False),  # a link that leads elsewhere
        ("artifacts/../task.md", False),
        ("task.md", False),
        ("/etc/passwd", False),
        ("../secret.py", False),
        ("deadbeef", False),
    ],
)
def test_what_is_evidence(desk: Desk, text: str, exists: bool) -> None:  # noqa: FBT001 (a column of the table)
    found = desk.look(text)
    assert found.exists is exists, found
    assert found.detail


def test_a_commit_of_the_branch_is_evidence(desk: Desk) -> None:
    assert desk.look(desk.commit[-39:] if not desk.commit.isdigit() else "f" * 40).exists is False
    (found,) = desk.found(replace(references("deadbeef", frozenset())[0][0], target=desk.commit))
    assert found.exists


def test_whole_paths_are_looked_for_where_they_lead(desk: Desk) -> None:
    tree = desk.where.trees / "a"
    assert desk.look(f"{tree}/shop/greet.py").exists
    assert not desk.look(f"{tree}/shop/late.py").exists
    assert desk.look(f"{desk.where.task}/artifacts/tests/seen.md").exists
    assert not desk.look(f"{desk.where.task}/task.md").exists


def test_in_the_users_own_tree_files_are_looked_for_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path, workspace=WorkspaceKind.SHARED)
    assert desk.look("mine.py:2").exists
    assert not desk.look("mine.py:3").exists
    assert not desk.look("shop/greet.py").exists
    assert not desk.look("deadbeef").exists


def test_what_git_cannot_tell_now_is_tried_later(desk: Desk) -> None:
    desk.workspaces.fail_next(Unavailable("git hangs"))
    with pytest.raises(Unavailable):
        desk.look("shop/greet.py")
