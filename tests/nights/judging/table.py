"""The table of the nights, as text and as Markdown, and what went wrong in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.nights.judging.verdict import Verdict
from tests.nights.night import Night

HEADINGS = (
    "night",
    "CLIs",
    "1 :",
    "finished",
    "dead time, min",
    "keys",
    "wasted",
    "lost",
    "twice",
    "false",
    "took, s",
    "as it must",
)


def rows(judged: Sequence[tuple[Night, Verdict]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each night."""
    for night, verdict in judged:
        needed = sum(key.planned for key in verdict.keys)
        needless = len(verdict.keys) - needed
        state = ", ".join(dict.fromkeys(verdict.ends.values()))
        yield (
            night.name,
            ", ".join(night.pins),
            f"{night.factor:g}",
            "yes" if verdict.finished else f"no: {state}",
            "till morning"
            if any("until morning" in span.why for span in verdict.dead)
            else f"{verdict.dead_time / 60:.1f}",
            f"{needed} needed" * bool(needed)
            + ", " * bool(needed and needless)
            + f"{needless}" * bool(needless or not needed),
            str(len(verdict.wasted)),
            str(len(verdict.lost)),
            str(len(verdict.twice)),
            f"{len(verdict.false)} of {sum(verdict.checked.values())}",
            f"{verdict.took:.0f}",
            "yes" if verdict.passed else "not measured" if verdict.faults else "NO",
        )


def as_text(judged: Sequence[tuple[Night, Verdict]]) -> str:
    """Return the table in columns."""
    table = [HEADINGS, *rows(judged)]
    widths = [max(len(row[place]) for row in table) for place in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


def as_markdown(judged: Sequence[tuple[Night, Verdict]]) -> str:
    """Return the table for the docs."""
    lines = [f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows(judged))])


def troubles(judged: Sequence[tuple[Night, Verdict]]) -> Iterator[str]:
    """Yield in words what is not as it must be, night by night."""
    for night, verdict in judged:
        if verdict.passed:
            continue
        yield f"\n{night.name}:"
        yield from (f"  not measured: {fault}" for fault in verdict.faults)
        yield from (f"  {failure}" for failure in verdict.failures)


def unchecked(judged: Sequence[tuple[Night, Verdict]]) -> list[str]:
    """Return the rules that found no sentence to look at in any night: they say nothing."""
    names = {name for _, verdict in judged for name in verdict.checked}
    return sorted(name for name in names if not any(verdict.checked[name] for _, verdict in judged))
