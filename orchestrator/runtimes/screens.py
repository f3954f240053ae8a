"""What a screen says, by rules that are data (`screen_rules/*.toml`). The last source of all (law 12).

A screen that no rule knows is *unknown*: it says nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from orchestrator.model.event import Failure

SHOWN: Final = 12
"""How many lines of the end of a screen are looked at, and shown to whoever is asked."""

_DURATION: Final = re.compile(r"(?:\b\d+(?:[.,]\d+)? ?[hms]\b[ ,]*)+")
_SIGNS: Final = re.compile(r"[\W\d_]+")

_FOLDER: Final = Path(__file__).parent / "screen_rules"


class Shows(StrEnum):
    """What a screen can show, in the order in which rules are tried: what must not be typed into comes first.

    The last three are about single lines: what is counted in one; that one says nothing, as a spinner and a clock; and
    that while one stands there, an answer may come of which nothing is seen.
    """

    DIALOG = "dialog"
    FAILED = "failed"
    BUSY = "busy"
    RESTING = "resting"
    COUNTER = "counter"
    NOISE = "noise"
    UNSEEN = "unseen"


_OF_SCREENS: Final = (Shows.DIALOG, Shows.FAILED, Shows.BUSY, Shows.RESTING)
_OF_LINES: Final = (Shows.COUNTER, Shows.NOISE, Shows.UNSEEN)


@dataclass(frozen=True, slots=True)
class ScreenRule:
    """One thing that a screen shows, and how it is known: a pattern in one of its last `within` lines.

    `failure` is what kind of failure it shows, where that can be told: of a dialog too, where that tells of a limit.
    `asks`: it is a dialog that a hook asks the PM about, where hooks work.
    """

    name: str
    pattern: re.Pattern[str]
    within: int
    shows: Shows = Shows.DIALOG
    failure: Failure | None = None
    asks: bool = False


def rules_of(text: str) -> tuple[ScreenRule, ...]:
    """Return the rules of one file. Raises ValueError, KeyError or re.error: such a file must not ship."""
    tables = tomllib.loads(text)
    if unknown := tables.keys() - {"version", *Shows}:
        raise ValueError(f"no rule is of the kind {', '.join(sorted(unknown))}")
    return tuple(_rule(each, shows) for shows in Shows for each in tables.get(shows, ()))


def _rule(table: dict[str, Any], shows: Shows) -> ScreenRule:
    pattern = re.compile(table["pattern"], re.IGNORECASE)
    failure = Failure(table["failure"]) if "failure" in table else None
    within = 0 if shows in _OF_LINES else int(table["within"])
    return ScreenRule(table["name"], pattern, within, shows, failure, bool(table.get("asks")))


def shipped_rules(name: str) -> tuple[ScreenRule, ...]:
    """Return the rules that ship for a program. Read when its runtime is imported: the package may be replaced."""
    return rules_of((_FOLDER / f"{name}.toml").read_text("utf-8"))


TERMINAL: Final = shipped_rules("terminal")
"""Dialogs that programs of every kind put up. They are tried after a program's own."""


def end_of(screen: str) -> tuple[str, ...]:
    """Return the last lines of a screen that are not empty."""
    return tuple([line.rstrip() for line in screen.splitlines() if line.strip()][-SHOWN:])


def shown_on(screen: str, rules: tuple[ScreenRule, ...] = ()) -> tuple[ScreenRule, str] | None:
    """Return the first rule that knows a screen, with the line that it knows it by; None for an unknown one."""
    lines = end_of(screen)
    ordered = [rule for shows in _OF_SCREENS for rule in (*rules, *TERMINAL) if rule.shows is shows]
    for rule in ordered:
        for line in lines[-rule.within :]:
            if rule.pattern.search(line):
                return rule, line.strip()
    return None


def said_on(screen: str, rules: tuple[ScreenRule, ...]) -> str:
    """Return a fingerprint of what a screen says, which is the same while only clocks and spinners go on.

    If an answer that comes would be seen, a `/` follows, and the count of its tokens if one is shown. Empty if no rule
    knows what says nothing.
    """
    noise = [rule.pattern for rule in rules if rule.shows is Shows.NOISE]
    counters = [rule.pattern for rule in rules if rule.shows is Shows.COUNTER]
    unseen = [rule.pattern for rule in rules if rule.shows is Shows.UNSEEN]
    if not noise:
        return ""
    lines = screen.splitlines()
    counted = [found[1] for line in lines for each in counters for found in each.finditer(line)]
    plain = [line for line in lines if not any(each.search(line) for each in noise)]
    said = sorted({_SIGNS.sub(" ", _DURATION.sub("", line)).strip().casefold() for line in plain})
    known = blake2b("\n".join(said).encode("utf-8", "replace"), digest_size=8).hexdigest()
    hides = any(each.search(line) for line in lines for each in unseen)
    return known if hides else f"{known}/{' '.join(counted)}"


def dialog_on(screen: str, rules: tuple[ScreenRule, ...] = ()) -> str:
    """Return the name of the dialog that a screen shows, or an empty string if no rule knows one."""
    found = shown_on(screen, rules)
    return found[0].name if found and found[0].shows is Shows.DIALOG else ""
