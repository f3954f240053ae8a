"""What `${name…}` does to the value of a variable, as far as that can be determined."""

from __future__ import annotations

import fnmatch
import re
from typing import Final

from orchestrator.pm.permissions.fields import ANYTHING, FILES, MARKS, TOKEN

_PLAIN: Final = re.compile(r"[A-Za-z0-9_+@%,.-]+")
_CASED: Final = frozenset({"^", "^^", ",", ",,"})


def applied(operator: str, value: str, operand: str) -> tuple[str, ...]:
    """Return the possible texts of an expansion.

    Args:
        operator: The characters between the name and the operand.
        value: The value of the variable, with marks.
        operand: The argument of the operator.

    """
    if operator in {"-", ":-", "=", ":="}:
        unset = value == ANYTHING or not value
        return (value, operand) if unset and value else (operand,) if not value else (value,)
    if operator in {"+", ":+"}:
        return ("",) if not value else (operand,) if value != ANYTHING else ("", operand)
    if operator in {"?", ":?"}:
        return (value,)
    if ANYTHING in value or ANYTHING in operand:
        return (ANYTHING,)
    if MARKS.isdisjoint(value) and MARKS.isdisjoint(operand):
        return (_known(operator, value, operand),)
    return _marked(operator, value, operand)


def _known(operator: str, value: str, operand: str) -> str:
    """Return the result if everything is known; a pattern that shells read differently makes it unknown."""
    if operator in _CASED:
        upper, lower = (value.upper(), value.lower()) if not operand else (ANYTHING, ANYTHING)
        return upper if operator == "^^" else lower if operator == ",," else ANYTHING
    if operator in {"#", "##"}:
        ends = range(len(value) + 1) if operator == "#" else range(len(value), -1, -1)
        return next((value[end:] for end in ends if fnmatch.fnmatchcase(value[:end], operand)), value)
    if operator in {"%", "%%"}:
        starts = range(len(value), -1, -1) if operator == "%" else range(len(value) + 1)
        return next((value[:at] for at in starts if fnmatch.fnmatchcase(value[at:], operand)), value)
    pattern, slash, instead = operand.partition("/")
    if operator in {"/", "//"} and slash and pattern and not set(pattern) & set("*?[\\"):
        return value.replace(pattern, instead, 1 if operator == "/" else -1)
    return ANYTHING


def _marked(operator: str, value: str, operand: str) -> tuple[str, ...]:
    """Return the results if part of the value is a mark."""
    files = value.endswith(tuple(FILES))
    pattern, slash, instead = operand.partition("/")
    match operator:
        case "##" if operand == "*/":
            return (TOKEN,)
        case "#" if files and operand.endswith("/") and _PLAIN.fullmatch(operand.replace("/", "")):
            return (value.removeprefix(operand),)
        case "%" if files and operand == "/*" and not value.startswith("/"):
            return (value,)
        case "%" | "%%" if files and _PLAIN.fullmatch(operand.replace("*", "")):
            return value, ""  # nothing is left of a name like `.x`
        case "/" | "//" if files and slash and _PLAIN.fullmatch(pattern) and _PLAIN.fullmatch(instead):
            return (
                (value,)
                if (pattern[0].isalnum() or pattern[0] == "_") and ".." not in instead
                else (ANYTHING,)
            )
        case ":" | "^^" | ",," | "^" | "," if value == TOKEN:
            return (TOKEN,)
        case _:
            return (ANYTHING,)
