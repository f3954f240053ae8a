"""How the screen of `task watch` is laid out, and what its keys do. Colours are the 16 of the terminal."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.cli.screen import paint, width_of, wrapped

_GAP: Final = 2
"""Columns at the right that no line takes: a scroll bar, and one beside it."""

_PARTS: Final = re.compile(r"\033\[[0-9;]+m|[^\033]+|\033")
"""A sequence for a colour, or text up to the next one."""

_LEAST_ROOM: Final = 40
"""Columns for which lines are made at least: a narrower terminal shows their beginnings."""

MOST_ROWS: Final = {"tasks": 4, "questions": 3, "agents": 4}
"""How many rows of a part are seen at once; the steps share with the details what the others leave."""

LEAST_LINES: Final = 3
"""Lines that the steps and the details have at least, with what stands above each."""

KEYS: Final = (
    ("a", "answer", "Answer"),
    ("t", "attach", "Attach"),
    ("w", "why", "Why"),
    ("c", "check_in", "Check in"),
    ("s", "stop", "Stop"),
    ("z", "zoom", "Zoom"),
    ("?", "explain", "Help"),
    ("q", "quit", "Quit"),
)
"""Each key with its action, and with the word for it at the foot of the screen."""

FOOT: Final = " " + "  ".join(f"{paint(key, 'bold')} {word}" for key, _, word in KEYS)

_SIZES: Final = "".join(f"#{part} Rows {{ max-height: {most}; }}\n" for part, most in MOST_ROWS.items()) + (
    f"#steps, #details {{ height: 1fr; min-height: {LEAST_LINES}; }}\n"
)

_STYLE: Final = """
Screen { layout: vertical; }
#head { dock: top; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
#said { height: auto; min-height: 1; max-height: 3; }
#head { text-style: bold; }
#head.down { color: ansi_red; }
Panel { height: auto; }
.heading { height: 1; text-style: underline; text-wrap: nowrap; }
Panel:focus-within .heading, #details:focus { text-style: bold; }
Panel:focus-within .heading { text-style: bold reverse; }
Rows, Rows:focus { border: none; padding: 0; background: ansi_default; height: auto; scrollbar-size-vertical: 1; }
Rows > .option-list--option { padding: 0; }
Rows > .option-list--option-highlighted { text-style: bold; color: ansi_default; background: ansi_default; }
Rows:focus > .option-list--option-highlighted { text-style: reverse; color: ansi_default; background: ansi_default; }
#steps Rows { height: 1fr; }
#details { border-top: solid ansi_default; scrollbar-size-vertical: 1; }
#keys { dock: bottom; height: 1; text-wrap: nowrap; }
.hidden { display: none; }
Panel.zoomed { height: auto; max-height: 50%; }
Panel.zoomed Rows { height: auto; max-height: 100%; }
ModalScreen { align: center middle; background: ansi_default; }
.dialog { width: 76; max-width: 100%; height: auto; max-height: 100%; border: solid ansi_default; padding: 0 1; }
.dialog.wide { width: 100%; }
.dialog VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
.title { text-style: bold; }
.hint { color: ansi_default; margin-top: 1; }
Input, Input:focus { border: none; height: 1; padding: 0; margin-top: 1; text-style: underline; }
Input, Input:focus { background: ansi_default; }
"""

STYLE: Final = _SIZES + _STYLE


HELP: Final = """\
Tab, Shift-Tab  the next part: tasks, questions, steps, agents, details
↑ ↓ PgUp PgDn   choose a row; all below is about the chosen task
Enter           on a question: answer it
a               answer the chosen question; elsewhere the task's first one
t               attach to the chosen agent's window in tmux (back: Ctrl-B d)
w               why the PM did what it did: about the chosen step or agent
c               let the PM check the chosen task now
s               stop the chosen task and its agents (asks before)
z               this part and its details alone on the screen, and back
q, Ctrl-C       end; tasks and agents go on

The graph: * passed, > at work, o pending, ! blocked, x failed, - set aside.
Lines lead from a step down to those that need it."""


def clipped(line: str, width: int) -> str:
    """Return what a terminal of `width` columns shows of a line, with its colours: what is beyond is not wrapped."""
    columns = max(width - _GAP, 1)
    if len(line) <= columns:
        return line
    kept, left = list[str](), columns
    for part in _PARTS.findall(line):
        if part.startswith("\033"):
            kept.append(part)
            continue
        shown = _beginning(part, left)
        left = left - width_of(shown) if len(shown) == len(part) else 0
        kept.append(shown)
    return "".join(kept)


def _beginning(text: str, columns: int) -> str:
    """Return the longest beginning of a text that fits."""
    if text.isascii():
        return text[:columns]
    taken = 0
    for place, sign in enumerate(text):
        taken += width_of(sign)
        if taken > columns:
            return text[:place]
    return text


def help_lines(width: int) -> list[str]:
    """Return what the keys do, in lines of a width."""
    return [part for line in HELP.splitlines() for part in wrapped(line, width, "") or [""]]


def room(width: int) -> int:
    """Return how many columns a line may take on a terminal, or in a box, that is `width` columns wide."""
    return max(width - _GAP, _LEAST_ROOM)
