"""Workflows are broken on purpose, in the family, the files and the ingest: the simulation finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.simulation.engine.law import Law


@dataclass(frozen=True)
class Breakage:
    """A way to break workflows, the laws of which one finds it, and a world in which it shows."""

    break_it: Callable[[pytest.MonkeyPatch], None]
    laws: frozenset[Law]
    world: int


BREAKAGES: list[Breakage] = []
