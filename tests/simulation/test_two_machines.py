"""Worlds in which a task's work is done here and on a box by turns: each kind of meeting happens, and all ends."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.daemon.actions import branch_there
from tests.simulation.rough_worlds import rough_by_two_machines


@pytest.mark.thorough(reason="whole worlds: tests/unit/daemon/test_branch_there.py has each move by itself")
def test_work_here_and_on_boxes_comes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    moves, move_of = Counter[str](), branch_there.move_of

    def counted(*about, **more):
        move = move_of(*about, **more)
        moves[move.name] += 1
        return move

    monkeypatch.setattr(branch_there, "move_of", counted)
    rough_by_two_machines(4)
    assert set(moves) == {move.name for move in branch_there.Move}
