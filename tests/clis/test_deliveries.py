"""A sample of what `scripts/clis deliver` does by the hundred; and that it counts what it is to count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.model.event import Event, EventKind
from tests.clis.caller import Call, Dies
from tests.clis.deliveries import WITH_RECEIPTS, delivered
from tests.clis.model_request import Conversation, Message, ModelRequest
from tests.clis.orders import BYTES, LINES, an_order
from tests.clis.outcomes import OUTCOMES, Delivery, row
from tests.clis.selection import in_ci
from tests.clis.users import agent

SAMPLED = [name for name in WITH_RECEIPTS if name.startswith(("claude", "codex"))]
"""The ones that start in a second or so; of the others `test_whole_task.py` delivers a dozen orders each."""

ORDER = "# Agent: dev\n**Run:** r-1\nDo it;\n"
CALL = Call(
    TaskPaths(Path("/p"), Path("/h"), Path("/t"), Path("/w")),
    "test",
    {},
    {},
    agent("claude"),
    number=1,
    text="Do it;",
)


def asked(prompt: str) -> ModelRequest:
    said = Conversation(messages=(Message("user", (prompt,)),))
    return ModelRequest(1, 0.0, "POST", "/", {}, b"", "any", said)


def a_delivery(*prompts: str, whole: tuple[bool, ...] = (True,), **more: Any) -> Delivery:
    asks = tuple(map(asked, prompts))
    return Delivery(CALL, Dies.NEVER, whole=list(whole), order=ORDER, asked=asks, **more)


@pytest.mark.parametrize(
    ("delivery", "outcome"),
    [
        (a_delivery(ORDER), "whole"),
        (a_delivery(whole=()), "not delivered"),
        (a_delivery(), "lost"),
        (a_delivery(ORDER, ORDER), "doubled"),
        (a_delivery(ORDER, whole=(True, True)), "doubled"),
        (a_delivery(ORDER, events=[Event(EventKind.STARTED)] * 2), "doubled"),
        (a_delivery(ORDER.strip()), "whole"),
        (a_delivery(ORDER.replace("\n", " ")), "altered"),
        (a_delivery(ORDER.replace(";", "\\;")), "altered"),
        (a_delivery(f'<pasted_content id="1">\n{ORDER}\n</pasted_content>'), "demoted"),
        (a_delivery(ORDER, whole=()), "unknown"),
        (a_delivery(ORDER, whole=(False,)), "unknown"),
    ],
)
def test_each_outcome_is_recognized(delivery: Delivery, outcome: str) -> None:
    assert delivery.outcome == outcome
    assert row("claude", [delivery]).split(" | ")[6:-1] == [
        "1" if each == outcome else "0" for each in OUTCOMES
    ]


def test_each_order_is_another_one_and_long_enough() -> None:
    orders = [an_order(seed) for seed in range(50)]
    assert len(set(orders)) == len(orders)
    assert all(len(order.encode()) >= BYTES and order.count("\n") >= LINES for order in orders)
    assert an_order(7) == an_order(7)
    assert all(any(line.startswith(first) for line in orders[0].splitlines()) for first in "!/#@->")


@pytest.mark.parametrize("installed", in_ci(SAMPLED, "claude", "codex"), indirect=True)
def test_orders_arrive_whole_and_once_and_are_confirmed(installed: str) -> None:
    """Also the one whose launching process is killed, and those of resumed sessions.

    What some CLI has not kept (README.md) is begun anew.
    """
    made = delivered(installed, 6, 1)
    assert [(each.outcome, each.trouble) for each in made] == [("whole", "")] * len(made)
    assert sum(each.died for each in made) == 1
    assert sum(each.anew for each in made) < sum(each.resumed for each in made)
