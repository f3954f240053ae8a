"""A git of old is named as such, and never taken for a project without a repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.git import GitWorkspaces
from orchestrator.workspaces.git_process import Git

OLD = {
    "2.30": """[ "$1" != --path-format=absolute ] || echo "$1" """,
    "2.35": """[ "$among $1" != 'worktree -z' ] || { echo "error: unknown switch \\`z'" >&2; exit 129; }""",
    "2.37": """[ "$1" != --write-tree ] || { echo 'fatal: unknown rev --write-tree' >&2; exit 128; }""",
}
"""What each of them makes of a word that it does not know: measured with 2.30.9, 2.31.8, 2.35.8 and 2.36.6."""

SCRIPT = """#!/bin/sh
PATH={path}
among=; count=$#
while [ "$count" -gt 0 ]; do
    [ "$1" != worktree ] || among=worktree
    {old}
    case $1 in --path-format=absolute) absolute=1 ;; *) set -- "$@" "$1" ;; esac
    shift; count=$((count - 1))
done
exec git "$@"
"""


@pytest.fixture
def old(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> GitWorkspaces:
    """The git that is there, but for a word that one of old does not know."""
    program = tmp_path / "old" / "git"
    program.parent.mkdir()
    text = SCRIPT if request.param == "2.30" else SCRIPT.replace("--path-format=absolute)", "--none)")
    program.write_text(text.format(path=os.environ["PATH"], old=OLD[request.param]))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return GitWorkspaces()


@pytest.mark.parametrize("old", ["2.30"], indirect=True)
def test_git_that_cannot_be_guarded_is_refused(old, repo) -> None:
    with pytest.raises(Refused, match=r"install git 2\.31 or newer"):
        old.head(repo.path)


@pytest.mark.parametrize("old", ["2.35"], indirect=True)
def test_trees_are_listed_by_lines_where_git_knows_no_other_way(old, repo, tree) -> None:
    old.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, files = old.commit(tree, "x")
    assert files == 1
    repo.git("checkout", "-q", "task/demo")
    assert str(repo.path) in old.merge(tree, commit), "the branch is checked out there"
    repo.git("checkout", "-q", "main")
    assert old.merge(tree, commit) == ""


@pytest.mark.parametrize("old", ["2.37"], indirect=True)
def test_work_side_by_side_wants_a_newer_git(old, repo, tree) -> None:
    old.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    Git(repo.path, 60, os.environ).run("branch", "-f", "task/demo", repo.save({"b.txt": "b"}, "b") and "HEAD")
    with pytest.raises(Unavailable, match=r"git 2\.38"):
        old.commit(tree, "x")
