"""The values of `[slurm]` in the settings file. They become words of a command line, and never of a shell."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from orchestrator.formats.container_options import shown, words_of

_TIME: Final = re.compile(r"([0-9]{1,4}-)?[0-9]{1,6}(:[0-9]{2}){0,2}|")
_MEMORY: Final = re.compile(r"[0-9]{1,12}[KMGT]?|", re.IGNORECASE)


def _matching(value: object, pattern: re.Pattern[str], allowed: str) -> str:
    if isinstance(value, str) and pattern.fullmatch(value):
        return value
    raise ValueError(f"is {shown(value)}: {allowed}")


CHECKS: Final[dict[str, Callable[[object], object]]] = {
    "time": partial(
        _matching, pattern=_TIME, allowed='give a time as Slurm does, like "90" (minutes) or "1-12:00:00"'
    ),
    "memory": partial(_matching, pattern=_MEMORY, allowed='give a size like "4G" or "512M"'),
    "options": partial(words_of, example='["--qos", "low"]'),
}
"""What makes a setting's value of what the file says, by its key; it raises ValueError with the reason."""
