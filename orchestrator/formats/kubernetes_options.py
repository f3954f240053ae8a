"""The values of `[kubernetes]` in the settings file. They become words of a command line, and never of a shell."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from orchestrator.formats.container_options import shown, words_of

_CONTEXT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,252}|")


def _context(value: object) -> str:
    if isinstance(value, str) and _CONTEXT.fullmatch(value):
        return value
    raise ValueError(f"is {shown(value)}: give a context as `kubectl config get-contexts` names it")


CHECKS: Final[dict[str, Callable[[object], object]]] = {
    "context": _context,
    "options": partial(words_of, example='["--kubeconfig", "/etc/agents.kubeconfig"]'),
}
"""What makes a setting's value of what the file says, by its key; it raises ValueError with the reason."""
