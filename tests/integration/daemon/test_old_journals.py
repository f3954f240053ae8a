"""Journals of every released version, kept as fixtures: they must open for ever, and mean what they meant."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from orchestrator.daemon.journal import codec
from orchestrator.daemon.journal.store import Journal, unsealed
from orchestrator.hosts.disk import DiskFiles
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from tests.integration.daemon.recording import JOURNALS, SUMMARY, summary

VERSIONS = sorted(folder.name for folder in JOURNALS.iterdir())


@pytest.fixture(params=VERSIONS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a version's journal."""
    return Path(shutil.copytree(JOURNALS / request.param, tmp_path / "journal"))


def test_it_opens_and_means_what_it_meant(folder: Path) -> None:
    journal = Journal(DiskFiles(), folder)
    journal.close()
    assert journal.damage is None
    assert {"lines": journal.lines, **summary(journal.state)} == json.loads((folder / SUMMARY).read_text())


def test_each_segment_leads_to_the_snapshot_of_the_next(folder: Path, tmp_path: Path) -> None:
    segments = sorted(folder.glob("*.jsonl"))
    assert len(segments) > 1
    for earlier, later in pairwise(segments):
        alone = tmp_path / f"only {earlier.name}"
        alone.mkdir()
        shutil.copy(earlier, alone)
        journal = Journal(DiskFiles(), alone)
        journal.close()
        snapshot = unsealed(later.read_bytes().split(b"\n")[0])
        then = codec.decoded_state(snapshot["snapshot"])
        assert (journal.lines, without_new_counts(journal.state)) == (snapshot["n"], without_new_counts(then))


def without_new_counts(state: PMState) -> PMState:
    """Return a state without what older versions did not note.

    That is how long runs lasted and since when their turns are so, and how long the task was at work; when steps began,
    and what earlier attempts had committed.
    """
    runs = [replace(run, lasted=0.0, turn_since=0.0) for run in state.runs.values()]
    steps = Steps(replace(step, last_commit="", began_at=0.0) for step in state.steps.values())
    return replace(state, runs=Runs(runs), steps=steps, worked=PMState().worked)
