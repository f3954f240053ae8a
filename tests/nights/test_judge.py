"""The judge is judged: a sound night passes every rule, and each thing that can be wrong is found by its own rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.nights.__main__ import word
from tests.nights.judging.measures import lost_commits, lost_edits, started_twice, wasted
from tests.nights.judging.orders import goes_on, only_one_run, second_order_bears
from tests.nights.judging.table import as_markdown, as_text, troubles, unchecked
from tests.nights.judging.verdict import judge
from tests.nights.judging.work import dead_time
from tests.nights.looking import (
    STATUS_JSON,
)
from tests.nights.night import Morning, Planned
from tests.nights.observation import (
    DEAD_DAEMON,
    Key,
    Life,
    Observation,
    TreeSeen,
    Window,
    keep,
    kept,
)
from tests.nights.sound_night import (
    BEGAN,
    NIGHT,
    a_sound_night,
    an_end,
    happens,
    hung,
    shows,
    verdict_of,
    without_the_work,
)


def test_a_night_that_could_not_be_watched_is_called_so() -> None:
    """It was "NOT as it must: 0 things"."""
    verdict = verdict_of()
    assert word(verdict) == "as it must"
    assert word(replace(verdict, faults=["watching failed"])) == "not measured"
    assert word(replace(verdict, failures=["shop is running"])) == "NOT as it must: 1 things"


def test_an_end_that_the_night_does_not_allow_is_no_finish() -> None:
    assert not verdict_of(shows(STATUS_JSON, an_end(state="failed"))).finished
    assert not verdict_of(without_the_work).finished
    strict = replace(NIGHT, expects=Morning(absent=("greet",)))
    assert not judge(strict, a_sound_night()).finished


def test_dead_time_is_what_nobody_forced() -> None:
    seen = a_sound_night()
    (task,) = seen.tasks
    assert dead_time(seen, task) == []
    seen.windows = [replace(seen.windows[0], until=BEGAN + 50)]
    (span,) = dead_time(seen, task)
    assert 50 <= span.begin - BEGAN < span.end - BEGAN <= 62
    assert span.counts == pytest.approx(12 - 4, abs=1), "by the wall's clock"
    assert "nobody" in span.why


def test_dead_time_elsewhere_is_scaled() -> None:
    seen = a_sound_night()
    seen.windows.clear()
    (span,) = dead_time(seen, seen.tasks[0])
    assert span.counts == pytest.approx(60 * (62 - 21 - 4), abs=120)


def test_hung_stream_is_dead_time_and_cli_waits_are_unscaled() -> None:
    """A hung stream is dead time and what a cli waits itself is not scaled."""
    seen = a_sound_night()
    hung(seen)
    seen.lives[1].last = BEGAN + 61
    seen.windows.clear()
    (span,) = dead_time(seen, seen.tasks[0])
    assert "hung" in span.why
    assert span.counts > 45 * 60
    again = a_sound_night()
    again.windows.clear()
    again.lives[1].last = BEGAN + 61
    again.requests.insert(3, replace(again.requests[2], number=9, at=BEGAN + 60))
    assert sum(each.counts for each in dead_time(again, again.tasks[0])) == pytest.approx(40, abs=3)


def test_idle_task_is_dead_time_unless_refused() -> None:
    """A task that stands still is dead until morning but while it is refused."""
    seen = a_sound_night()
    seen.tasks = [replace(seen.tasks[0], ended=None)]
    assert any("until morning" in each.why for each in dead_time(seen, seen.tasks[0]))
    seen.windows.append(Window("claude", "limit", BEGAN + 97, BEGAN + 9e5, BEGAN + 9e5))
    seen.requests.append(replace(seen.requests[2], number=8, at=BEGAN + 99, run="r-3"))
    assert not any("until morning" in each.why for each in dead_time(seen, seen.tasks[0]))


def test_whom_the_night_needs_may_be_waited_for() -> None:
    key = Key(BEGAN + 20, BEGAN + 62, "shop", "q1", "the login", "go on", planned=True)
    needs = replace(NIGHT, planned=(Planned("login", "go on"),))

    def asked(seen: Observation) -> None:
        seen.windows.clear()
        seen.keys.append(key)

    verdict = verdict_of(asked, needs)
    assert verdict.dead_time == 0
    assert not verdict_of(None, needs).passed, "nobody was asked"
    needless = verdict_of(lambda seen: seen.keys.append(replace(key, planned=False)))
    assert any("a person was asked" in each for each in needless.failures)


def test_requests_within_a_known_limit_are_wasted() -> None:
    seen = a_sound_night()
    assert wasted(seen) == []
    seen.windows = [replace(seen.windows[0], stated_end=BEGAN + 120, until=BEGAN + 125)]
    again = replace(seen.requests[2], number=9, at=BEGAN + 40)
    seen.requests.append(again)
    assert wasted(seen) == [again]
    seen.windows = [replace(seen.windows[0], stated_end=BEGAN + 95)]
    assert wasted(seen) == [], "clocks differ by as much"
    seen.windows = [replace(seen.windows[0], stated_end=0.0)]
    assert wasted(seen) == [], "it was not told"


def test_a_call_that_is_repeated_without_end_is_wasted() -> None:
    seen = a_sound_night()
    seen.requests += [replace(seen.requests[1], number=100 + n, at=BEGAN + 13 + n / 100) for n in range(30)]
    assert len(wasted(seen)) == 11


def test_a_commit_that_nothing_leads_to_is_lost() -> None:
    seen = a_sound_night()
    assert lost_commits(seen) == []
    seen.trees.append(TreeSeen(BEGAN + 50, "/w/greet", "d" * 40, {}))
    assert lost_commits(seen) == ["d" * 40]


def test_an_edit_that_is_put_back_and_on_no_ref_is_lost() -> None:
    seen = a_sound_night()
    assert lost_edits(seen) == []
    seen.kept_blobs.clear()
    assert lost_edits(seen) == ["/w/greet/shop/greet.py"]
    seen.trees[1] = replace(seen.trees[1], dirty={"shop/greet.py": "blob-2"})
    assert lost_edits(seen) == [], "an agent wrote it anew"


def test_two_programs_of_a_run_and_two_runs_in_a_tree_are_found() -> None:
    seen = a_sound_night()
    assert started_twice(seen) == []
    seen.lives.append(Life("r-1", 99, BEGAN + 5, BEGAN + 9, "claude", first=True))
    seen.lives.append(Life("r-3", 98, BEGAN + 14, BEGAN + 15, "claude", first=True))
    assert len(started_twice(seen)) == 3


def test_dead_daemon_and_broken_bench_are_reported() -> None:
    """A daemon that dies by itself and a fault of the bench are said."""
    assert not verdict_of(happens(DEAD_DAEMON, 10, 11)).passed
    broken = verdict_of(lambda seen: seen.faults.append("a look failed"))
    assert not broken.passed
    assert "not measured: a look failed" in "\n".join(troubles([(NIGHT, broken)]))


def test_what_must_be_shown_in_the_morning_is_looked_for() -> None:
    wants = replace(NIGHT, expects=Morning(shown=("2 of 2 met", "set aside")))
    verdict = judge(wants, a_sound_night())
    assert verdict.failures == ["nothing says 'set aside' in the morning"]


def test_single_nights_judge_orders() -> None:
    seen = a_sound_night()
    assert goes_on("dev", "greet")(seen) == ["r-3 of dev for greet began with an empty conversation"]
    seen.orders[2] = replace(seen.orders[2], earlier=1, tree="/w/other", text="FAILED: it does not")
    assert goes_on("dev", "greet")(seen) == ["r-3 of dev for greet works in /w/other, not in /w/greet"]
    assert second_order_bears("dev", "greet", "it does not")(seen) == []
    assert second_order_bears("dev", "greet", "it does")(a_sound_night())
    assert only_one_run("dev", "greet")(seen)
    del seen.orders[2]
    assert only_one_run("dev", "greet")(seen) == []
    seen.orders[1] = replace(seen.orders[1], agent="dev-2")  # beside another developer
    assert only_one_run("dev", "greet")(seen) == []
    assert goes_on("dev", "greet")(seen)


def test_the_tables_tell_each_night() -> None:
    judged = [(NIGHT, verdict_of())]
    assert "sound" in as_text(judged)
    assert as_markdown(judged).count("\n") == 2
    assert unchecked(judged) == ["at-work", "attempts", "task-md"]


def test_an_observation_is_kept_and_read_again(tmp_path: Path) -> None:
    seen = a_sound_night()
    keep(seen, tmp_path / "seen.json")
    assert kept(tmp_path / "seen.json") == seen
