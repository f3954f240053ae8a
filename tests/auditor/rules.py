"""The numbered rules of the contract, each with what looks for its breaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tests.auditor.folder import Folder


@dataclass(frozen=True, order=True)
class Breach:
    """A rule that does not hold, and where."""

    rule: int
    text: str

    def __str__(self) -> str:
        return f"rule {self.rule}: {self.text}"


Rule = Callable[[Folder], Iterator[str]]
RULES: Final[dict[int, list[Rule]]] = {}
"""What looks for breaches of each rule, by its number."""


def rule(number: int) -> Callable[[Rule], Rule]:
    """Register the function that looks for breaches of a rule."""

    def register(found: Rule) -> Rule:
        RULES.setdefault(number, []).append(found)
        return found

    return register
