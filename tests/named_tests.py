"""The tests that documents name as `path::name`, and whether they are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_NAMED: Final = re.compile(r"`(tests/[\w./-]+\.py)::(\w+)`")


def named_tests(document: str) -> list[tuple[str, str]]:
    """Return each test that a document of the project names, as path and name."""
    return _NAMED.findall((ROOT / document).read_text(encoding="utf-8"))


def is_there(path: str, name: str) -> bool:
    """Tell whether a test of this name stands in this file."""
    return name.startswith("test_") and name in _functions(path)


@cache
def _functions(path: str) -> frozenset[str]:
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
