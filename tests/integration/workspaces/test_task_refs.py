"""What a task has, which is what its removal would take away."""

from __future__ import annotations

import os
import shutil

from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.task_refs import held
from orchestrator.workspaces.worktree_registration import registered_beneath


def unsaved(repo, tree):
    repository = Repository.of(repo.path, 60.0, os.environ)
    return held(repository, repo.path, tree.branch, tree.base, tree.root).unsaved


def test_a_tree_that_git_cannot_look_at_is_saved_only_if_empty(repo, tree, workspaces):
    """What cannot be read may be somebody's work: a removal asks first."""
    place = workspaces.prepare(tree, 1)
    assert unsaved(repo, tree) == ()
    # What git knew of the tree is gone: `git worktree prune` after its folder was moved away and back.
    shutil.rmtree(repo.path / ".git" / "worktrees")
    (place / ".git").unlink()
    (place / "new.txt").write_text("work")
    assert unsaved(repo, tree) == (place,)
    for left in place.iterdir():
        left.unlink()
    assert unsaved(repo, tree) == ()


def test_a_tree_whose_folder_is_gone_is_still_registered(repo, tree, workspaces):
    shutil.rmtree(workspaces.prepare(tree, 1))
    repository = Repository.of(repo.path, 60.0, os.environ)
    assert list(registered_beneath(repository, tree.root)) == [tree.path]
    assert not list(registered_beneath(repository, tree.root.parent))


def test_watched_git_runs_in_the_folder_that_is_named(repo, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    git = Repository.of(repo.path, 60.0, os.environ).git
    with git.stream("rev-parse", "--show-toplevel") as process:
        reported, _ = process.communicate(timeout=60)
    assert reported.decode().strip() == str(repo.path)
