"""What real agent programs showed and told, as it was captured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CAPTURED = Path(__file__).parents[2] / "fixtures" / "clis"
WORK = "/bench/work"
"""Where they worked, as captures call it wherever that was [tests/clis/album.py]."""


def captured(cli: str, name: str) -> Any:
    """Return a captured event, or a list of them."""
    return json.loads((CAPTURED / cli / f"{name}.json").read_text("utf-8"))


def screens(cli: str) -> dict[str, str]:
    """Return the captured screens of a CLI, by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted((CAPTURED / cli).glob("*.txt"))}
