"""The same question, or a similar one, again and again (W5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.pm.plan.similar_questions import similar

if TYPE_CHECKING:
    from collections.abc import Iterable


def times_asked(earlier: Iterable[str], text: str) -> int:
    """Return how often the same or a similar question was asked, including this time."""
    return 1 + sum(similar(text, each) for each in earlier)
