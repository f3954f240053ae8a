"""A shrunk failure is small, breaks the same law, and can be replayed."""

from __future__ import annotations

import shlex

import pytest

from orchestrator.testing import memory_files
from tests.simulation import simulate
from tests.simulation.engine.fault_schedule import BUSY
from tests.simulation.engine.run import Failed, simulate_world
from tests.simulation.engine.shrink import kind_of, shrunk

SEED = "torn1"
DAYS = 2.5


def append_without_fsync(self, line):
    """Only a power cut shows that the daemon acted on a line that was not on the disk."""
    self._step("append", self._path)
    self._node.data += line
    self._tree.written(self._node)
    self._taken(self._path, line)


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(memory_files.MemoryLog, "append", append_without_fsync)


@pytest.fixture(scope="module")
def failure():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_files.MemoryLog, "append", append_without_fsync)
        with pytest.raises(Failed) as caught:
            simulate_world(SEED, DAYS)
        return caught.value, shrunk(caught.value, DAYS)


@pytest.mark.thorough(reason="it shrinks a failure, world by world")
def test_shrunk_failure_is_small_alike_and_replayable(failure, hasty, monkeypatch, capsys):
    failed, history = failure
    assert history.of == len(failed.happened) > 20
    assert len(history.happened) <= 8
    assert any(name.startswith("power") for name in history.happened)
    assert history.days < DAYS

    with pytest.raises(Failed) as again:
        simulate_world(SEED, history.days, frozenset(history.happened))
    assert again.value.law == history.law
    assert kind_of(history.law) == kind_of(failed.law)

    monkeypatch.setattr("sys.argv", shlex.split(history.command))
    assert simulate.main() == 1
    assert history.law in capsys.readouterr().err


@pytest.mark.thorough(reason="it shrinks a failure, world by world")
def test_a_sound_daemon_lives_through_it(failure):
    _, history = failure
    outcome = simulate_world(SEED, history.days, frozenset(history.happened))
    assert outcome.counts["deaths of the daemon"] > 0


@pytest.mark.thorough(reason="each replay of a failure shows it too")
def test_the_same_seed_is_the_same_world():
    assert simulate_world(SEED, 1.0, schedule=BUSY) == simulate_world(SEED, 1.0, schedule=BUSY)
