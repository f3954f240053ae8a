"""Evidence is looked up on a real box: what its agents left there does not lead anywhere else."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import lookup
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import Unreachable
from orchestrator.ports.boxes import RemoteFile
from tests.remote.boxes import Box

ONE = RemoteFile(is_folder=False, lines=1)
TASK = "tasks/t1"


@pytest.fixture
def place(box: Box) -> Path:
    """Give a folder there, beside which others lie."""
    made = box.home / "repo"
    for each in (made / "deep", box.home / "beside", box.home / "repo-2"):
        each.mkdir(parents=True)
        (each / "it.py").write_text("x\n")
    return made


def file_at(link: Link, there: str, path: str) -> RemoteFile | None:
    return lookup.file_at(link, there, path, TASK)


def commit_at(link: Link, there: str, name: str, base: str = "", since: float = 0.0) -> str:
    return lookup.commit_at(link, there, name, base, since)


def linked(place: Path, name: str, to: Path | str) -> str:
    (place / name).symlink_to(to)
    return name


def test_a_link_is_followed_beneath_the_folder_only(link: Link, place: Path) -> None:
    def found(name: str, to: Path | str) -> RemoteFile | None:
        return file_at(link, str(place), linked(place, name, to))

    assert found("in", "deep/it.py") == ONE
    assert found("again", "in") == ONE
    assert found("whole", place / "deep/it.py") == ONE
    assert found("folder", "deep") == RemoteFile(is_folder=True)
    assert file_at(link, str(place), "folder/it.py") == ONE
    assert file_at(link, str(place), "folder/../deep/it.py") == ONE
    for name, to in {"out": "../beside/it.py", "etc": "/etc/passwd", "two": "out", "self": "self"}.items():
        assert found(name, to) is None, name
    assert found("far", "../beside") is None
    assert file_at(link, str(place), "far/it.py") is None
    assert found("nearly", "../repo-2/it.py") is None
    assert found("feed", "../repo\n/it.py") is None


def test_a_folder_named_like_ours_and_a_line_feed_is_another(link: Link, place: Path) -> None:
    """`$(pwd)` alone would take the line feed away, and the two would be one."""
    other = place.with_name("repo\n")
    other.mkdir()
    (other / "it.py").write_text("x\n")
    assert file_at(link, str(place), str(other / "it.py")) is None
    assert file_at(link, str(other), "it.py") == ONE


def test_a_folder_that_is_reached_by_a_link_has_both_names(link: Link, box: Box, place: Path) -> None:
    (box.home / "short").symlink_to(place)
    for path in ("deep/it.py", str(place / "deep/it.py"), str(box.home / "short/deep/it.py")):
        assert file_at(link, str(box.home / "short"), path) == ONE


def test_what_is_no_plain_file_is_not_there(link: Link, place: Path) -> None:
    os.mkfifo(place / "pipe")
    assert file_at(link, str(place), "pipe") is None
    assert file_at(link, "/", "dev/null") is None
    assert file_at(link, "/", "etc/passwd") is not None


def test_bytes_of_any_kind_are_lines(link: Link, place: Path) -> None:
    (place / "bytes").write_bytes(b"\0\n\xff\0\n\0")
    assert file_at(link, str(place), "bytes") == RemoteFile(is_folder=False, lines=3)


def test_of_a_large_file_no_lines_are_counted(link: Link, place: Path) -> None:
    with (place / "large").open("wb") as file:
        file.truncate(lookup.LARGEST + 1)
    assert file_at(link, str(place), "large") == RemoteFile(is_folder=False, lines=None)


def test_a_commit_that_head_has_not_is_none(link: Link, place: Path) -> None:
    def git(*words: str) -> str:
        who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]
        output = subprocess.run(
            ["git", "-C", place, *who, *words], capture_output=True, text=True, check=True
        )
        return output.stdout.strip()

    commit = ""
    assert commit_at(link, str(place), "0" * 40) == "", "there is no repository"
    git("init", "-q")
    assert commit_at(link, str(place), "0" * 40) == "", "there is no commit"
    for name in ("first", "second"):
        git("commit", "-q", "--allow-empty", "-m", name)
        commit = git("rev-parse", "HEAD")
    git("reset", "-q", "--hard", "HEAD~1")
    assert commit_at(link, str(place), commit) == ""
    assert commit_at(link, str(place), "HEAD") == ""
    head = git("rev-parse", "HEAD")
    assert commit_at(link, str(place), head[:10]) == head


def test_what_was_there_before_the_task_began_is_no_commit(link: Link, place: Path) -> None:
    """The commit from which the task began was a commit of its work."""
    who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]

    def git(*words: str) -> str:
        output = subprocess.run(
            ["git", "-C", place, *who, *words], capture_output=True, text=True, check=True
        )
        return output.stdout.strip()

    git("init", "-q")
    made = []
    for name in ("base", "work"):
        git("commit", "-q", "--allow-empty", "-m", name)
        made.append(git("rev-parse", "HEAD"))
    base, work = made
    assert commit_at(link, str(place), base, base) == ""
    assert commit_at(link, str(place), work, base) == work
    assert commit_at(link, str(place), work, "f" * 40) == work, "that commit is not known there"
    assert commit_at(link, str(place), work, "f" * 40, since=time.time() + 60) == ""


def test_what_a_task_and_git_have_there_is_no_file(link: Link, place: Path) -> None:
    """A handoff counted as evidence on a box, as did `.git/HEAD`, and the folder as a whole."""
    for name in ("tasks/t1/handoffs/a.md", "tasks/t1/artifacts/a.md", "tasks/t1/progress.md", ".git/HEAD"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("x\n")
    linked(place, "by-link", "tasks/t1/handoffs")
    assert file_at(link, str(place), "tasks/t1/artifacts/a.md") == ONE
    refused = ("tasks/t1/handoffs/a.md", "tasks/t1/handoffs", "tasks/t1/progress.md", "tasks/t1/artifacts/")
    for path in (*refused, "tasks/t1", ".git", ".git/HEAD", ".", str(place), "by-link/a.md"):
        assert file_at(link, str(place), path) is None, path


def test_where_the_folder_is_not_there_nothing_is_said(link: Link, box: Box) -> None:
    with pytest.raises(Unavailable, match="no such folder"):
        file_at(link, str(box.home / "nowhere"), "it.py")
    with pytest.raises(Unavailable, match="no such folder"):
        commit_at(link, str(box.home / "nowhere"), "0" * 40)


def test_while_the_box_is_lost_nothing_is_missing(link: Link, box: Box, place: Path) -> None:
    box.stop()
    with pytest.raises(Unreachable):
        file_at(link, str(place), "it.py")
