"""Commits are brought from a repository on a real box by git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.link_state import Unreachable
from orchestrator.model.errors import Refused
from orchestrator.workspaces.fetching import fetch_head
from tests.remote.boxes import Box

REF = "refs/tasks/task/demo/one/brought"


def git(where: Path, *words: str) -> str:
    who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", "-C", where, *who, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q")
    (made / "readme").write_text("hello\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    return made


def cloned(project: Path, there: Path) -> str:
    """Make a clone with a commit more; return that."""
    git(project, "clone", "-q", str(project), str(there))
    (there / "far").write_text("far\n")
    git(there, "add", "-A")
    git(there, "commit", "-qm", "far")
    return git(there, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["repo", "a repo", "50%20 'so' $(id)", "-repo", "ü"])
def test_head_is_brought_into_the_ref_and_nothing_else_changes(
    link: Link, box: Box, project: Path, name: str
) -> None:
    made = cloned(project, box.home / name)
    refs = git(project, "for-each-ref")
    assert fetch_head(link, str(box.home / name), project, REF, os.environ) == made
    assert git(project, "show", f"{REF}:far") == "far"
    new = set(git(project, "for-each-ref").splitlines()) - set(refs.splitlines())
    assert [line.split()[-1] for line in new] == [REF]
    assert not (project / "far").exists()


def test_brought_again_it_is_where_head_is_now(link: Link, box: Box, project: Path) -> None:
    cloned(project, box.home / "repo")
    fetch_head(link, str(box.home / "repo"), project, REF, os.environ)
    git(box.home / "repo", "reset", "-q", "--hard", "HEAD~1")
    expected = git(project, "rev-parse", "HEAD")
    assert fetch_head(link, str(box.home / "repo"), project, REF, os.environ) == expected


def test_a_folder_without_a_repository_or_a_commit_is_refused(link: Link, box: Box, project: Path) -> None:
    (box.home / "empty").mkdir()
    git(box.home / "empty", "init", "-q")
    for name in ("empty", "nowhere"):
        with pytest.raises(Refused, match="no commit that could be brought"):
            fetch_head(link, str(box.home / name), project, REF, os.environ)


def test_while_the_box_is_lost_nothing_is_said_of_its_repository(link: Link, box: Box, project: Path) -> None:
    cloned(project, box.home / "repo")
    box.stop()
    with pytest.raises(Unreachable):
        fetch_head(link, str(box.home / "repo"), project, REF, os.environ)
