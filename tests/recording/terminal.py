"""Draws what a terminal showed as an SVG, and reads the words of such a picture again."""

from __future__ import annotations

import re
from io import StringIO
from typing import Final
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

_CHANGING: Final = re.compile(
    r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|\d+(?:\.\d+)?(?: (?:s|min|h)\b(?: \d+ (?:s|min)\b)?)?"
)
"""Commits, times with their units, and counts: they differ from one run to the next."""

_AGES: Final = re.compile(r"\bnow\b")
"""How an age of less than a second is said."""

_CUT_OFF: Final = re.compile(r"[^\s…]*…")
"""The word in which a line was cut off: how much is left of it depends on the length of the times ahead of it."""

_FORMAT: Final = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""As rich draws it, but with the reader's own fonts: a picture loads nothing from elsewhere."""


def drawn(screen: str, columns: int, title: str) -> str:
    """Return an SVG of a terminal so many columns wide.

    `screen` is what `tmux capture-pane -e` printed: lines of text with the escape sequences of their colours.
    """
    console = Console(
        file=StringIO(), record=True, width=columns, force_terminal=True, color_system="truecolor"
    )
    console.print(Text.from_ansi(screen.rstrip()), no_wrap=True, crop=True)
    return console.export_svg(title=title, theme=MONOKAI, code_format=_FORMAT, unique_id="demo")


def words(picture: str) -> str:
    """Return the words that an SVG of a terminal shows, with a 0 in the place of what each run has otherwise."""
    text = " ".join(
        "".join(each.itertext()) for each in ET.fromstring(picture).iter() if each.tag.endswith("}text")
    )
    return _CUT_OFF.sub("…", _AGES.sub("0 ago", _CHANGING.sub("0", " ".join(text.split()))))
