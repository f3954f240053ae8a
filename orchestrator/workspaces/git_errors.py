"""Why git failed: just now, or for good. What lasts is refused: a person hears of it at once, and by its cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from orchestrator.model.errors import Refused
from orchestrator.workspaces.git_process import GitFailed
from orchestrator.workspaces.locks import LONGEST_HELD, explained

_S = TypeVar("_S")
_P = ParamSpec("_P")
_R = TypeVar("_R")

_DAMAGED: Final = re.compile(
    r"loose object \S+ .*is corrupt|object file .* is empty|unable to (unpack|read) (sha1 file|tree|[0-9a-f]{40})"
    r"|invalid object [0-7]+ |bad object |missing (blob|tree|commit) |packfile .* (is|are) (corrupt|too small)"
    r"|packfile .* does not match index|inflate: data stream error|bad tree object|bad (signature|index file)"
)
_PUT_BACK: Final = (
    "objects of the repository are damaged or missing: `git fsck --full` there tells which; put them back, for example "
    "by `git fetch` from a copy"
)
_LASTING: Final = (
    (
        _DAMAGED,
        _PUT_BACK,
    ),
    (
        re.compile(r"bad (numeric )?config (line|value|file)|unable to parse config"),
        "git's configuration does not read: mend the line that it names",
    ),
    (
        re.compile(r"detected dubious ownership"),
        "it belongs to another user: run `git config --global --add safe.directory` for it",
    ),
    (
        re.compile(r"Permission denied|insufficient permission"),
        "its user may not write there: mend the permissions",
    ),
)
"""What git says of things that another try does not change, and what to do about them."""


def classify_failures(
    call: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
    """Let a call refuse what lasts, a lock that nobody holds too. What may pass stays Unavailable."""

    @wraps(call)
    def refusing(self: _S, /, *args: _P.args, **more: _P.kwargs) -> _R:
        try:
            return call(self, *args, **more)
        except GitFailed as error:
            if remedy := remedy_for(error.said):
                raise Refused(f"{error}: {remedy}") from error
            if (locked := explained(error, LONGEST_HELD)) is not error:
                raise locked from error
            raise

    return refusing


def remedy_for(said: str) -> str:
    """Return what to do about a complaint of git's that another try does not change; nothing about any other."""
    return next((remedy for pattern, remedy in _LASTING if pattern.search(said)), "")
