"""The values of `[containers]` in the settings file. They become words of a command line, and never of a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Final

WRITABLE: Final = ":rw"
"""Ends a mount that a container may write."""

_MEMORY: Final = re.compile(r"[1-9][0-9]{0,14}[bkmg]?", re.IGNORECASE)
_CPUS: Final = re.compile(r"(?=.*[1-9])[0-9]{1,4}(\.[0-9]{1,3})?")
_NETWORK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:,=/-]{0,199}")
_NO_PATH: Final = re.compile(r'[\0\n",]')


def _memory(value: object) -> str:
    if isinstance(value, str) and _MEMORY.fullmatch(value):
        return value
    raise ValueError(f'is {shown(value)}: give a size like "4g" or "512m"')


def _cpus(value: object) -> str:
    text = str(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else ""
    if _CPUS.fullmatch(text):
        return text
    raise ValueError(f"is {shown(value)}: give a number of processors like 2 or 1.5")


def _network(value: object) -> str:
    if isinstance(value, str) and _NETWORK.fullmatch(value):
        return value
    raise ValueError(f'is {shown(value)}: give what the engine calls a network, like "none" or "agents"')


def _mounts(value: object) -> tuple[str, ...]:
    return tuple(map(_mount, _texts(value, 'give a list like ["/srv/data", "~/.claude:rw"]')))


def _mount(text: str) -> str:
    path, writable = (text.removesuffix(WRITABLE), WRITABLE) if text.endswith(WRITABLE) else (text, "")
    if path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111 (no pathlib here)
    if not path.startswith("/") or _NO_PATH.search(path):
        raise ValueError(
            f"holds {shown(text)}: give absolute paths, or ones that begin with ~/, "
            f"without a comma or a quotation mark; {WRITABLE} behind one lets it be written"
        )
    return path + writable


def words_of(value: object, example: str) -> tuple[str, ...]:
    """Return a list of words of a command line. Raises ValueError for what is none; `example` shows one."""
    words = _texts(value, f"give a list of words like {example}")
    if wrong := [word for word in words if not word or "\0" in word]:
        raise ValueError(f"holds {shown(wrong[0])}, which is no word of a command line")
    return tuple(words)


def _texts(value: object, allowed: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"is {shown(value)}: {allowed}")
    return value


def shown(value: object) -> str:
    """Return a value as a message shows it."""
    return ascii(value)[:60]


CHECKS: Final[dict[str, Callable[[object], object]]] = {
    "memory": _memory,
    "cpus": _cpus,
    "network": _network,
    "mounts": _mounts,
    "options": partial(words_of, example='["--dns", "10.0.0.1"]'),
}
"""What makes a setting's value of what the file says, by its key; it raises ValueError with the reason."""
