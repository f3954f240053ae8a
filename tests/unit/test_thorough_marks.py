"""What is left to the night says why: `pytest.mark.thorough(reason="…")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def unexplained(text: str) -> Iterator[int]:
    """Yield the lines of marks that give no reason."""
    tree = ast.parse(text)
    reasons = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "reason" and isinstance(word.value, ast.Constant) and word.value.value
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "thorough" and id(node) not in reasons:
            yield node.lineno


def test_what_is_left_to_the_night_says_why() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if "mark.thorough" in (text := path.read_text(encoding="utf-8"))
        for line in unexplained(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("mark", "lines"),
    [("thorough", [1]), ('thorough(reason="")', [1]), ("thorough(reason='x')", []), ("thorough()", [1])],
)
def test_a_mark_without_a_reason_is_found(mark: str, lines: list[int]) -> None:
    assert list(unexplained(f"MARK = pytest.mark.{mark}\n")) == lines
