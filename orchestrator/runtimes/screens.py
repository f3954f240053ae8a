"""What a screen says, by rules that are data (`screen_rules/*.toml`). The last source of all (law 12).

A screen that no rule knows is no dialog that is known: it says nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SHOWN: Final = 12
"""How many lines of the end of a screen are looked at, and shown to whoever is asked."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One dialog, and how it is known."""

    name: str
    pattern: re.Pattern[str]
    within: int


def rules_of(text: str) -> tuple[Rule, ...]:
    """Return the rules of one file. Raises ValueError, KeyError or re.error: such a file must not ship."""
    return tuple(
        Rule(each["name"], re.compile(each["pattern"], re.IGNORECASE), int(each["within"]))
        for each in tomllib.loads(text)["dialog"]
    )


TERMINAL: Final = rules_of((Path(__file__).parent / "screen_rules" / "terminal.toml").read_text("utf-8"))
"""Read when this is imported: the package may be replaced under a running daemon."""


def end_of(screen: str) -> tuple[str, ...]:
    """Return the last lines of a screen that are not empty."""
    return tuple([line.rstrip() for line in screen.splitlines() if line.strip()][-SHOWN:])


def dialog_on(screen: str, rules: tuple[Rule, ...] = TERMINAL) -> str:
    """Return the name of the dialog that a screen shows, or an empty string if no rule knows one."""
    lines = end_of(screen)
    for rule in rules:
        if any(rule.pattern.search(line) for line in lines[-rule.within :]):
            return rule.name
    return ""
