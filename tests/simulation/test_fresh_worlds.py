"""Worlds that nobody has seen yet: other ones in each run, whose seed stands in its first lines.

`SIMULATION_SEED` draws those of an earlier run once more. One that fails says how it is replayed, and how it is kept.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from orchestrator.testing.fake_clock import FakeClock
from tests.simulation import simulate
from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.busy_days import LENGTH, Day, Days
from tests.simulation.engine.fault_schedule import CLIMATES
from tests.simulation.engine.run import Failed, live
from tests.simulation.engine.world import World

PARTS = 4
EACH = 1
"""Four worlds are some seven busy days, and a quarter of a minute of one core."""


@pytest.mark.parametrize("part", range(PARTS))
def test_fresh_worlds(part, lived):
    seed = fresh_worlds.drawn_seed()
    for number in range(part * EACH, (part + 1) * EACH):
        lived(f"{seed}.{number}", fresh_worlds.LASTS)


# What counts as a busy day ---------------------------------------------------------------------------


def test_quiet_days_are_not_busy():
    """A world without tasks: its daemon starts, beats and checks in for a week, and that is not counted."""
    outcome = live("quiet", 7.0, frozenset(), CLIMATES[0], lambda fate: World(fate, ()))
    assert outcome.counts["check-ins"] > 100
    assert outcome.counts["busy days"] == 0


def test_waiting_for_a_user_makes_no_busy_day():
    """A long world in which tasks wait for their user: most of its days are quiet, and not counted as busy."""
    outcome = live("ci.8", 150.0)
    assert 0 < outcome.counts["busy days"] < outcome.days / 10
    assert outcome.counts["busy days: handoffs taken in"] <= outcome.counts["handoffs taken in"]


@pytest.mark.parametrize(
    ("day", "busy"),
    [
        (Day(runs=1, deliveries=1, decisions=10), True),
        (Day(runs=0, deliveries=1, decisions=10), False),
        (Day(runs=1, deliveries=0, decisions=10), False),
        (Day(runs=1, deliveries=1, decisions=9), False),
        (Day(deaths=40), False),
    ],
)
def test_day_is_busy_by_runs_deliveries_and_decisions(day, busy):
    assert day.busy is busy


def test_days_begin_with_the_world_and_add_nothing_up_across_midnight():
    clock = FakeClock(1000.0)
    days = Days(clock)
    for _ in range(2):
        days.today.runs, days.today.deliveries, days.today.decisions = 1, 1, 5
        clock.advance(LENGTH)
    assert days.counts()["busy days"] == 0
    days.today.runs, days.today.deliveries, days.today.decisions = 2, 1, 10
    assert days.counts()["busy days: runs"] == 2


# So many busy days -----------------------------------------------------------------------------------


def _fails_at_two(seed):
    """Live a world with three busy days in no time; number 2 fails."""
    failed = "a law is broken" if seed.endswith(".2") else ""
    return fresh_worlds.Lived(seed, Counter({} if failed else {"busy days": 3, "runs": 7}), failed, 0.4)


def test_failed_world_is_noted_and_others_go_on(monkeypatch):
    monkeypatch.setattr(fresh_worlds, "tried", _fails_at_two)
    done = fresh_worlds.until(30, fresh_worlds.Progress("s"), 1, lambda _: None)
    assert done.failed == {"s.2": "a law is broken"}
    assert (done.busy_days, done.worlds) == (3 * (done.worlds - 1), 16)


def test_interrupted_run_goes_on_where_it_was(monkeypatch, tmp_path):
    monkeypatch.setattr(fresh_worlds, "tried", _fails_at_two)
    path = tmp_path / "far.json"
    lived = []

    def interrupted(now):
        fresh_worlds.remember(path, now)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fresh_worlds.until(30, fresh_worlds.Progress("s"), 1, interrupted)
    again = fresh_worlds.resumed(path, "other")
    assert (again.seed, again.worlds, again.failed) == ("s", fresh_worlds.BATCH, {"s.2": "a law is broken"})

    def noted(seed):
        lived.append(seed)
        return _fails_at_two(seed)

    monkeypatch.setattr(fresh_worlds, "tried", noted)
    fresh_worlds.until(30, again, 1, lambda _: None)
    assert lived[0] == f"s.{fresh_worlds.BATCH}"
    path.write_text(json.dumps({"seed": 1}))
    with pytest.raises(ValueError, match="does not say"):
        fresh_worlds.resumed(path, "s")


def test_two_processes_live_each_world_once(monkeypatch):
    monkeypatch.setattr(fresh_worlds, "tried", _fails_at_two)
    done = fresh_worlds.until(40, fresh_worlds.Progress("s"), 2, lambda _: None)
    assert (done.worlds, done.busy_days, list(done.failed)) == (16, 45, ["s.2"])


def test_broken_law_is_told_with_replay_and_keeping(monkeypatch, capsys):
    monkeypatch.setattr(fresh_worlds, "tried", _fails_at_two)
    monkeypatch.setattr("sys.argv", ["simulate", "--busy", "9", "--seed", "s"])
    assert simulate.main() == 1
    said = capsys.readouterr().out
    assert fresh_worlds.replay("s.2") in said
    assert "echo 's.2 2.5' >> tests/simulation/kept_worlds.txt" in said


def test_file_of_a_run_that_is_done_is_removed(monkeypatch, tmp_path):
    """The next night draws other worlds."""
    path = tmp_path / "far.json"
    monkeypatch.setattr(
        fresh_worlds, "tried", lambda seed: fresh_worlds.Lived(seed, Counter({"busy days": 3}), "", 0.4)
    )
    fresh_worlds.remember(path, fresh_worlds.Progress("before", 8, Counter({"busy days": 24})))
    monkeypatch.setattr("sys.argv", ["simulate", "--busy", "30", "--resume", str(path)])
    assert simulate.main() == 0
    assert not path.exists()


def test_other_seed_than_the_file_says_is_refused(monkeypatch, tmp_path):
    path = tmp_path / "far.json"
    fresh_worlds.remember(path, fresh_worlds.Progress("before"))
    monkeypatch.setattr("sys.argv", ["simulate", "--busy", "30", "--seed", "s", "--resume", str(path)])
    assert simulate.main() == 2
    assert path.exists()


def test_failure_of_a_world_is_what_is_noted(monkeypatch):
    def fails(seed, days):
        raise Failed(seed, days, "a law", {})

    monkeypatch.setattr(fresh_worlds, "live", fails)
    lived = fresh_worlds.tried("s.1")
    assert "a law" in lived.failed
    assert not lived.counts


def test_seed_of_the_environment_draws_the_same_worlds(monkeypatch):
    monkeypatch.setenv(fresh_worlds.SEED, "again")
    assert fresh_worlds.drawn_seed() == "again"
    monkeypatch.delenv(fresh_worlds.SEED)
    assert fresh_worlds.drawn_seed() != fresh_worlds.drawn_seed()
