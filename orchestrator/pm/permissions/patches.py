"""Patches: which files they change. `apply_patch` is how Codex edits, also from within a shell."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import Field
from orchestrator.pm.permissions.files import read_word, written
from orchestrator.pm.permissions.finding import Finding, strictest
from orchestrator.pm.permissions.options import split_options

PATCHED: Final = re.compile(r"^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)


def applying(call: Call) -> Finding | None:
    """Return the finding on `apply_patch`; None if its input is not known."""
    text = call.rest[0].text if len(call.rest) == 1 else call.given if not call.rest else None
    paths = PATCHED.findall(text or "")
    return written(call, [Field(path) for path in paths]) if paths else None


def patching(call: Call) -> Finding | None:
    """Return the finding on `patch`, which refuses by itself to leave the folder that it works in."""
    operands = split_options(
        call.rest,
        "NRstlfEbc",
        "pFi",
        ("--strip=", "--reverse", "--forward", "--dry-run", "--batch", "--silent", "--quiet", "--input="),
    )
    if operands is None:
        return None
    folder = written(call, [Field("patched")])
    return strictest(
        [
            call.allow("patches the run's files"),
            folder,
            written(call, operands[:1]),
            *(read_word(call, each) for each in operands[1:]),
        ]
    )
