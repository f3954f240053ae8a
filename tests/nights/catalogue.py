"""The nights that there are: one for each file in `nights/`, under its name."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.nights.night import Night

FOLDER: Final = Path(__file__).with_name("nights")


def nights() -> dict[str, Night]:
    """Return every night by its name, with its file's docstring."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        module = importlib.import_module(f"tests.nights.nights.{path.stem}")
        name = path.stem.replace("_", "-")
        found[name] = replace(module.NIGHT, name=name, about=str(module.__doc__).strip())
    return found
