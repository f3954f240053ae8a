"""A sample of `scripts/chaos --faults`: of what no test of `tests/integration` brings about."""

from __future__ import annotations

import pytest

from tests.chaos.catalogue import FAULTS
from tests.chaos.trial import Skipped, Way

SAMPLE = {
    "fsync-fails": (3,),
    "no-inodes": (1,),
    "read-only": (0,),
    "journal-cut": (4,),
    "journal-garbled": (4,),
    "state-garbled": (1,),
    "two-daemons": (2,),
    "term-twice": (2,),
    "one-task-raises": (0,),
    "watch": (0,),
    "no-processes": (1,),
    "agent-ends": (0, 1),
    "tmux-frozen": (1,),
    "pane": (0, 3),
    "half-a-handoff": (1,),
    "scribe-killed": (4,),
    "duplicates": (1,),
}


NIGHTLY = {
    "fsync-fails-3",  # integration/daemon/test_disk.py
    "no-inodes-1",  # "read-only", and a full disk in test_disk.py
    "journal-cut-4",  # integration/daemon/test_restarts.py: a torn tail
    "journal-garbled-4",  # test_restarts.py: a damaged middle
    "two-daemons-2",  # test_restarts.py: a second daemon refuses
    "term-twice-2",  # test_restarts.py; test_killed.py
    "agent-ends-1",
    "pane-3",
}
"""Left to the night, with what holds it at each landing; where nothing is named, another way of the same fault."""


def sampled() -> list[tuple[str, Way]]:
    known = {fault.name: fault.ways for fault in FAULTS}
    return [(f"{name}-{which}", known[name][which]) for name, chosen in SAMPLE.items() for which in chosen]


SAMPLED = [
    pytest.param(
        way,
        id=name,
        marks=[pytest.mark.thorough(reason="NIGHTLY says what holds it at each landing")]
        if name in NIGHTLY
        else [],
    )
    for name, way in sampled()
]


@pytest.mark.parametrize("way", SAMPLED)
def test_a_fault_costs_nothing(way: Way) -> None:
    try:
        way()
    except Skipped as reason:
        pytest.skip(str(reason))


def test_every_row_is_brought_about_or_says_where_else_it_is() -> None:
    assert [fault.name for fault in FAULTS if bool(fault.ways) == bool(fault.elsewhere)] == []
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
