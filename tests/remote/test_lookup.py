"""Evidence is looked up on a real box: what its agents left there does not lead anywhere else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import lookup
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.link_state import Unreachable
from orchestrator.model.errors import Unavailable
from orchestrator.ports.boxes import RemoteFile
from tests.remote.boxes import Box

ONE = RemoteFile(is_folder=False, lines=1)


@pytest.fixture
def place(box: Box) -> Path:
    """Give a folder there, beside which others lie."""
    made = box.home / "repo"
    for each in (made / "deep", box.home / "beside", box.home / "repo-2"):
        each.mkdir(parents=True)
        (each / "it.py").write_text("x\n")
    return made


def linked(place: Path, name: str, to: Path | str) -> str:
    (place / name).symlink_to(to)
    return name


def test_a_link_is_followed_beneath_the_folder_only(link: Link, place: Path) -> None:
    def found(name: str, to: Path | str) -> RemoteFile | None:
        return lookup.file_at(link, str(place), linked(place, name, to))

    assert found("in", "deep/it.py") == ONE
    assert found("again", "in") == ONE
    assert found("whole", place / "deep/it.py") == ONE
    assert found("folder", "deep") == RemoteFile(is_folder=True)
    assert lookup.file_at(link, str(place), "folder/it.py") == ONE
    assert lookup.file_at(link, str(place), "folder/../deep/it.py") == ONE
    for name, to in {"out": "../beside/it.py", "etc": "/etc/passwd", "two": "out", "self": "self"}.items():
        assert found(name, to) is None, name
    assert found("far", "../beside") is None
    assert lookup.file_at(link, str(place), "far/it.py") is None
    assert found("nearly", "../repo-2/it.py") is None
    assert found("feed", "../repo\n/it.py") is None


def test_a_folder_named_like_ours_and_a_line_feed_is_another(link: Link, place: Path) -> None:
    """`$(pwd)` alone would take the line feed away, and the two would be one."""
    other = place.with_name("repo\n")
    other.mkdir()
    (other / "it.py").write_text("x\n")
    assert lookup.file_at(link, str(place), str(other / "it.py")) is None
    assert lookup.file_at(link, str(other), "it.py") == ONE


def test_a_folder_that_is_reached_by_a_link_has_both_names(link: Link, box: Box, place: Path) -> None:
    (box.home / "short").symlink_to(place)
    for path in ("deep/it.py", str(place / "deep/it.py"), str(box.home / "short/deep/it.py")):
        assert lookup.file_at(link, str(box.home / "short"), path) == ONE


def test_what_is_no_plain_file_is_not_there(link: Link, place: Path) -> None:
    os.mkfifo(place / "pipe")
    assert lookup.file_at(link, str(place), "pipe") is None
    assert lookup.file_at(link, "/", "dev/null") is None
    assert lookup.file_at(link, "/", "etc/passwd") is not None


def test_bytes_of_any_kind_are_lines(link: Link, place: Path) -> None:
    (place / "bytes").write_bytes(b"\0\n\xff\0\n\0")
    assert lookup.file_at(link, str(place), "bytes") == RemoteFile(is_folder=False, lines=3)


def test_of_a_large_file_no_lines_are_counted(link: Link, place: Path) -> None:
    with (place / "large").open("wb") as file:
        file.truncate(lookup.LARGEST + 1)
    assert lookup.file_at(link, str(place), "large") == RemoteFile(is_folder=False, lines=None)


def test_a_commit_that_head_has_not_is_none(link: Link, place: Path) -> None:
    def git(*words: str) -> str:
        who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]
        told = subprocess.run(["git", "-C", place, *who, *words], capture_output=True, text=True, check=True)
        return told.stdout.strip()

    commit = ""
    assert lookup.commit_at(link, str(place), "0" * 40) == "", "there is no repository"
    git("init", "-q")
    assert lookup.commit_at(link, str(place), "0" * 40) == "", "there is no commit"
    for name in ("first", "second"):
        git("commit", "-q", "--allow-empty", "-m", name)
        commit = git("rev-parse", "HEAD")
    git("reset", "-q", "--hard", "HEAD~1")
    assert lookup.commit_at(link, str(place), commit) == ""
    assert lookup.commit_at(link, str(place), "HEAD") == ""
    head = git("rev-parse", "HEAD")
    assert lookup.commit_at(link, str(place), head[:10]) == head


def test_where_the_folder_is_not_there_nothing_is_said(link: Link, box: Box) -> None:
    with pytest.raises(Unavailable, match="no such folder"):
        lookup.file_at(link, str(box.home / "nowhere"), "it.py")
    with pytest.raises(Unavailable, match="no such folder"):
        lookup.commit_at(link, str(box.home / "nowhere"), "0" * 40)


def test_while_the_box_is_lost_nothing_is_missing(link: Link, box: Box, place: Path) -> None:
    box.stop()
    with pytest.raises(Unreachable):
        lookup.file_at(link, str(place), "it.py")
