"""Files in which findings are nobody's oversight: what a program has written, and what tests read as it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from outcomes import may_be_data
from planning import Why

HEAD_BYTES, HEAD_LINES = 3000, 10
SAYS_SO = re.compile(
    rb"#.*(?:@generated\b|\$ANTLR|\b(?:do not|don't) (?:edit|modify|change)\b)"
    rb"|\W*(?:this )?(?:file |code )?(?:is |was )?(?:auto-?|auto |automatically )?"
    rb"generated (?:automatically )?(?:by|from)\b",
    re.IGNORECASE,
)
"""A line near the top, as generators write it."""


def files(root: Path, paths: Iterable[str], imported: Collection[str]) -> dict[str, Why]:
    """The files to leave as they stand, each with the reason.

    Args:
        root: The tree.
        paths: All Python files of the project.
        imported: The files that the tests import.
    """
    found = {}
    for path in paths:
        if may_be_data(path) and path not in imported:
            found[path] = Why.DATA
        elif _is_generated(root / path):
            found[path] = Why.GENERATED
    return found


def _is_generated(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return any(SAYS_SO.match(line.strip()) for line in head.splitlines()[:HEAD_LINES])
