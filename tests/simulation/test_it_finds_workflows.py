"""The carrying out of workflows is broken on purpose, in the family, the files and the adapters: the simulation finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.simulation import workflow_breakages as breakages
from tests.simulation.engine.law import Law
from tests.simulation.engine.run import Failed
from tests.simulation.workflow_worlds import simulate_workflow


@dataclass(frozen=True)
class Breakage:
    """A way to break workflows, the laws of which one finds it, and a world in which it shows."""

    break_it: Callable[[pytest.MonkeyPatch], None]
    laws: frozenset[Law]
    world: int


BREAKAGES: list[Breakage] = []
