"""What fails on a box: since when, how often, when it is tried again, and when a person is to mend it."""

from __future__ import annotations

import math

import pytest

from orchestrator.daemon.boxes.transfer_failures import PRESSING_AFTER, PRESSING_TRIES, TransferFailures
from orchestrator.hosts.ssh.backoff import MOST
from orchestrator.ports.boxes import TransferKind

KEY = ("t-1", "/repo", TransferKind.STEERING)
LARGE = ("t-1", "/repo", TransferKind.LARGE)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def troubles(clock: Clock) -> TransferFailures:
    return TransferFailures(clock, clock, lambda: 0.0)


def test_transfer_failure_has_its_start_and_is_reported_once(
    troubles: TransferFailures, clock: Clock
) -> None:
    assert troubles.note(KEY, "no rsync")
    clock.at += 10
    assert not troubles.note(KEY, "no rsync")
    assert troubles.note(KEY, "its disk is full")
    (trouble,) = troubles.of("t-1")
    assert (trouble.since, trouble.tries, trouble.why) == (1000.0, 3, "its disk is full")


def test_failure_of_both_pulls_is_reported_once(troubles: TransferFailures) -> None:
    assert troubles.note(KEY, "emptied")
    assert not troubles.note(LARGE, "emptied")
    assert not troubles.end(KEY)
    assert troubles.end(LARGE)
    assert not troubles.end(LARGE)
    assert not troubles


def test_pauses_grow_to_a_bound_and_begin_anew_when_asked(troubles: TransferFailures, clock: Clock) -> None:
    pauses = []
    for _ in range(10):
        troubles.note(KEY, "no rsync")
        pauses.append(troubles.next_try(TransferKind.STEERING) - clock.at)
    assert pauses[0] == 1.0
    assert pauses == sorted(pauses)
    assert max(pauses) == MOST
    assert troubles.begin_again()
    assert troubles.next_try(TransferKind.STEERING) == clock.at
    troubles.note(KEY, "no rsync")
    assert troubles.next_try(TransferKind.STEERING) == clock.at + 1.0
    assert troubles.next_try(TransferKind.LARGE) == math.inf


def test_person_is_wanted_only_after_time_and_tries(troubles: TransferFailures, clock: Clock) -> None:
    for _ in range(PRESSING_TRIES + 2):
        troubles.note(KEY, "no rsync")
    assert not troubles.of("t-1")[0].is_pressing, "news may come in a burst"
    clock.at += PRESSING_AFTER
    troubles.note(KEY, "no rsync")
    assert troubles.of("t-1")[0].is_pressing
    troubles.begin_again()
    assert troubles.of("t-1")[0].is_pressing, "that it is tried at once mends nothing"


def test_tasks_that_are_here_no_more_are_forgotten(troubles: TransferFailures) -> None:
    troubles.note(KEY, "no rsync")
    troubles.note(("t-2", "/repo", TransferKind.STEERING), "no rsync")
    troubles.keep_only({("t-2", "/repo")})
    assert not troubles.of("t-1")
    assert troubles.of("t-2")
