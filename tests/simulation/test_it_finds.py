"""The daemon is broken on purpose, and the simulation finds it. A law that nothing can break proves nothing.

Each breakage must be found by the law that it is to break. A crash, of the daemon or of the simulation, is no find: it
may come from a breakage that no longer fits the code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from orchestrator.daemon import task
from orchestrator.daemon.ingest import task_inputs
from tests.simulation import box_breakages, breakages
from tests.simulation.engine.law import Broken, Law
from tests.simulation.engine.service import LITTLE
from tests.simulation.engine.world import World
from tests.simulation.rough_worlds import (
    a_kill_ahead_of_every_change,
    a_kill_around_the_first_nudge,
    a_small_task,
    limited,
    passive_without_watchers,
    rough,
    rough_and_littered,
    rough_and_passive,
    rough_and_tidied,
    rough_of_programs,
    rough_on_boxes,
    rough_with_limits,
)

ENDS = {"complete", "partial", "failed", "stopped"}


@dataclass(frozen=True)
class Breakage:
    """A way to break the daemon, the law that this breaks, and where that shows: in how many worlds at most."""

    break_it: Callable[[pytest.MonkeyPatch], None]
    law: Law
    shows_in: Callable[[int], object] = rough
    most: int = 10


BREAKAGES = [
    Breakage(breakages.forgets_lines, Law.JOURNAL_FIRST),
    Breakage(breakages.drops_an_fsync, Law.JOURNAL_KEPT),
    Breakage(breakages.goes_on_in_a_torn_line, Law.JOURNAL_FIRST, a_kill_ahead_of_every_change, 500),
    Breakage(breakages.journals_empty_decisions, Law.NO_EMPTY_LINE),
    Breakage(breakages.forgets_its_outbox, Law.ACTION_DONE),
    Breakage(breakages.swaps_two_writes, Law.REQUEST_ANSWERED, a_kill_ahead_of_every_change, 500),
    Breakage(breakages.launches_without_a_claim, Law.ONE_LIFE),
    Breakage(breakages.opens_two_runs, Law.ONE_WRITER),
    Breakage(breakages.declares_gone_too_early, Law.REPORT_READ),
    Breakage(breakages.forgets_what_it_has_seen, Law.ACCEPTED_ONCE),
    Breakage(breakages.lets_everything_pass, Law.GATE),
    Breakage(breakages.reports_a_merge_falsely, Law.MERGED, a_small_task),
    Breakage(breakages.forgets_a_bound, Law.BOUND),
    Breakage(breakages.forgets_the_pauses, Law.PAUSE),
    Breakage(breakages.ends_without_a_look, Law.AT_WORK),
    Breakage(breakages.takes_a_long_answer_for_a_stall, Law.ANSWERED, rough_of_programs),
    Breakage(breakages.cautions_repeatedly, Law.CAUTIONED_ONCE, rough_of_programs),
    Breakage(breakages.types_twice, Law.TYPED_ONCE, a_kill_around_the_first_nudge, 20),
    Breakage(breakages.names_by_the_clock_alone, Law.ONE_ORDER),
    Breakage(breakages.asks_no_question, Law.ASKED),
    Breakage(breakages.asks_twice, Law.ASKED_ONCE),
    Breakage(breakages.shows_an_old_state, Law.STATE_SHOWN),
    Breakage(breakages.shows_old_artifacts, Law.PROGRESS_SHOWN),
    Breakage(breakages.reports_longer_runs, Law.REPORT_TRUE),
    Breakage(breakages.ignores_passive_tasks, Law.REQUEST_ANSWERED, passive_without_watchers),
    Breakage(breakages.waits_a_day_for_a_past_reset, Law.LIMIT, rough_with_limits),
    Breakage(breakages.looks_at_the_launcher_alone, Law.ONE_LIFE),
    Breakage(breakages.works_in_one_folder, Law.COMMIT, rough_and_littered, 30),
    Breakage(breakages.commits_any_folder, Law.COMMIT, rough_and_littered, 30),
]

SLOW = {
    breakages.waits_a_day_for_a_past_reset,
    breakages.works_in_one_folder,
    breakages.cautions_repeatedly,
    breakages.swaps_two_writes,
    breakages.goes_on_in_a_torn_line,
}
"""Breakages that take long to show, or show a law that another one shows: `scripts/test nightly` tries them."""

BOX_BREAKAGES = [
    Breakage(box_breakages.observes_after_the_pull, Law.REPORT_READ, rough_on_boxes, 20),
    Breakage(box_breakages.forgets_that_a_box_is_back, Law.ENDS, rough_on_boxes, 20),
    Breakage(box_breakages.takes_a_lost_launch_for_a_failed_one, Law.ONE_LIFE, rough_on_boxes, 20),
    Breakage(box_breakages.declares_gone_on_a_lost_box, Law.NOT_UNREACHABLE, rough_on_boxes, 20),
    Breakage(box_breakages.asks_for_each_run, Law.ASKED_ONCE, rough_on_boxes, 20),
    Breakage(box_breakages.takes_a_failed_pull_for_none, Law.AT_WORK, rough_on_boxes, 20),
    Breakage(box_breakages.waits_for_what_cannot_end, Law.ENDS, rough_on_boxes, 20),
    Breakage(box_breakages.sees_no_work_on_boxes, Law.AT_WORK, rough_on_boxes, 20),
    Breakage(box_breakages.forgets_boxes_of_deleted_tasks, Law.DELETED, rough_and_tidied, 20),
    Breakage(box_breakages.never_looks_at_deleted_tasks, Law.DELETED, rough_and_tidied, 20),
    Breakage(box_breakages.gives_a_box_up_that_is_away, Law.DELETED, rough_and_tidied, 20),
]


def find(breakage: Breakage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break the daemon, and expect that the simulation finds it by its law and not by a crash."""
    breakage.break_it(monkeypatch)
    with pytest.raises(Broken) as caught:
        breakage.shows_in(breakage.most)
    assert Law.NO_CRASH not in caught.value.laws, caught.value
    assert breakage.law in caught.value.laws, caught.value


@pytest.mark.parametrize(
    "breakage",
    [
        pytest.param(
            each, marks=[pytest.mark.thorough(reason="SLOW says why")] if each.break_it in SLOW else []
        )
        for each in BREAKAGES
    ],
    ids=lambda each: each.break_it.__name__,
)
def test_it_finds_a_daemon_that(breakage, monkeypatch):
    find(breakage, monkeypatch)


@pytest.mark.thorough(reason="it proves the simulation, not the daemon")
@pytest.mark.parametrize("breakage", BOX_BREAKAGES, ids=lambda each: each.break_it.__name__)
def test_it_finds_a_daemon_with_boxes_that(breakage, monkeypatch):
    find(breakage, monkeypatch)


# What is no find -------------------------------------------------------------------------------------


def test_breakage_with_a_wrong_signature_is_a_crash(monkeypatch):
    """Two breakages had rotted: the daemon called them with an argument that they did not know, and that was a find."""
    monkeypatch.setattr(task_inputs.TaskInputs, "see_reports", lambda self: None)
    with pytest.raises(Broken) as caught:
        rough(1)
    assert caught.value.laws == {Law.NO_CRASH}


def test_error_of_a_worker_is_a_crash(monkeypatch):
    """A worker of the daemon only logs what it did not expect."""

    def wrong(*_: object, **__: object) -> None:
        raise TypeError("no such argument")

    monkeypatch.setattr(task.Task, "_act", lambda self, *_: self.context.executor.do("key", wrong))
    with pytest.raises(Broken) as caught:
        a_small_task(1)
    assert Law.NO_CRASH in caught.value.laws


def test_failed_assertion_of_the_simulation_is_a_crash(monkeypatch):
    def wrong(self):
        raise AssertionError("the simulation is wrong")

    monkeypatch.setattr(World, "take_replies", wrong)
    with pytest.raises(Broken) as caught:
        rough(1)
    assert caught.value.laws == {Law.NO_CRASH}


# A sound daemon breaks no law ------------------------------------------------------------------------


@pytest.mark.thorough(reason="test_days.py and test_fresh_worlds.py hold a sound daemon to the laws")
def test_sound_daemon_is_found_sound():
    for outcome in rough(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["deaths of the daemon"] > 0


@pytest.mark.thorough(reason="test_days.py and test_fresh_worlds.py hold a sound daemon to the laws")
def test_sound_daemon_of_programs_is_found_sound():
    for outcome in rough_of_programs(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["fact: activity_seen"] > 0


@pytest.mark.thorough(reason="test_days.py and test_fresh_worlds.py hold a sound daemon to the laws")
def test_sound_daemon_of_passive_tasks_is_found_sound():
    for outcome in rough_and_passive(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["tasks passivated"] > len(outcome.tasks)


@pytest.mark.thorough(reason="test_days.py and test_fresh_worlds.py hold a sound daemon to the laws")
def test_sound_daemon_among_leftovers_is_found_sound():
    for outcome in rough_and_littered(4):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["fact: run_left"] > 0


@pytest.mark.thorough(reason="test_days.py and test_fresh_worlds.py hold a sound daemon to the laws")
def test_sound_daemon_with_boxes_is_found_sound():
    for outcome in rough_on_boxes(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["runs on boxes"] > 0
        assert outcome.counts["fact: box_lost"] > 0


def test_sound_daemon_of_deleted_tasks_is_found_sound():
    outcomes = rough_and_tidied(3)
    assert all(set(outcome.tasks.values()) <= ENDS for outcome in outcomes)
    assert sum(outcome.counts["tasks deleted"] for outcome in outcomes) > 2


@pytest.mark.thorough(reason="unit/pm/test_usage_limits.py counts the same, step by step")
def test_usage_limit_costs_two_minutes_at_most():
    """Counted for each refused step: from the lift of the limit to its next request, by the true time."""
    worlds = []

    def kept(scenario):
        worlds.append(limited(scenario))
        return worlds[-1]

    outcomes = rough_with_limits(8, kept)
    assert all(set(outcome.tasks.values()) <= ENDS for outcome in outcomes)
    delays = [each for world in worlds for each in world.service.delays]
    assert len(delays) > 5
    assert max(delays) <= LITTLE
