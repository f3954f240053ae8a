"""What an earlier attempt was rejected for, as far as the next one can act upon it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from artifacts import Artifacts
from order import Order
from wording import listed, plain

MARK = "Named in the failures: "
NAMED = 50


@dataclass(frozen=True)
class Feedback:
    """The tests that newly failed, and the files that their failures name."""

    tests: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


def marked(files: Iterable[str]) -> str:
    """The line by which a rejection names files, for `read` to find in the next order."""
    return MARK + listed(files, limit=NAMED)


def read(order: Order, files: Iterable[str]) -> Feedback:
    """Read the rejection: which files it names, and which tests have newly failed in any earlier attempt.

    The order has the rejection's words, which name the files; the tests, of which words list only some, are
    those that the checks of the earlier attempts wrote down. An order that names no file leaves those that
    the checks suspect.

    Args:
        order: The order of this attempt; what lies in the artifacts is of earlier ones.
        files: The subtask's files: no other can be named.
    """
    tests: set[str] = set()
    suspects: set[str] = set()
    for found in Artifacts.of(order).read_comparisons(order.subtask):
        tests |= set(found.newly_failing)
        suspects |= set(found.suspects)
    text = order.text()
    named = {path for path in files if _is_marked(text, path)}
    return Feedback(
        tests=frozenset(tests),
        files=frozenset(named or suspects.intersection(files)),
    )


def _is_marked(text: str, path: str) -> bool:
    lines = [line.split(MARK, 1)[1] for line in text.splitlines() if MARK in line]
    return any(re.search(rf"(?:^|, ){re.escape(plain(path))}(?:$|,| and |\s*$)", line) for line in lines)
