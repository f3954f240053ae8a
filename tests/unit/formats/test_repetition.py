"""Exploring or spinning: output that repeats itself says nothing (H9)."""

from __future__ import annotations

import pytest

from orchestrator.formats.repetition import says_anything_new

SPINNER = "".join(
    f"\r\x1b[2K{sign} Thinking… ({second}s • {second * 37} tokens)" for second, sign in enumerate("⠋⠙⠹⠸⠼⠴")
)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("reading a.py\r\n", "reading b_tests.py\r\n"),
        ("", "hello\r\n"),
        (SPINNER, SPINNER + "\r\nFound the fault in parser.py\r\n"),
    ],
)
def test_a_line_that_was_not_there_before_is_new(earlier, later):
    assert says_anything_new((earlier + later).encode(), len(earlier.encode()))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("hello\r\n", ""),
        ("hello\r\n", "  hello \r\nHELLO\r\n"),
        (SPINNER, SPINNER.replace("s •", "1s •")),
        ("waiting 1\n", "waiting 2\nwaiting 3\n"),
        ("hello\n", "\x1b[31mhello\x1b[0m\n\x1b]0;a title\x07\n"),
        ("", "\x1b[?25l\x1b[H   \r\n 12:30:59 \r\n"),
    ],
)
def test_colours_numbers_spinners_and_repeated_lines_are_not(earlier, later):
    assert not says_anything_new((earlier + later).encode(), len(earlier.encode()))


def test_bytes_that_are_no_text_are_survived():
    assert says_anything_new(b"\xff\xfe\x00abc\xc3", 0)


def test_a_flood_is_looked_at_to_a_bound():
    log = b"".join(b"line %c\n" % (65 + number % 20) for number in range(200_000))
    assert not says_anything_new(log, len(log) // 2)
