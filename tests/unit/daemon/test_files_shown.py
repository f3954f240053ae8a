"""What an agent that touches no file is shown of the files."""

from __future__ import annotations

import pytest

from orchestrator.daemon.actions import files_shown as showing
from orchestrator.daemon.actions.files_shown import files_shown
from orchestrator.hosts.disk import DiskFiles


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / ".git").write_text("gitdir: elsewhere\n")
    (root / "pkg" / "main.py").write_text("MAIN = 1\n")
    (root / "pkg" / "other.py").write_text("OTHER = 1\n")
    (root / "server_rsa").write_text("PRIVATE KEY\n")
    (root / "outside").symlink_to("/etc/passwd")
    return root


def shown(tree, text, *beside):
    return files_shown(DiskFiles(), [tree], beside, text)


def test_of_a_small_tree_all_is_shown(tree):
    page = shown(tree, "Do it.")
    assert f"- {tree}/pkg/main.py\n- {tree}/pkg/other.py\n" in page
    assert f"{tree}/pkg/other.py:\n```\nOTHER = 1\n```" in page


def test_neither_secrets_nor_links_nor_git_are_read(tree):
    page = shown(tree, "Look at server_rsa, outside and .git")
    assert "PRIVATE KEY" not in page
    assert "root:" not in page
    assert "gitdir" not in page


@pytest.mark.parametrize("name", ["pkg/main.py", "main.py", "tree/pkg/main.py"])
def test_of_a_large_tree_what_the_order_names_is_shown(tree, monkeypatch, name):
    monkeypatch.setattr(showing, "SMALL", 1)
    page = shown(tree, f"Change {name}.")
    assert "MAIN = 1" in page
    assert "OTHER = 1" not in page
    assert f"- {tree}/pkg/other.py" in page


def test_artifacts_of_others_are_shown_where_they_are_named(tree, tmp_path):
    notes = tmp_path / "artifacts" / "analysis"
    notes.mkdir(parents=True)
    (notes / "notes.md").write_text("What was found.\n```\ncode\n```\n")
    page = shown(tree, f"- explore: {notes}/notes.md", tmp_path / "artifacts")
    assert "````\nWhat was found." in page


def test_what_is_too_long_or_no_text_is_named_as_such(tree):
    (tree / "picture.png").write_bytes(b"\xff\xd8")
    assert f"{tree}/picture.png is not shown: it is too long, or no text." in shown(tree, "picture.png")
