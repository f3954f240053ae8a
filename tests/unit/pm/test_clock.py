"""Time in which nobody worked brings no deadline nearer: a suspend, a clock set forward or back."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.limits import Limits
from orchestrator.model.run import Ending, Exit, Sight
from orchestrator.model.usage_limit import Reset
from orchestrator.pm.handlers.deadlines import wake_at
from tests.unit.pm.story import Story


def moves(story: Story, *, slept: float = 0, put: float = 0) -> None:
    """The clock moves, and the daemon finds out."""
    story.at += slept + put
    story.feed(f.ClockMoved(story.at, story.nonce(), slept, put))
    story.checks_in()


@pytest.mark.parametrize(("slept", "put"), [(28_800, 0), (0, 28_800), (0, -3600), (28_800, -28_000)])
def test_an_agent_has_as_long_as_before(slept: float, put: float) -> None:
    story = Story(limits=Limits(inactivity_timeout=1800))
    story.starts()
    run = story.comes_alive("explore")
    story.at += 600
    left = (wake_at(story.state, story.limits) or 0) - story.at
    moves(story, slept=slept, put=put)
    assert story.state.runs[run.id].ending is Ending.NOT
    assert (wake_at(story.state, story.limits) or 0) - story.at == pytest.approx(left)


@pytest.mark.parametrize("seen", ["check-in", "look"])
def test_a_sign_from_before_a_sleep_counts_when_seen_after_it(seen: str) -> None:
    story = Story(limits=Limits(inactivity_timeout=1800))
    story.starts()
    run = story.comes_alive("explore")
    worked_at = story.at + 1500
    story.sees = Sight(changed_at=worked_at)
    story.at += 1600
    moves(story, slept=28_800)
    if seen == "check-in":
        story.checks_in(explore=worked_at)
    story.passes(1000)
    now = story.state.runs[run.id]
    assert now.ending is Ending.NOT
    assert now.progress_at == pytest.approx(worked_at + 28_800)
    story.passes(1500)
    assert story.state.runs[run.id].ending is Ending.SILENT


def test_run_that_has_reported_keeps_its_exit_timeout() -> None:
    story = Story(limits=Limits(exit_timeout=20))
    story.starts()
    run = story.comes_alive("explore")
    story.reports("explore")
    moves(story, slept=3600)
    assert story.state.runs[run.id].ending is Ending.NOT
    story.passes(20)
    assert story.state.runs[run.id].ending is Ending.DONE


@pytest.mark.parametrize("put", [86_400, -86_400])
def test_a_pause_stays_as_long_as_it_was(put: float) -> None:
    story = Story(limits=Limits(retry_pause=60, max_retry_pause=60))
    story.starts()
    story.comes_alive("explore")
    story.ends("explore", Exit(code=1))
    moves(story, put=put)
    assert story.works_on() == set()
    story.passes(59)
    assert story.works_on() == set()
    story.passes(2)
    assert story.works_on() == {"explore"}


@pytest.mark.parametrize(("slept", "put"), [(1200, 0), (0, 90), (0, -90), (1200, -90)])
def test_a_usage_limit_ends_when_it_ends(slept: float, put: float) -> None:
    """The service counts on while the machine sleeps, and does not hear of its clock."""
    story = Story()
    story.starts()
    story.comes_alive("explore")
    shown = story.at + 3600
    limit = Event(EventKind.FAILED, text="resets 4pm", failure=Failure.LIMIT, reset=Reset((shown,), 60.0))
    story.emits("explore", limit)
    story.ends("explore", Exit(signal=15))
    moves(story, slept=slept, put=put)
    assert story.step("explore").not_before == shown - 30


@pytest.mark.parametrize("put", [-32_400.0, 32_400.0, -86_400.0, 31_536_000.0])
def test_a_clock_set_by_hours_has_the_service_asked(put: float) -> None:
    """Nobody knows whether the clock was right before or is now; the service reads nobody's clock."""
    story = Story()
    story.starts()
    story.comes_alive("explore")
    shown = story.at + 5 * 3600
    limit = Event(EventKind.FAILED, text="resets 4pm", failure=Failure.LIMIT, reset=Reset((shown,), 60.0))
    story.emits("explore", limit)
    story.ends("explore", Exit(signal=15))
    assert story.works_on() == set()
    story.at += 600
    moves(story, put=put)
    assert story.works_on() == {"explore"}


def test_a_limit_that_ended_in_sleep_is_tried_on_waking() -> None:
    story = Story()
    story.starts()
    story.comes_alive("explore")
    limit = Event(EventKind.FAILED, failure=Failure.LIMIT, reset=Reset((story.at + 600,), by_clock=False))
    story.emits("explore", limit)
    story.ends("explore", Exit(signal=15))
    moves(story, slept=28_800)
    assert story.works_on() == {"explore"}


def test_usage_limit_pause_survives_a_clock_change() -> None:
    story = Story()
    story.starts()
    story.comes_alive("explore")
    story.emits("explore", Event(EventKind.FAILED, failure=Failure.LIMIT))
    story.ends("explore", Exit(signal=15))
    moves(story, put=-86_400)
    story.passes(story.limits.usage_limit_pause)
    assert story.works_on() == {"explore"}


def test_clock_gap_is_recorded_and_noticed() -> None:
    story = Story()
    story.starts()
    moves(story, slept=28_800, put=-60)
    document = " ".join(story.state.notices)
    assert "slept for 8 h 0 min" in document
    assert "set back by 1 min" in document


def test_a_task_that_has_ended_takes_no_note() -> None:
    story = Story()
    story.starts()
    story.stops()
    decision = story.feed(f.ClockMoved(story.at, story.nonce(), 3600, 0))
    assert decision.empty
