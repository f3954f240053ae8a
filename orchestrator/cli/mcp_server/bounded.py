"""Documents of any size become results that a model can take in: what is left out is said, and nothing is hidden."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any, Final

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.formats.text import cut, neutral

LARGEST: Final = 60_000
"""Most characters of a result as JSON: agent CLIs cut what is longer than some 25,000 tokens, without saying where."""

LEFT_OUT: Final = "left_out"
"""The field that says what was left out."""

_SAID: Final = 20
"""How many lists `left_out` names."""

_CAPS: Final = (
    (sys.maxsize, sys.maxsize),
    *((100, 4000), (50, 2000), (50, 400), (25, 200), (10, 200), (5, 100), (2, 100), (1, 100)),
)
"""Most items of a list, and most characters of a text, from generous to strict; the first that is enough counts."""

_NEWEST_LAST: Final = frozenset({"attempts", "commits", "decisions", "incidents", "notices", "spans"})
"""Lists of which the last items matter most."""


def bounded(document: dict[str, Any], largest: int = LARGEST) -> dict[str, Any]:
    """Return a document with harmless texts, whose JSON has at most `largest` characters.

    Lists are shortened and texts cut as far as that takes; `left_out` then says which. A text keeps no character that
    a person does not see: a model would read what is written in those.

    Raises:
        CommandError: not even the shortest form is short enough.

    """
    for items, length in _CAPS:
        shortened = _Shortened(items, length)
        made: dict[str, Any] = shortened.of(document, "", "")
        if said := shortened.said():
            made[LEFT_OUT] = said
        if len(json.dumps(made)) <= largest:
            return made
    raise CommandError(Exit.FAILED, "the answer is too large: ask `task` in a terminal, with --json")


@dataclass(slots=True)
class _Shortened:
    """One try: lists of at most `items`, texts of at most `length` characters; it remembers what it left out."""

    items: int
    length: int
    _lists: dict[str, tuple[int, int]] = field(default_factory=dict)
    _texts: int = 0

    def of(self, value: Any, path: str, name: str) -> Any:  # noqa: ANN401 (any JSON)
        """Return a value of JSON shortened; `path` is where it stands, `name` its key there."""
        match value:
            case str():
                return self._text(value)
            case list():
                kept = value[-self.items :] if name in _NEWEST_LAST else value[: self.items]
                if len(kept) < len(value):
                    least, all_of_them = self._lists.get(path, (len(kept), len(value)))
                    self._lists[path] = min(least, len(kept)), max(all_of_them, len(value))
                return [self.of(each, f"{path}[]", name) for each in kept]
            case dict():
                return {
                    key: self.of(each, f"{path}.{key}" if path else key, key) for key, each in value.items()
                }
            case _:
                return value

    def said(self) -> list[str]:
        """Return what was left out, in words."""
        said = [f"{path}: {kept} of {count} are shown" for path, (kept, count) in self._lists.items()]
        more = [f"and of {len(said) - _SAID} more lists"] if len(said) > _SAID else []
        texts = [f"{self._texts} texts are cut to {self.length} characters"] if self._texts else []
        return [*said[:_SAID], *more, *texts]

    def _text(self, text: str) -> str:
        self._texts += len(text) > self.length
        return neutral(cut(text, self.length))
