"""Fresh worlds: other ones in each test run, whose seed is printed in the first lines.

`SIMULATION_SEED` draws those of an earlier run again. A failure says how to replay and how to keep its world.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from orchestrator.testing.fake_clock import FakeClock
from tests.simulation import simulate
from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.busy_days import LENGTH, Day, Days
from tests.simulation.engine.fault_schedule import SCHEDULES
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.run import Failed, simulate_world
from tests.simulation.engine.world import World

PARTS = 2
EACH = 1
"""Two worlds are some four busy days, and up to two minutes of one core; each night has thousands of such days."""


@pytest.mark.parametrize("part", range(PARTS))
def test_fresh_worlds(part, checked_world):
    seed = fresh_worlds.drawn_seed()
    for number in range(part * EACH, (part + 1) * EACH):
        checked_world(f"{seed}.{number}", fresh_worlds.LASTS)


# What counts as a busy day ---------------------------------------------------------------------------


def test_quiet_days_are_not_busy():
    """A world without tasks: the daemon checks in for a week, and none of the days counts as busy."""
    outcome = simulate_world("quiet", 7.0, frozenset(), SCHEDULES[0], lambda scenario: World(scenario, ()))
    assert outcome.counts["check-ins"] > 100
    assert outcome.counts["busy days"] == 0


def test_waiting_for_a_user_makes_no_busy_day():
    """In a long world tasks wait for their user: most of its days do not count as busy."""
    outcome = simulate_world("ci.8", 150.0)
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


def test_counts_of_two_days_are_not_added_up():
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
    """Return a result with three busy days; number 2 fails."""
    failed = "a law is broken" if seed.endswith(".2") else ""
    return fresh_worlds.WorldResult(seed, Counter({} if failed else {"busy days": 3, "runs": 7}), failed, 0.4)


def test_failed_world_is_noted_and_others_go_on(monkeypatch):
    monkeypatch.setattr(fresh_worlds, "simulate_one", _fails_at_two)
    done = fresh_worlds.until(30, fresh_worlds.Progress("s"), 1, lambda _: None)
    assert done.failed == {"s.2": "a law is broken"}
    assert (done.busy_days, done.worlds) == (3 * (done.worlds - 1), 16)


def test_interrupted_run_is_resumed(monkeypatch, tmp_path):
    monkeypatch.setattr(fresh_worlds, "simulate_one", _fails_at_two)
    path = tmp_path / "far.json"
    run = []

    def interrupted(now):
        fresh_worlds.save(path, now)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fresh_worlds.until(30, fresh_worlds.Progress("s"), 1, interrupted)
    again = fresh_worlds.resumed(path, "other")
    assert (again.seed, again.worlds, again.failed) == ("s", fresh_worlds.BATCH, {"s.2": "a law is broken"})

    def noted(seed):
        run.append(seed)
        return _fails_at_two(seed)

    monkeypatch.setattr(fresh_worlds, "simulate_one", noted)
    fresh_worlds.until(30, again, 1, lambda _: None)
    assert run[0] == f"s.{fresh_worlds.BATCH}"
    path.write_text(json.dumps({"seed": 1}))
    with pytest.raises(ValueError, match="does not hold"):
        fresh_worlds.resumed(path, "s")


def test_two_processes_run_each_world_once(monkeypatch):
    monkeypatch.setattr(fresh_worlds, "simulate_one", _fails_at_two)
    done = fresh_worlds.until(40, fresh_worlds.Progress("s"), 2, lambda _: None)
    assert (done.worlds, done.busy_days, list(done.failed)) == (16, 45, ["s.2"])


def test_broken_law_is_printed_with_its_commands(monkeypatch, capsys):
    monkeypatch.setattr(fresh_worlds, "simulate_one", _fails_at_two)
    monkeypatch.setattr("sys.argv", ["simulate", "--busy", "9", "--seed", "s"])
    assert simulate.main() == 1
    printed = capsys.readouterr().out
    assert fresh_worlds.replay("s.2") in printed
    assert "echo 's.2 2.5' >> tests/simulation/kept_worlds.txt" in printed


def test_file_of_a_finished_run_is_removed(monkeypatch, tmp_path):
    """The next night draws other worlds."""
    path = tmp_path / "far.json"
    monkeypatch.setattr(
        fresh_worlds,
        "simulate_one",
        lambda seed: fresh_worlds.WorldResult(seed, Counter({"busy days": 3}), "", 0.4),
    )
    fresh_worlds.save(path, fresh_worlds.Progress("before", 8, Counter({"busy days": 24})))
    monkeypatch.setattr("sys.argv", ["simulate", "--busy", "30", "--resume", str(path)])
    assert simulate.main() == 0
    assert not path.exists()


def test_other_seed_than_that_of_the_file_is_refused(monkeypatch, tmp_path):
    path = tmp_path / "far.json"
    fresh_worlds.save(path, fresh_worlds.Progress("before"))
    monkeypatch.setattr("sys.argv", ["simulate", "--busy", "30", "--seed", "s", "--resume", str(path)])
    assert simulate.main() == 2
    assert path.exists()


def test_result_has_the_failure_of_its_world(monkeypatch):
    def fails(seed, days):
        raise Failed(seed, days, [Finding(Law.BOUND, "a law")], {})

    monkeypatch.setattr(fresh_worlds, "simulate_world", fails)
    result = fresh_worlds.simulate_one("s.1")
    assert "a law" in result.failed
    assert not result.counts


def test_seed_of_the_environment_draws_the_same_worlds(monkeypatch):
    monkeypatch.setenv(fresh_worlds.SEED, "again")
    assert fresh_worlds.drawn_seed() == "again"
    monkeypatch.delenv(fresh_worlds.SEED)
    assert fresh_worlds.drawn_seed() != fresh_worlds.drawn_seed()
