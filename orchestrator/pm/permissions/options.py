"""Whether a command has one of some options, however it is spelled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from orchestrator.pm.permissions.fields import ANYTHING, Field

_SHORT: Final = 2


def has_option(fields: Sequence[Field], wanted: Iterable[str]) -> bool:
    """Return whether a word may be one of these options: alone, among other letters, with its value, or shortened."""
    return any(may_be_option(field.text, each) for field in fields[1:] for each in wanted)


def may_be_option(text: str, option: str) -> bool:
    """Return whether a word may be an option. An unknown word may be any."""
    if text.startswith(ANYTHING):
        return True
    if option.startswith("--"):
        name = text.partition("=")[0]
        return name.startswith("--") and len(name) > _SHORT and option.startswith(name)
    if len(option) > _SHORT:  # find's and go's own: `-exec`
        return text.lstrip("-").partition("=")[0] == option[1:] and text.startswith("-")
    return text.startswith("-") and not text.startswith("--") and option[1] in text


def split_options(
    fields: Sequence[Field], flags: str, valued: str, words: Iterable[str] = ()
) -> list[Field] | None:
    """Return the operands of a command; None if it has an option that is not known.

    Args:
        fields: The words after the program's name.
        flags: Letters of options without a value.
        valued: Letters of options that take one, in the same word or the next.
        words: Long options; with a `=` at the end they take a value, in the same word or the next.

    """
    long = {word.rstrip("="): word.endswith("=") for word in words}
    found, at = list[Field](), 0
    while at < len(fields):
        text, at = fields[at].text, at + 1
        if text == "--":
            return [*found, *fields[at:]]
        if not text.startswith("-") or text == "-":
            found.append(fields[at - 1])
        elif text.startswith("--"):
            name, given, _ = text.partition("=")
            if name not in long:
                return None
            at += long[name] and not given
        else:
            taker = next((place for place, letter in enumerate(text[1:], 1) if letter in valued), None)
            if not set(text[1:taker]) <= set(flags):
                return None
            at += taker is not None and taker == len(text) - 1
    return found
