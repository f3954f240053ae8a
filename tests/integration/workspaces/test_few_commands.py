"""What a launch asks of git: few commands, each answer as fresh as if it were asked each time."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model.errors import Refused
from orchestrator.workspaces import places
from orchestrator.workspaces.git_process import Git, GitFailed
from orchestrator.workspaces.repository import Repository

from .conftest import KEPT


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that git is run with, beside the looks at its configuration."""
    run, commands = Git.run, list[str]()

    def noting(self: Git, *arguments: str, **more: Any) -> tuple[int, bytes]:
        commands.append(arguments[0])
        return run(self, *arguments, **more)

    monkeypatch.setattr(Git, "run", noting)
    return commands


def test_new_tree_takes_three_commands(tree, workspaces, asked) -> None:
    """What is not there yet need not be looked at, and git makes the tree on its branch at once."""
    workspaces.prepare(replace(tree, name="first"), 1)
    asked.clear()
    workspaces.prepare(tree, 1)
    assert asked == ["cat-file", "update-ref", "worktree"]
    assert workspaces.kept(tree) == []
    assert workspaces.where(tree) == tree.path
    assert len(asked) == 3


def test_new_tree_stands_on_its_branch(repo, tree, workspaces) -> None:
    """Also beside a tag of the same name."""
    repo.save({"later.txt": "1"}, "later")
    repo.git("tag", tree.own_branch)
    workspaces.prepare(tree, 1)
    assert repo.git("symbolic-ref", "HEAD", cwd=tree.path) == f"refs/heads/{tree.own_branch}"
    assert repo.git("rev-parse", "HEAD", cwd=tree.path) == tree.base
    assert repo.git("status", "--porcelain", cwd=tree.path) == ""


def test_repository_is_asked_for_once(repo, workspaces, asked) -> None:
    assert workspaces.folder(repo.path) == workspaces.folder(repo.path) == repo.path / ".git"
    assert asked == ["rev-parse"]


def test_another_repository_in_its_place_is_seen(repo, workspaces, tmp_path) -> None:
    """Gone, made again, and one that begins beneath the project's folder: each is what git says."""
    inside = repo.path / "sub"
    inside.mkdir()
    assert workspaces.folder(inside) == repo.path / ".git"
    repo.git("init", "-q", str(inside))
    assert workspaces.folder(inside) == inside / ".git"
    shutil.rmtree(inside / ".git")
    assert workspaces.folder(inside) == repo.path / ".git"
    (repo.path / ".git").rename(tmp_path / "elsewhere")
    with pytest.raises(Refused):
        workspaces.folder(inside)
    repo.git("init", "-q", "--separate-git-dir", str(tmp_path / "other"))
    assert workspaces.folder(inside) == tmp_path / "other"


def test_spoilt_repository_is_asked_for_again(repo, workspaces) -> None:
    """Without HEAD it is none for git, whatever was found before."""
    workspaces.folder(repo.path)
    (repo.path / ".git/HEAD").unlink()
    with pytest.raises(Refused):
        workspaces.folder(repo.path)


def test_signs_of_a_bare_repository_are_none(tmp_path, repo) -> None:
    """It has no `.git`: git is asked each time."""
    bare = tmp_path / "bare"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    assert places._signs(bare, bare) == ()


@pytest.mark.parametrize("packed", [False, True])
def test_kept_work_is_found_wherever_its_ref_is(repo, tree, workspaces, packed) -> None:
    workspaces.prepare(tree, 1)
    (tree.path / "half.txt").write_text("half")
    workspaces.prepare(tree, 2)
    if packed:
        repo.git("pack-refs", "--all", "--prune")
    assert [each.ref for each in workspaces.kept(tree)] == list(repo.refs(KEPT))
    assert workspaces.kept(replace(tree, name="other")) == []


def test_tree_half_made_by_another_git_is_waited_for(repo, workspaces, monkeypatch) -> None:
    """Git gives up where it comes upon one; of many at once several do, more than once."""
    said = f"fatal: failed to read {repo.path}/.git/worktrees/x/commondir: Success"
    failures = [GitFailed(said, said)] * 5

    def failing(self: Git, *arguments: str, stdin: bytes = b"") -> str:
        if failures:
            raise failures.pop()
        return "done"

    repository = Repository.of(repo.path, 60.0, {})
    monkeypatch.setattr(Git, "ask", failing)
    assert repository.alter("worktree", "add") == "done"


def test_other_failures_are_told_as_they_are(repo, monkeypatch) -> None:
    repository = Repository.of(repo.path, 60.0, {})
    failed = GitFailed("fatal: no", "fatal: no")

    def failing(self: Git, *arguments: str, stdin: bytes = b"") -> str:
        raise failed

    monkeypatch.setattr(Git, "ask", failing)
    with pytest.raises(GitFailed) as caught:
        repository.alter("worktree", "add")
    assert caught.value is failed
