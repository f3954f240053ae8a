"""Spans of time as sorted lists of (from, until) that do not touch."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[float, float]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap or touch as one; empty ones are left out."""
    found: list[Span] = []
    for begin, end in sorted(span for span in spans if span[1] > span[0]):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def without(spans: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """Return what is left of spans when others are taken away."""
    left = merged(spans)
    for begin, end in merged(taken):
        left = [
            piece
            for span in left
            for piece in ((span[0], min(span[1], begin)), (max(span[0], end), span[1]))
            if piece[1] > piece[0]
        ]
    return left


def length(spans: Iterable[Span]) -> float:
    """Return how long spans are together."""
    return sum(end - begin for begin, end in spans)
