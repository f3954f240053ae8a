"""When browsers hear that there is news."""

import asyncio
import json
from contextlib import suppress

import pytest

from orchestrator.cli.serving.feed import LISTENERS, PAUSE, SECOND, TICK, Feed


class Clock:
    """A clock that goes on when it is told to."""

    at = 1000.0

    def __call__(self):
        return self.at


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def feed(house, clock):
    return Feed(str(house.state), clock=clock)


def replaced(home, house, **other):
    part = home / "part"
    part.write_text(json.dumps(house.state_json(**other)))
    part.rename(home / "state.json")


def test_the_number_grows_with_each_change_and_not_otherwise(house, feed, clock):
    home = house.task()
    first = feed.look()
    clock.at += PAUSE
    assert feed.look() == first
    replaced(home, house, phase="REVIEWING")
    clock.at += PAUSE
    assert feed.look() == first + 1
    assert feed.records[0].view["phase"] == "REVIEWING"


def test_a_daemon_that_goes_down_is_news(house, feed, clock, daemon):
    house.task()
    first = feed.look()
    assert (feed.daemon, feed.daemon_up) == ("daemon up", True)
    daemon.end()
    while feed.daemon_up:
        clock.at += SECOND
        last = feed.look()
    assert last == first + 1
    assert feed.daemon.startswith("daemon down")


def test_many_listeners_look_no_more_often_than_one(house, feed, clock, monkeypatch):
    house.task()
    looks, whole = [], feed._seen.look

    def counted():
        looks.append(1)
        return whole()

    monkeypatch.setattr(feed._seen, "look", counted)
    for _ in range(10):
        feed.look()
    assert len(looks) == 1
    feed.look(now=True)
    assert len(looks) == 2


def test_a_folder_that_cannot_be_trusted_is_said(house, feed):
    house.task()
    house.state.chmod(0o777)
    feed.look()
    assert "can be written by others" in feed.daemon
    assert not feed.daemon_up


async def _heard(feed, clock, meanwhile, monkeypatch):
    """Return how often a listener hears something while `meanwhile` happens, a pause each."""
    pauses = iter(meanwhile)

    async def sleep(seconds):
        clock.at += seconds
        next(pauses)()

    monkeypatch.setattr("orchestrator.cli.serving.feed.asyncio.sleep", sleep)
    heard = []
    with suppress(StoryOver):
        async for event in feed.news():
            assert (event[:6], event[-2:]) == ("data: ", "\n\n")
            heard.append(clock.at)
    return heard


class StoryOver(Exception):
    """The story is over."""


def _over():
    raise StoryOver


def test_a_listener_hears_at_once_and_of_each_change(house, feed, clock, monkeypatch):
    home = house.task()
    began = clock.at
    story = [lambda: None, lambda: replaced(home, house, phase="REVIEWING"), lambda: None, _over]
    heard = asyncio.run(_heard(feed, clock, story, monkeypatch))
    assert heard == [began, pytest.approx(began + 2 * PAUSE)]


def test_a_listener_hears_something_now_and_then(house, feed, clock, monkeypatch):
    """Ages stand on the page: it is read again even if nothing happens."""
    house.task()
    began = clock.at
    story = [lambda: None] * round(TICK / PAUSE + 1) + [_over]
    heard = asyncio.run(_heard(feed, clock, story, monkeypatch))
    assert [round(each - began) for each in heard] == [0, round(TICK)]


def test_a_stream_ends_with_the_server(house, clock):
    house.task()
    ends = iter([False, True])

    async def whole():
        return [each async for each in Feed(str(house.state), lambda: next(ends), clock).news()]

    assert asyncio.run(whole()) == ["data: 1\n\n"]


def test_whoever_leaves_makes_room(house, feed, clock, monkeypatch):
    house.task()

    async def whole():
        streams = [feed.news() for _ in range(LISTENERS)]
        for each in streams:
            await anext(each)
        assert feed.is_full
        await streams[0].aclose()
        assert not feed.is_full
        for each in streams:
            await each.aclose()

    asyncio.run(whole())
