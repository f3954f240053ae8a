"""A table that fits the terminal."""

from __future__ import annotations

from orchestrator.cli.screen import fitted, harmless, paint, width_of

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GAP = "  "
NARROWEST = 6

COLOURS = {
    "running": "cyan",
    "working": "cyan",
    "checking": "cyan",
    "alive": "cyan",
    "starting": "cyan",
    "queued": "cyan",
    "complete": "green",
    "complete in part": "yellow",
    "passed": "green",
    "waiting": "yellow",
    "limited": "yellow",
    "blocked": "yellow",
    "unknown": "yellow",
    "reachable": "green",
    "unreachable": "yellow",
    "stopped": "yellow",
    "failed": "red",
    "damaged": "red",
    "refused": "red",
    "pending": "dim",
    "untried": "dim",
    "gone": "dim",
    "set_aside": "dim",
    "set aside": "dim",
    "planned anew": "dim",
}
"""The colour of a word that names a state."""


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    width: int,
    *,
    colour: bool,
    spare: bool = False,
) -> list[str]:
    """Return the lines of a table of at most `width` columns: the widest columns are cut first.

    Cells may hold untrusted text. Columns that are empty in every row are left out. With `spare`, the last column
    gets the room that the others leave, and is dropped if that is almost none.
    """
    cells = [["-" if cell is None else harmless(cell) for cell in row] for row in rows]
    used = [n for n in range(len(headings)) if any(row[n] not in {"", "-"} for row in cells)]
    shown = [[headings[n] for n in used], *([row[n] for n in used] for row in cells)]
    widths = [max(map(width_of, column)) for column in zip(*shown, strict=True)]
    if spare and widths:
        left = width - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
        widths[-1:] = [min(widths[-1], left)] if left >= NARROWEST else []
    widths = _fitted(widths, width)
    lines = [_line(row, widths, colour=colour and row is not shown[0]) for row in shown]
    if colour:
        lines[0] = paint(lines[0], "bold")
    return lines


def _fitted(widths: list[int], width: int) -> list[int]:
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width
    while excess > 0 and (widest := max(widths, default=0)) > NARROWEST:
        widths[widths.index(widest)] -= 1
        excess -= 1
    return widths


def _line(row: Sequence[str], widths: Sequence[int], *, colour: bool) -> str:
    parts = []
    for text, width in zip(row, widths, strict=False):  # a spare column may be left out
        shown = fitted(text, width)
        parts.append(paint(shown, COLOURS[text]) if colour and text in COLOURS else shown)
    return GAP.join(parts).rstrip()
