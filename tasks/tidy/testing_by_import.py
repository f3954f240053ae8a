"""Tests that test by importing: to a linter they are full of unused imports."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from findings import Finding
from outcomes import is_of_tests
from taken_names import IMPORTS

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def files(root: Path, findings: Iterable[Finding]) -> set[str]:
    """The test files in which an unused import stands inside a function: taken away, the test tests nothing."""
    rows: dict[str, list[int]] = defaultdict(list)
    for finding in findings:
        if finding.code in IMPORTS and is_of_tests(finding.path):
            rows[finding.path].append(finding.row)
    return {path for path, where in rows.items() if _any_inside((root / path).read_bytes(), where)}


def _any_inside(source: bytes, rows: Iterable[int]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
    ]
    return any(first <= row <= last for row in rows for first, last in spans)
