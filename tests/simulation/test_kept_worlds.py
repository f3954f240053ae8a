"""Worlds that once broke a law break none: those of `kept_worlds.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.engine.kept_worlds import FILE, Kept, read
from tests.simulation.engine.run import simulate_world
from tests.simulation.rough_worlds import ON_BOXES, on_boxes

ROOT = Path(__file__).parents[2]
IN_CI = {"sg.3"}
"""Of those that were not shrunk, the one that takes few seconds."""


def is_short(kept):
    """Return whether a world takes few seconds: those with names of events were shrunk."""
    return kept.only is not None or kept.seed in IN_CI


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(
            each,
            marks=[]
            if is_short(each)
            else [pytest.mark.thorough(reason="it was not shrunk, and takes long")],
            id=f"{number}-{each.seed}",
        )
        for number, each in enumerate(read((ROOT / FILE).read_text()))
    ],
)
def test_worlds_that_once_broke_a_law_break_none(kept, checked_world):
    assert checked_world(kept.seed, kept.days, kept.only).days > 0


@pytest.mark.thorough(reason="it was not shrunk, and takes long")
def test_box_that_lost_its_rsync_is_noticed_by_schedule():
    """The model made no round where nothing had happened, and an agent was ended as silent whose box sent nothing."""
    assert simulate_world("g7", 0.2, schedule=ON_BOXES, world_of=on_boxes).days > 0


@pytest.mark.parametrize(
    "kept", [Kept("a.1", 2.5), Kept("b", 0.43264612345678, frozenset({"power.1", "task.alpha"}))]
)
def test_line_to_keep_reads_as_the_world(kept):
    assert list(read(f"# a remark\n\n{kept.line}  # why\n")) == [kept]


def test_line_that_is_no_world_is_refused():
    with pytest.raises(ValueError, match="line 2"):
        list(read("a 1\na 1 b c\n"))
