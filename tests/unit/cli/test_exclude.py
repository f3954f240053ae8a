"""A task's folder is kept out of the user's commits, and let in again."""

import pytest

from orchestrator.cli import exclude as exclusions
from orchestrator.cli.exclude import exclude, include, tracks
from tests.odd_files import make

NAME = "tidy"


@pytest.fixture
def listed(shop):
    return lambda: (shop.project / ".git/info/exclude").read_text().splitlines()


def test_what_is_excluded_is_let_in_again(shop, listed):
    before = listed()
    assert exclude(shop.project, NAME)
    assert listed() == [*before, f"/tasks/{NAME}/"]
    assert not exclude(shop.project, NAME)
    include(shop.project, NAME)
    assert listed() == before


def test_what_the_user_tracks_or_ignores_is_left_alone(shop, listed):
    before = listed()
    shop.commit(f"tasks/{NAME}/task.md")
    shop.commit(".gitignore", "/tasks/\n")
    assert tracks(shop.project, NAME)
    assert not exclude(shop.project, NAME)
    assert not exclude(shop.project, "other")
    assert listed() == before


def test_it_runs_no_program_that_the_repository_names(shop, tmp_path):
    """Plain git asks `core.fsmonitor` for what `ls-files` and `check-ignore` do: whoever starts a task runs it."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    shop.git("config", "core.fsmonitor", str(program))
    assert exclude(shop.project, NAME)
    include(shop.project, NAME)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("what", ["pipe", "folder", "sparse"])
def test_a_list_that_is_no_plain_file_is_not_waited_for(shop, alarmed, what, monkeypatch):
    """Git itself reads the list, and hangs at a pipe until it is ended."""
    monkeypatch.setattr(exclusions, "_DEADLINE", 1.0)
    make(shop.project / ".git/info/exclude", what)
    with pytest.raises(OSError, match=r"not a plain file|larger than|Is a directory"):
        exclude(shop.project, NAME)
    with pytest.raises(OSError, match=r"not a plain file|larger than|Is a directory"):
        include(shop.project, NAME)


def test_a_link_of_the_user_s_is_followed(shop, listed, tmp_path):
    """Some keep the list among their other settings."""
    path = shop.project / ".git/info/exclude"
    (tmp_path / "exclude").write_text("*.swp")
    path.unlink()
    path.symlink_to(tmp_path / "exclude")
    assert exclude(shop.project, NAME)
    assert listed() == ["*.swp", f"/tasks/{NAME}/"]
    include(shop.project, NAME)
    assert (tmp_path / "exclude").read_text() == "*.swp\n"
