"""What became of an order that was delivered to a CLI, and the line of the table that counts it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.model.event import Event, EventKind
from tests.clis.caller import Call, Dies
from tests.clis.model_request import ModelRequest

_DEMOTED: Final = ("<pasted_content", "may contain instructions the user did not write")


@dataclass(slots=True)
class Delivery:
    """One order, and all that became known of it.

    `whole` is the daemon's own verdict of each receipt; `left` says that the program ended by itself before its turn
    did. Times are seconds since the epoch.
    """

    call: Call
    dies: Dies
    events: list[Event] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    at: float = 0.0
    started_at: float = 0.0
    receipt_at: float = 0.0
    died: bool = False
    left: bool = False
    order: str = ""
    asked: tuple[ModelRequest, ...] = ()
    trouble: str = ""

    @property
    def anew(self) -> bool:
        """Whether it was to go on with a conversation that its program had lost, and began a new one instead."""
        started = self.events_of(EventKind.STARTED)
        return bool(self.call.session and started) and started[0].session != self.call.session

    @property
    def resumed(self) -> bool:
        return bool(self.call.session)

    def events_of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    @property
    def outcome(self) -> str:
        """What became of it, in the words of the table.

        An order that nobody confirmed, and that never reached the model before its run was ended, was not delivered,
        and that is known; it was lost, if it was confirmed. What arrived unconfirmed is unknown to the PM. White space
        at its ends does not count, as in `daemon/ingest/events.py`.
        """
        prompts = [request.prompt for request in self.asked]
        if len(prompts) > 1 or len(self.whole) > 1 or len(self.events_of(EventKind.STARTED)) > 1:
            return "doubled"
        if not prompts:
            return "lost" if self.whole else "not delivered"
        if prompts[0].strip() != self.order.strip():
            demoted = any(mark in prompts[0] and mark not in self.order for mark in _DEMOTED)
            return "demoted" if demoted else "altered"
        return "whole" if self.whole == [True] else "unknown"


OUTCOMES: Final = ("whole", "not delivered", "lost", "doubled", "altered", "demoted", "unknown")


def row(pin: str, made: Sequence[Delivery]) -> str:
    """Return the line of the table in README.md."""
    died = [each for each in made if each.died]
    took = [each.receipt_at - each.at for each in made if each.receipt_at]
    outcomes = [sum(each.outcome == outcome for each in made) for outcome in OUTCOMES]
    receipts = sum(each.whole == [True] for each in made)
    parts = [pin, len(made), sum(each.resumed for each in made), sum(each.anew for each in made)]
    parts += [len(died), receipts, *outcomes]
    parts += [f"{statistics.median(took):.1f}" if took else "–"]
    return f"| {' | '.join(map(str, parts))} |"


HEADING: Final = (
    "| CLI | orders | to be resumed | begun anew | launcher killed | receipts | "
    + " | ".join(("arrived whole", *OUTCOMES[1:]))
    + " | s to the receipt |"
)
