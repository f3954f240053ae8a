"""Nights with real agent CLIs, where they are installed: two in CI, the others by `scripts/test nights`.

What a night took is no matter of a test: its dead time is left to `scripts/nights`, on a quiet machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clis.pinned import why_missing
from tests.nights.catalogue import nights
from tests.nights.judging.verdict import judge
from tests.nights.observation import kept
from tests.nights.running import OBSERVATION, run_named
from tests.remote.boxes import MISSING

NIGHTS = [
    pytest.param(
        name,
        marks=[] if night.in_ci else [pytest.mark.thorough(reason="minutes of a whole night: CI has two")],
    )
    for name, night in nights().items()
]


@pytest.mark.parametrize("name", NIGHTS)
def test_a_night_goes_as_it_says_it_must(name: str, tmp_path: Path) -> None:
    night = nights()[name]
    for why in filter(None, map(why_missing, night.pins)):
        pytest.skip(why)
    if night.box and MISSING:
        pytest.skip(f"boxes need {', '.join(MISSING)}")
    run_named(name, tmp_path)
    verdict = judge(night, kept(tmp_path / name / OBSERVATION))
    assert not verdict.faults
    assert [each for each in verdict.failures if not each.startswith("dead time ")] == []
