"""What is shown in a terminal fits it, and can be copied from it."""

from __future__ import annotations

from orchestrator.cli.screen import width_of, wrapped


def test_a_path_with_a_hyphen_is_not_broken_where_it_fits_a_line():
    path = "/home/me/.local/state/agent-orchestrator-box/tasks/far-8e0b50f3"
    lines = wrapped(f"begin anew there: mkdir -p {path} && echo far-8e0b50f3", 70, "  ")
    assert any(path in line for line in lines)
    assert all(width_of(line) <= 70 and line.startswith("  ") for line in lines)


def test_a_word_longer_than_a_line_is_broken_and_nothing_of_it_is_lost():
    word = "x" * 200
    lines = wrapped(word, 40, "    ")
    assert "".join(line.strip() for line in lines) == word
    assert max(map(len, lines)) == 40
