"""What is believed of a box, and when it is called again."""

from __future__ import annotations

import time
from dataclasses import dataclass

from orchestrator.daemon.boxes.host_health import REFUSED, HostHealth
from orchestrator.ports.box_link import NotLetIn, State, Unreachable, Way


@dataclass
class Link:
    """A way to a box that counts how often it was told to try again."""

    tries: int = 0
    way: Way = Way.REFUSED

    def state(self) -> State:
        return State(self.way)

    def patience(self) -> float:
        return 0.0

    def again(self) -> None:
        self.tries += 1


def refused(contact: HostHealth) -> float:
    return contact.failed(NotLetIn("permission denied", State(Way.REFUSED)))


def test_refusing_box_is_tried_once_an_hour() -> None:
    link, now = Link(), 1000.0
    contact = HostHealth("alpha", link, lambda: None, lambda: now, lambda: 0.5)  # type: ignore[arg-type]
    assert refused(contact) == REFUSED
    for _ in range(10):  # hurried: there is news of its tasks
        now += 60
        contact.call_when_due()
        assert refused(contact) == REFUSED - (now - 1000.0)
    assert link.tries == 0
    now = 1000.0 + REFUSED
    contact.call_when_due()
    assert link.tries == 1
    assert refused(contact) == REFUSED
    contact.call_when_due()
    assert link.tries == 1


def test_it_is_called_at_once_when_somebody_says_so() -> None:
    link = Link()
    contact = HostHealth("alpha", link, lambda: None, lambda: 0.0, lambda: 0.5)  # type: ignore[arg-type]
    assert not contact.call_again(), "it is not lost, as far as anybody knows"
    refused(contact)
    assert contact.call_again()
    assert link.tries == 1


def test_crowded_box_is_tried_anew_at_once_when_asked() -> None:
    link = Link(way=Way.REACHABLE)
    contact = HostHealth("alpha", link, lambda: None, lambda: 0.0, lambda: 0.5)  # type: ignore[arg-type]
    contact.reached()
    contact.failed(Unreachable("it grants this connection no more sessions"))
    contact.reached()
    assert contact.is_crowded, "though it is reached: it may have no channel"
    assert contact.call_again()
    assert (contact.is_crowded, link.tries) == (False, 1)
    assert not contact.call_again()


def test_since_when_a_box_refuses_is_known_and_stays() -> None:
    link, now = Link(), 0.0
    contact = HostHealth("alpha", link, lambda: None, lambda: now, lambda: 0.5)  # type: ignore[arg-type]
    before = time.time()
    refused(contact)
    first = contact.belief
    now = REFUSED + 1.0
    refused(contact)
    assert first is not None
    assert first.since >= before
    assert contact.belief == first
