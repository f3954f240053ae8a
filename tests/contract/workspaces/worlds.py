"""Projects whose workspaces are held to their contract: in a git repository, and in memory."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.ports.workspaces import Workspaces
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.workspaces.git import GitWorkspaces

KEPT = "refs/tasks/task/demo/parser/"


class World(Protocol):
    """Workspaces, a project with one commit that holds `readme.txt`, and what others do there."""

    @property
    def workspaces(self) -> Workspaces: ...
    @property
    def project(self) -> Path: ...
    @property
    def root(self) -> Path: ...
    def put(self, tree: Tree, text: str, name: str) -> None: ...
    def commit_by_hand(self, tree: Tree) -> None: ...
    def commit_elsewhere(self, parent: str, text: str, name: str) -> str: ...
    def files(self, tree: Tree) -> dict[str, str]: ...
    def at(self, commit: str) -> dict[str, str]: ...
    def message(self, commit: str) -> str: ...
    def parent(self, commit: str) -> str: ...
    def refs(self, start: str) -> dict[str, str]: ...
    def look_at(self, branch: str) -> None: ...
    def branch_off(self, branch: str, commit: str) -> None: ...
    def lose(self, tree: Tree) -> None: ...
    def make_in_its_place(self, tree: Tree, text: str, name: str) -> None: ...
    def prune(self, tree: Tree) -> None: ...
    def is_known(self, tree: Tree) -> bool: ...


@dataclass
class InGit:
    project: Path
    root: Path
    workspaces: GitWorkspaces

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or self.project, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def put(self, tree: Tree, text: str, name: str) -> None:
        (tree.path / name).parent.mkdir(parents=True, exist_ok=True)
        (tree.path / name).write_text(text)

    def commit_by_hand(self, tree: Tree) -> None:
        self.git("add", "-A", cwd=tree.path)
        self.git("commit", "-qm", "by hand", cwd=tree.path)

    def commit_elsewhere(self, parent: str, text: str, name: str) -> str:
        there = self.project.with_name("elsewhere")
        if not there.exists():
            self.git("clone", "-q", str(self.project), str(there))
        self.git("fetch", "-q", "origin", parent, cwd=there)
        self.git("checkout", "-q", "--detach", parent, cwd=there)
        (there / name).write_text(text)
        self.git("add", "-A", cwd=there)
        self.git("commit", "-qm", "made elsewhere", cwd=there)
        self.git("fetch", "-q", str(there), "+HEAD:refs/tasks/brought")
        return self.git("rev-parse", "refs/tasks/brought")

    def files(self, tree: Tree) -> dict[str, str]:
        return {path.name: path.read_text() for path in tree.path.iterdir() if path.name != ".git"}

    def at(self, commit: str) -> dict[str, str]:
        names = self.git("ls-tree", "--name-only", commit).splitlines()
        return {name: self.git("show", f"{commit}:{name}") for name in names}

    def message(self, commit: str) -> str:
        return self.git("show", "-s", "--format=%B", commit)

    def parent(self, commit: str) -> str:
        return self.git("rev-parse", f"{commit}^")

    def refs(self, start: str) -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        found = dict(line.replace("refs/heads/", "").split(" ") for line in lines)
        return {name: commit for name, commit in found.items() if name.startswith(start)}

    def look_at(self, branch: str) -> None:
        self.git("checkout", "-q", branch or "main")

    def branch_off(self, branch: str, commit: str) -> None:
        self.git("branch", branch, commit)

    def lose(self, tree: Tree) -> None:
        subprocess.run(["rm", "-rf", tree.path], check=True)

    def make_in_its_place(self, tree: Tree, text: str, name: str) -> None:
        tree.path.mkdir(parents=True)
        self.put(tree, text, name)

    def prune(self, tree: Tree) -> None:
        """Let git look for the tree while it is away."""
        away = tree.root.with_name("away")
        tree.path.rename(away)
        self.git("worktree", "prune", "--expire", "now")
        away.rename(tree.path)
        assert not self.is_known(tree)

    def is_known(self, tree: Tree) -> bool:
        """Tell whether git finds the tree from inside, and its branch."""
        said = subprocess.run(
            ["git", "status", "--porcelain", "--branch"], cwd=tree.path, capture_output=True, check=False
        )
        return said.returncode == 0 and b"## task-work/demo/parser" in said.stdout


@dataclass
class InMemory:
    project: Path
    root: Path
    workspaces: FakeWorkspaces

    def put(self, tree: Tree, text: str, name: str) -> None:
        self.workspaces.work(tree, text, name)

    def commit_by_hand(self, tree: Tree) -> None:
        self.workspaces.commit_like_an_agent(tree)

    def commit_elsewhere(self, parent: str, text: str, name: str) -> str:
        return self.workspaces.commit_elsewhere(parent, text, name)

    def files(self, tree: Tree) -> dict[str, str]:
        return self.workspaces.contents(tree)

    def at(self, commit: str) -> dict[str, str]:
        return {name: text.strip() for name, text in self.workspaces.commits[commit].contents.items()}

    def message(self, commit: str) -> str:
        return self.workspaces.commits[commit].message

    def parent(self, commit: str) -> str:
        return self.workspaces.commits[commit].parent

    def refs(self, start: str) -> dict[str, str]:
        return {
            name: commit
            for name, commit in self.workspaces.refs(self.project).items()
            if name.startswith(start)
        }

    def look_at(self, branch: str) -> None:
        self.workspaces.look_at(self.project, branch)

    def branch_off(self, branch: str, commit: str) -> None:
        """The branch is made when it is needed."""

    def lose(self, tree: Tree) -> None:
        self.workspaces.lose(tree.path)

    def make_in_its_place(self, tree: Tree, text: str, name: str) -> None:
        self.workspaces.work(tree, text, name, makes=True)

    def prune(self, tree: Tree) -> None:
        self.workspaces.prune(tree.path)

    def is_known(self, tree: Tree) -> bool:
        return self.workspaces.is_known(tree)


def merged(world: World, tree: Tree, text: str, name: str) -> str:
    """Do a subtask: its work is a commit on the task's branch."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, text, name)
    commit, _ = world.workspaces.commit(tree, f"Add {name}")
    assert world.workspaces.merge(tree, commit) == ""
    return commit
