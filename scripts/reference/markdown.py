"""The few forms of Markdown that the generated pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

MADE: Final = "<!-- Made by `scripts/docs reference` from the code. Do not edit. -->\n"


def page(title: str, *parts: str) -> str:
    """Return a page of these parts, with a blank line between two."""
    return "\n\n".join([MADE + f"# {title}", *(part.strip("\n") for part in parts if part)]) + "\n"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Cells may hold anything that Markdown has on one line."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines)


def code(text: object) -> str:
    """Return a text as code within a line; nothing for an empty one."""
    shown = str(text)
    if not shown:
        return ""
    fence = "``" if "`" in shown else "`"
    return f"{fence}{shown}{fence}"


def block(language: str, text: str) -> str:
    """Return a block of code."""
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter and ends with a full stop."""
    text = text.strip()
    if not text:
        return ""
    first = text[0].upper() + text[1:]
    return first if first[-1] in ".?!" else f"{first}."


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
