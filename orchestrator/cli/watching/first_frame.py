"""The first frame of `task watch`, as lines for a terminal: what Textual will draw before a key is pressed.

To import Textual takes longer than a person likes to wait. What is shown comes from `picture` here as there; this only
puts it where the style of `appearance` will put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.cli.screen import cut, width_of
from orchestrator.cli.tasks import TaskRecord
from orchestrator.cli.watching import picture
from orchestrator.cli.watching.appearance import FOOT, LEAST_LINES, MOST_ROWS, clipped, help_lines, room
from orchestrator.cli.watching.picture import Listing

_END: Final = "\033[0m"
_BOLD, _RED, _UNDERLINED, _REVERSED = "\033[1m", "\033[31m", "\033[4m", "\033[7m"
_COLOUR: Final = re.compile(r"\033\[3[0-9]m")
_STYLE: Final = re.compile(r"\033\[[0-9;]+m")


def first_frame(
    records: Sequence[TaskRecord],
    daemon: str,
    width: int,
    height: int,
    now: float,
    *,
    up: bool,
    colour: bool,
) -> list[str]:
    """Return the lines of the whole screen, with the first task chosen.

    Args:
        records: the tasks, in the order in which they are shown.
        daemon: how the daemon is, in words.
        width: of the terminal, in columns.
        height: of the terminal, in lines; so many are returned.
        now: seconds since the epoch.
        up: whether the daemon runs.
        colour: False leaves out colours, but not what is bold or reversed.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: a `state.json` has another shape than a daemon writes.

    """
    wide, task = room(width), records[0] if records else None
    parts = picture.of_all(records, wide, now) | picture.of_task(task.view if task else {}, wide, now)
    parts = {name: picture.fitting(listing, width) for name, listing in parts.items()}
    if not parts["questions"].rows:
        del parts["questions"]
    details = picture.task_details(task, wide, now) if task else help_lines(wide)
    steps, below = _shares(parts, height)
    lines = [_styled(cut(picture.headline(records, daemon, wide), width), _BOLD + ("" if up else _RED))]
    for name, listing in parts.items():
        most = steps - 1 if name == "steps" else MOST_ROWS[name]
        drawn = list(_part(listing, most, width, has_keys=name == "tasks"))
        lines += drawn + [""] * (steps - len(drawn) if name == "steps" else 0)
    lines += ["─" * width, *(clipped(line, width) for line in details[: below - 1])]
    lines += [""] * (height - len(lines))
    lines[height - 1 :] = [FOOT]
    return lines if colour else [_COLOUR.sub("", line) for line in lines]


def _shares(parts: dict[str, Listing], height: int) -> tuple[int, int]:
    """Return how many lines the steps have, and how many the details: each half of what the others leave."""
    others = sum(1 + min(len(parts[name].rows), most) for name, most in MOST_ROWS.items() if name in parts)
    left = height - others - 3  # the headline, the line for what is said, the keys
    steps = max(left // 2, LEAST_LINES)
    return steps, max(left - steps, LEAST_LINES)


def _part(listing: Listing, most: int, width: int, *, has_keys: bool) -> Iterator[str]:
    """Yield the heading and the rows that are seen of a part; the first row is the chosen one."""
    yield _styled(listing.heading, _BOLD + (_REVERSED if has_keys else _UNDERLINED))
    for place, row in enumerate(listing.rows[:most]):
        if place:
            yield row.text
        elif has_keys:
            yield _styled(row.text + " " * (width - _columns(row.text)), _REVERSED)
        else:
            yield _styled(row.text, _BOLD)


def _styled(line: str, style: str) -> str:
    """Return a line in a style that goes on where a colour within it ends."""
    return f"{style}{line.replace(_END, _END + style)}{_END}"


def _columns(line: str) -> int:
    return width_of(_STYLE.sub("", line))
