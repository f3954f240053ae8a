"""Whether the previous daemon ended as requested: what the next one tells the user."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.process.recovery import DEATH, ended_well, incident, unforeseen_return
from orchestrator.formats.timestamps import moment_said

BEGAN = 1_764_254_000.5
BEAT = {"pid": os.getpid(), "started_at": BEGAN, "beat_at": BEGAN + 60}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The folder of a daemon whose last beat is there."""
    tmp_path.chmod(0o700)
    write(tmp_path, json.dumps(BEAT))
    return tmp_path


def write(state: Path, beat: str) -> None:
    path = Path(layout.daemon_beat(state))
    path.write_text(beat)
    path.chmod(0o600)


def test_a_daemon_that_was_killed_is_reported(state: Path) -> None:
    """By an id that an alarm about its death has too, so that one of them is sent."""
    told = unforeseen_return(state, BEGAN + 90)
    assert told is not None
    assert (told.title, told.id) == ("the daemon is up again", incident(DEATH, BEAT))
    assert f"its last beat was at {moment_said(BEGAN + 60)}" in told.text


def test_a_daemon_that_ended_as_asked_is_not_reported(state: Path) -> None:
    ended_well(state, BEGAN)
    assert unforeseen_return(state, BEGAN + 90) is None


def test_the_end_of_an_earlier_daemon_says_nothing(state: Path) -> None:
    ended_well(state, BEGAN - 3600)
    assert unforeseen_return(state, BEGAN + 90) is not None


@pytest.mark.parametrize("beat", ["", "{", "[]", "7"])
def test_without_a_beat_that_reads_nothing_is_said(state: Path, beat: str) -> None:
    write(state, beat)
    assert unforeseen_return(state, BEGAN + 90) is None


@pytest.mark.parametrize("at", [None, "soon", -1, 1e30, True])
def test_an_odd_moment_of_the_last_beat_is_no_fault(state: Path, at: object) -> None:
    write(state, json.dumps({**BEAT, "beat_at": at}))
    assert unforeseen_return(state, BEGAN + 90) is not None
