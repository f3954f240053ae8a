"""Words for people: what goes to the pane and into reports."""

from __future__ import annotations

import sys
from collections.abc import Iterable

LINE_LIMIT = 160


def say(text: str) -> None:
    """Print one short line to the pane, at once."""
    sys.stdout.write(plain(text) + "\n")
    sys.stdout.flush()


def plain(text: str) -> str:
    """`text` as one harmless line.

    Names of files and of tests come from the project; a line break or an escape sequence in one of them
    must forge no line of a report and move no cursor.
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def first_line(text: str) -> str:
    """The first line of `text` that says anything, harmless and short."""
    for line in text.splitlines():
        if line.strip():
            return shortened(plain(line.strip()))
    return ""


def last_line(text: str) -> str:
    """The last line of `text` that says anything, harmless and short: where a traceback names its error."""
    return first_line("\n".join(reversed(text.splitlines())))


def shortened(text: str, limit: int = LINE_LIMIT) -> str:
    """`text`, cut to `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str], limit: int = 5) -> str:
    """Names in one line, the first `limit` of them, and how many more there are."""
    every = [plain(name) for name in names]
    more = len(every) - limit
    return ", ".join(every[:limit]) + (f" and {more} more" if more > 0 else "")


def bullets(lines: Iterable[str], limit: int = 20) -> str:
    """A markdown list of at most `limit` lines, and how many more there are."""
    every = [f"- {plain(line)}" for line in lines]
    more = len(every) - limit
    return "\n".join(every[:limit] + ([f"- … and {more} more"] if more > 0 else []))


def seconds(number: float) -> str:
    """A duration as a person says it: `0.4 s`, `35 s`, `3 min 20 s`."""
    if number < 10:  # noqa: PLR2004 - where a tenth of a second stops being of interest
        return f"{number:.1f} s"
    minutes, rest = divmod(round(number), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
