"""What is shown in a terminal fits it, and can be copied from it."""

from __future__ import annotations

import pytest

from orchestrator.cli.screen import NARROW, ago, columns, cut, width_of, wrapped


def test_a_path_with_a_hyphen_is_not_broken_where_it_fits_a_line():
    path = "/home/me/.local/state/agent-orchestrator-box/tasks/far-8e0b50f3"
    lines = wrapped(f"begin anew there: mkdir -p {path} && echo far-8e0b50f3", 70, "  ")
    assert any(path in line for line in lines)
    assert all(width_of(line) <= 70 and line.startswith("  ") for line in lines)


def test_long_word_is_broken_without_loss():
    word = "x" * 200
    lines = wrapped(word, 40, "    ")
    assert "".join(line.strip() for line in lines) == word
    assert max(map(len, lines)) == 40


def no_terminal(_descriptor):
    raise OSError("not a terminal")


@pytest.mark.parametrize(
    ("wanted", "width"),
    [("400", 400), ("12", 40), ("", NARROW), ("wide", NARROW), ("0", NARROW), ("²", NARROW)],
)
def test_what_is_piped_is_as_wide_as_the_environment_says(monkeypatch, wanted, width):
    """A reason that is cut at the 80th column is lost to whoever keeps it in a file."""
    monkeypatch.setenv("COLUMNS", wanted)
    monkeypatch.setattr("os.get_terminal_size", no_terminal)
    assert columns() == width


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (0, "-"),
        (1000, "now"),
        (1030, "now"),
        (1120, "2 min ahead of the clock"),
        (1000 + 5 * 3600, "5 h ahead of the clock"),
        (700, "5 min ago"),
        (1000 - 7200, "2 h ago"),
    ],
)
def test_a_moment_to_come_is_not_called_now(then, said):
    """The clock was set back by five hours, and a question of this morning was "asked now" until the afternoon."""
    assert ago(then, 1000) == said


@pytest.mark.parametrize("width", [-3, 0, 1])
def test_a_text_is_cut_where_there_is_no_room_at_all(width):
    assert cut("text", width) == "…"
