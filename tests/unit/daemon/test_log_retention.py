from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from orchestrator.daemon.retention.log_retention import Kept, LogRetention, spent_logs
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.plan import Step, StepState
from orchestrator.model.run import Life, Purpose, Run
from orchestrator.model.sections import LogSettings
from orchestrator.model.task import Phase
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.files import Entry

NOW = 2_000_000_000.0
BOUNDS = LogSettings(pack_after=60.0, keep=1000.0, task_size=10_000)
FILES = {
    "launch.sh": b"#!/bin/sh\n",
    "agent.sh": b"run=r\n",
    "order.md": b"Do it.\n",
    "claimed": b"",
    "pid": b"pid 7\n",
}


def state(**runs: tuple[StepState, Life]) -> PMState:
    """Return a state with these runs, each of a step of its own."""
    steps = {
        f"s-{name}": Step(f"s-{name}", "dev", "", "", Phase.DEVELOPING, state=step)
        for name, (step, _) in runs.items()
    }
    known = {
        name: Run(name, f"s-{name}", 1, "dev", "dev", Purpose.WORK, 1.0, life=life)
        for name, (_, life) in runs.items()
    }
    return PMState(id="t1-0123abcd", steps=Steps(steps.values()), runs=Runs(known.values()))


@pytest.fixture
def attic(tmp_path: Path) -> LogRetention:
    return LogRetention(DiskFiles(), tmp_path)


def lay_down(attic: LogRetention, run: str, log: bytes, *, ended: float | None = NOW - 100) -> Path:
    """Lay a run's folder down; `ended` is when its launcher wrote how it ended."""
    folder = attic.home / "runs" / run
    folder.mkdir(parents=True)
    for name, data in {**FILES, "pane.log": log}.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, (NOW - 500, NOW - 500))
    if ended is not None:
        (folder / "exit").write_bytes(b"code 0\noom_kills 0\n")
        os.utime(folder / "exit", (ended, ended))
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


GONE = StepState.PASSED, Life.GONE


def test_what_a_run_showed_is_packed_and_its_scripts_go(attic: LogRetention) -> None:
    folder = lay_down(attic, "r1", b"one\ntwo\n" * 100)
    attic.tidy(state(r1=GONE), BOUNDS, NOW)
    assert names(folder) == {"order.md", "claimed", "pid", "exit", "pane.log.gz"}
    assert gzip.decompress((folder / "pane.log.gz").read_bytes()) == b"one\ntwo\n" * 100
    assert (folder / "pane.log.gz").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("step", "life", "ended"),
    [
        (StepState.WORKING, Life.ALIVE, None),
        (StepState.PASSED, Life.ALIVE, NOW - 100),
        (StepState.WORKING, Life.GONE, NOW - 100),
        (StepState.BLOCKED, Life.GONE, NOW - 100),
        (StepState.FAILED, Life.GONE, NOW - 100),
        (StepState.PASSED, Life.GONE, NOW - 59),
    ],
    ids=["at work", "believed alive", "its step is open", "blocked", "failed", "just now"],
)
def test_nothing_is_touched_that_may_still_be_wanted(attic: LogRetention, step, life, ended) -> None:
    folder = lay_down(attic, "r1", b"one\n", ended=ended)
    before = names(folder)
    attic.tidy(state(r1=(step, life)), BOUNDS, NOW)
    assert names(folder) == before


def test_unknown_run_is_packed_only_after_its_end(attic: LogRetention) -> None:
    ended, unknown = lay_down(attic, "r1", b"one\n"), lay_down(attic, "r2", b"two\n", ended=None)
    attic.tidy(state(), BOUNDS, NOW)
    assert "pane.log.gz" in names(ended)
    assert "pane.log" in names(unknown)


def test_a_lost_run_is_packed_too(attic: LogRetention) -> None:
    folder = lay_down(attic, "r1", b"one\n", ended=None)
    attic.tidy(state(r1=GONE), BOUNDS, NOW)
    assert "pane.log.gz" in names(folder)


def test_cut_off_on_the_way_it_is_packed_again(attic: LogRetention) -> None:
    folder = lay_down(attic, "r1", b"one\n")
    (folder / "pane.log.gz").write_bytes(b"half")
    attic.tidy(state(r1=GONE), BOUNDS, NOW)
    assert gzip.decompress((folder / "pane.log.gz").read_bytes()) == b"one\n"
    assert "pane.log" not in names(folder)


def test_oldest_logs_of_settled_steps_are_removed_first(attic: LogRetention) -> None:
    old, young, open_ = (
        lay_down(attic, run, os.urandom(6_000), ended=NOW - age)
        for run, age in (("r1", 300), ("r2", 200), ("r3", 900))
    )
    attic.tidy(state(r1=GONE, r2=GONE, r3=(StepState.WORKING, Life.GONE)), BOUNDS, NOW)
    assert "pane.log.gz" not in names(old)
    assert "pane.log.gz" in names(young)
    assert "pane.log" in names(open_)
    assert {"order.md", "claimed", "exit"} <= names(old)


def test_what_was_packed_before_a_restart_counts_and_grows_old(attic: LogRetention) -> None:
    folder = lay_down(attic, "r1", b"one\n")
    attic.tidy(state(r1=GONE), BOUNDS, NOW)
    again = LogRetention(attic.files, attic.home)
    again.tidy(state(r1=GONE), BOUNDS, NOW + 800)
    assert "pane.log.gz" in names(folder)
    again.tidy(state(r1=GONE), BOUNDS, NOW + 901)
    assert "pane.log.gz" not in names(folder)


def test_a_second_time_costs_no_look_into_the_folders(attic: LogRetention, monkeypatch) -> None:
    lay_down(attic, "r1", b"one\n")
    attic.tidy(state(r1=GONE), BOUNDS, NOW)
    looked: list[Path] = []
    entries = attic.files.entries

    def noted(_: DiskFiles, folder: Path) -> list[Entry]:
        looked.append(folder)
        return entries(folder)

    monkeypatch.setattr(DiskFiles, "entries", noted)
    attic.tidy(state(r1=GONE), BOUNDS, NOW)
    assert looked
    assert attic.home / "runs" / "r1" not in looked


def test_unread_replies_are_removed_and_requests_stay(attic: LogRetention) -> None:
    folder = attic.home / "requests"
    folder.mkdir()
    for name, age in (("1.reply.json", 61), ("2.reply.json", 59), ("3.json", 5000)):
        (folder / name).write_bytes(b"{}")
        os.utime(folder / name, (NOW - age, NOW - age))
    attic.tidy(state(), BOUNDS, NOW)
    assert names(folder) == {"2.reply.json", "3.json"}


@pytest.mark.parametrize(
    ("kept", "spent"),
    [
        ({}, []),
        ({"a": Kept(NOW - 999, 1)}, []),
        ({"a": Kept(NOW - 1001, 1)}, ["a"]),
        ({"a": Kept(NOW - 2, 6000), "b": Kept(NOW - 1, 4000)}, []),
        ({"a": Kept(NOW - 2, 6000), "b": Kept(NOW - 1, 4001)}, ["a"]),
        ({"a": Kept(NOW - 3, 1), "b": Kept(NOW - 2, 10_001), "c": Kept(NOW - 1, 1)}, ["b", "a"]),
    ],
)
def test_which_go(kept, spent) -> None:
    assert spent_logs(kept, BOUNDS, NOW) == spent
