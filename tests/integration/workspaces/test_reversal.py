"""A commit that reverses an earlier one, with real git."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.workspaces.reversal import reversal
from tests.integration.workspaces.test_rebase import Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    (tmp_path / "gitconfig").write_text("[user]\nname = A User\nemail = user@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return Place(tmp_path / "project")


def step(place: Place) -> str:
    """A commit that makes, changes and deletes a file."""
    place.commit("old.txt", "old\n")
    (place.project / "old.txt").unlink()
    (place.project / "tool").write_text("echo\n")
    (place.project / "tool").chmod(0o755)
    return place.commit("a.txt", "changed\n")


def test_what_came_after_it_stays(place: Place) -> None:
    commit = step(place)
    later = place.commit("later.txt", "later\n")
    made = reversal(place.repository, commit, later, "Back")
    assert made.files == ("a.txt", "old.txt", "tool")
    assert place.git("show", "-s", "--format=%P %s", made.commit) == f"{later} Back"
    assert place.git("diff", "--name-only", f"{commit}^", made.commit) == "later.txt"
    assert place.git("rev-parse", "HEAD") == later


def test_a_file_that_was_changed_since_is_named(place: Place) -> None:
    commit = step(place)
    later = place.commit("a.txt", "changed\nand more\n")
    made = reversal(place.repository, commit, later, "Back")
    assert (made.commit, made.changed) == ("", ("a.txt",))


def test_a_deleted_file_whose_name_a_folder_has_is_named(place: Place) -> None:
    commit = step(place)
    (place.project / "old.txt").mkdir()
    later = place.commit("old.txt/new", "new\n")
    made = reversal(place.repository, commit, later, "Back")
    assert made.commit == ""
    assert any(name.startswith("old.txt") for name in made.changed)
