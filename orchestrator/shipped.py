"""Where the folders lie that ship with the program."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

_PACKAGE = Path(__file__).resolve().parent

_BESIDE: Final = {"schemas": "docs/reference/schemas"}
"""Folders that lie deeper in a checkout."""


def shipped(name: Literal["agents", "deploy", "schemas", "scripts", "tasks"]) -> Path:
    """Return the folder `name`: a wheel carries it inside the package, a checkout has it beside."""
    inside = _PACKAGE / "_shipped"
    folder = inside / name if inside.is_dir() else _PACKAGE.parent / _BESIDE.get(name, name)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is missing: this installation is not whole, install it again")
    return folder
