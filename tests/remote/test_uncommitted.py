"""Whether work lies uncommitted in a repository is found out on a real box."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.uncommitted import lies_uncommitted
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import Unreachable
from tests.remote.boxes import Box

NAMES = ["repo", "a repo", "50%20 'so' $(id)", "-repo", "ü"]


def git(where: Path, *words: str) -> None:
    who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", where, *who, *words], capture_output=True, text=True, check=True)


def repository(box: Box, name: str = "repo") -> Path:
    """Make a repository with a commit there, in which a log is ignored."""
    made = box.home / name
    made.mkdir()
    git(made, "init", "-q")
    (made / "readme").write_text("hello\n")
    (made / ".gitignore").write_text("*.log\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    return made


def changed(repo: Path) -> None:
    (repo / "readme").write_text("changed\n")


def staged(repo: Path) -> None:
    changed(repo)
    git(repo, "add", "-A")


def removed(repo: Path) -> None:
    (repo / "readme").unlink()


def new(repo: Path) -> None:
    """Add files, of which the user has git tell nothing."""
    git(repo, "config", "status.showUntrackedFiles", "no")
    (repo / "deep").mkdir()
    (repo / "deep" / "new").touch()


def ignored(repo: Path) -> None:
    (repo / "test.log").touch()


def committed(repo: Path) -> None:
    staged(repo)
    git(repo, "commit", "-qm", "second")


def touched(repo: Path) -> None:
    """Give a file another time, which git notes in its index when it is let."""
    os.utime(repo / "readme", (1, 1))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_wherever_it_lies(link: Link, box: Box, name: str) -> None:
    repo = repository(box, name)
    assert not lies_uncommitted(link, str(repo))
    new(repo)
    assert lies_uncommitted(link, str(repo))


@pytest.mark.parametrize(
    ("work", "lies"),
    [
        (changed, True),
        (staged, True),
        (removed, True),
        (new, True),
        (ignored, False),
        (committed, False),
        (touched, False),
    ],
)
def test_uncommitted_is_what_git_neither_has_nor_ignores(
    link: Link, box: Box, work: Callable[[Path], None], *, lies: bool
) -> None:
    """Whatever no commit has and git does not ignore lies uncommitted."""
    repo = repository(box)
    work(repo)
    index = (repo / ".git/index").read_bytes()
    assert lies_uncommitted(link, str(repo)) is lies
    assert (repo / ".git/index").read_bytes() == index, "who only looks changes nothing"


def test_very_much_of_it_is_reported_like_little(link: Link, box: Box) -> None:
    repo = repository(box)
    for number in range(6_000):
        (repo / f"{number}{'x' * 200}").touch()
    assert lies_uncommitted(link, str(repo))


def test_where_git_cannot_tell_nothing_is_said(link: Link, box: Box) -> None:
    (box.home / "empty").mkdir()
    for name in ("empty", "nowhere"):
        with pytest.raises(Unavailable, match="git cannot determine uncommitted work"):
            lies_uncommitted(link, str(box.home / name))


def test_while_the_box_is_lost_nothing_is_said(link: Link, box: Box) -> None:
    repository(box)
    box.stop()
    with pytest.raises(Unreachable):
        lies_uncommitted(link, str(box.home / "repo"))
