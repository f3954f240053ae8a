"""A real repository, its user, and the workspaces of a task in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from orchestrator.ports.worktree import Tree
from orchestrator.workspaces.git import GitWorkspaces

KEPT = "refs/tasks/task/demo/parser/"


@dataclass
class Repo:
    """What a user does in their repository."""

    path: Path

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.path,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="surrogateescape").rstrip("\n")

    def start(self, *arguments: str) -> Repo:
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-qb", "main", *arguments)
        return self.save({"readme.txt": "hello\n", ".gitignore": "*.log\nbuild/\n"}, "first")

    def save(self, files: dict[str, str], message: str) -> Repo:
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self

    def refs(self, start: str = "") -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        found = dict(line.split(" ") for line in lines)
        return {name: commit for name, commit in found.items() if name.startswith(start)}

    def at(self, commit: str, name: str) -> str:
        return self.git("show", f"{commit}:{name}")

    def names(self, commit: str) -> set[str]:
        return set(self.git("ls-tree", "-rz", "--name-only", commit).rstrip("\0").split("\0"))


def admin(repo: Repo, name: str = "parser") -> Path:
    return repo.path / ".git" / "worktrees" / name


@pytest.fixture(autouse=True)
def git_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "gitconfig"
    path.write_text('[user]\nname = A User\nemail = user@example.org\n[protocol "file"]\nallow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "project").start()


@pytest.fixture
def workspaces(git_config: Path) -> GitWorkspaces:
    del git_config  # it must be there before the environment is read
    return GitWorkspaces()


@pytest.fixture
def tree(repo: Repo, tmp_path: Path, workspaces: GitWorkspaces) -> Tree:
    return Tree(repo.path, tmp_path / "trees", "parser", "task/demo", workspaces.head(repo.path))


@pytest.fixture
def look(tree: Tree) -> Tree:
    return replace(tree, name="look", detached=True)


@pytest.fixture
def place(tree: Tree, workspaces: GitWorkspaces) -> Path:
    """Return the tree, made for its first attempt."""
    return workspaces.prepare(tree, 1)


@pytest.fixture
def clean(repo: Repo, tree: Tree, workspaces: GitWorkspaces) -> Callable[[], dict[str, str]]:
    """Prepare the tree for its second attempt and look that nothing is left in it; return what was kept."""

    def prepare() -> dict[str, str]:
        workspaces.prepare(tree, 2)
        assert repo.git("status", "--porcelain", "--ignored", cwd=tree.path) == ""
        assert repo.git("rev-parse", "HEAD", cwd=tree.path) == tree.base
        assert repo.git("symbolic-ref", "HEAD", cwd=tree.path) == "refs/heads/task-work/demo/parser"
        assert {path.name for path in tree.path.iterdir()} == {".git", ".gitignore", "readme.txt"}
        return repo.refs(KEPT)

    return prepare
