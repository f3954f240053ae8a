"""Which CLIs a test drives at each landing, and which only with `scripts/test clis` and `nightly`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def in_ci(names: Iterable[str], *chosen: str) -> list[Any]:
    """Return names as parameters of a test; those that are not chosen take minutes more, and are left to the night."""
    return [
        pytest.param(
            name,
            marks=[]
            if name in chosen
            else [pytest.mark.thorough(reason="another CLI, or another version, of the same")],
        )
        for name in names
    ]
