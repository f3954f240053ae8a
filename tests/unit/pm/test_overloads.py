"""When a step is tried again whose service is overloaded: soon after it recovers, however long that takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Tally
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Exit
from orchestrator.pm.state.overloads import outlasts, overloaded, pause, recovered
from tests.unit.pm.story import ROLES, Story
from tests.unit.pm.test_clock import moves

AT = 1_764_247_620.0
HOUR = 3600.0
TWO_MINUTES = 120.0
SLOWEST = 25.0
"""Seconds that a program takes from its launch to its request."""

LENGTHS = (1, 10, 40, 119, 300, 600, *range(900, 24 * 3600, 857), 24 * 3600 - 200)
OVERLOADED = Event(EventKind.FAILED, "s-1", text="529 Overloaded", failure=Failure.OVERLOAD)


def requests(lasts: float, lag: float, limits: Limits) -> list[float]:
    """Return when a service that is overloaded for so long is asked: by the last of these it has recovered."""
    tally, asked = Tally(), [0.0]
    while asked[-1] < lasts:
        at = asked[-1] + 1
        tally = overloaded(tally, AT + at)
        assert not outlasts(tally, limits, AT + at)
        asked.append(at + pause(tally, limits, AT + at) + lag)
    return asked


@pytest.mark.parametrize("lag", [1.0, SLOWEST])
def test_an_outage_of_any_length_costs_two_minutes(lag: float) -> None:
    for lasts in LENGTHS:
        asked = requests(lasts, lag, Limits())
        assert asked[-1] - lasts <= TWO_MINUTES, lasts
        assert len(asked) <= 5 + 40 * lasts / HOUR, lasts


def test_pauses_begin_short_and_grow() -> None:
    gaps = [later - earlier for earlier, later in pairwise(requests(600, 1.0, Limits()))]
    assert gaps[:4] == [17, 19, 38, 76]
    assert set(gaps[4:]) == {92}


def test_a_person_is_asked_only_beyond_any_known_outage() -> None:
    limits = Limits()
    often = Tally(overloads=limits.max_overloads + 1, overloaded_since=AT)
    assert not outlasts(often, limits, AT + limits.overload_window - 1)
    assert outlasts(often, limits, AT + limits.overload_window)
    few = replace(often, overloads=limits.max_overloads)
    assert not outlasts(few, limits, AT + 2 * limits.overload_window)


def test_a_service_that_recovered_begins_a_new_row() -> None:
    assert recovered(Tally(crashes=1, overloads=7, overloaded_since=AT)) == Tally(crashes=1)


# In the life of a task ----------------------------------------------------------------------------------


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> Story:
    """A task whose developer's program tells of itself, and has begun."""
    monkeypatch.setitem(ROLES, "dev", replace(ROLES["dev"], receipts=True))
    made_story = Story().planned("a")
    made_story.comes_alive("dev:a")
    return made_story


def overloaded_once(story: Story) -> None:
    """The newest run's service refuses it, and its program ends."""
    story.emits("dev:a", OVERLOADED)
    story.ends("dev:a", Exit(signal=15))


def test_an_outage_of_two_hours_asks_nobody(story: Story) -> None:
    ends = story.at + 2 * HOUR
    while story.at < ends:
        overloaded_once(story)
        waits = story.step("dev:a").not_before - story.at
        assert waits <= story.limits.max_overload_pause
        assert not story.state.open_questions
        story.passes(waits)
        story.comes_alive("dev:a")
    assert story.at - ends <= TWO_MINUTES
    assert story.run_of("dev:a").resumes
    story.emits("dev:a", Event(EventKind.TAKEN, session="s-1"), whole=True)
    story.emits("dev:a", Event(EventKind.ENDED, session="s-1", text="I did it."))
    tally = story.step("dev:a").tally
    assert (tally.overloads, tally.overloaded_since) == (0, 0.0)


def test_an_outage_beyond_a_day_is_a_question(story: Story) -> None:
    limits = story.limits
    overloaded_once(story)
    tally = story.step("dev:a").tally
    for count in range(limits.max_overloads):
        assert not story.state.open_questions, count
        story.passes(limits.overload_window / limits.max_overloads)
        story.comes_alive("dev:a")
        overloaded_once(story)
    question = story.question()
    assert question.kind is QuestionKind.ACCOUNT
    assert story.step("dev:a").tally.overloaded_since == tally.overloaded_since


@pytest.mark.parametrize("put", [90_000.0, -90_000.0])
def test_a_clock_that_is_set_makes_no_outage_longer(story: Story, put: float) -> None:
    overloaded_once(story)
    began = story.step("dev:a").tally.overloaded_since
    moves(story, put=put)
    assert story.step("dev:a").tally.overloaded_since == began + put
    assert 0 < story.step("dev:a").not_before - story.at <= story.limits.max_overload_pause
