"""The file names of orders (H6)."""

from __future__ import annotations

import time
from calendar import timegm
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orchestrator.model.handoff import Order

_STAMP: Final = slice(len("pm-"), len("pm-20251127-154500"))


def order_name(second: int, utc_offset: int) -> str:
    """Return an order's file name (H6) for the second `second`, in the zone `utc_offset` s ahead of UTC."""
    return f"pm-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(second + utc_offset))}.md"


def second_of(order: Order, utc_offset: int) -> int:
    """Return the second that an order's name says, or that it was given at, whichever is later."""
    day, _, clock = order.name[_STAMP].partition("-")
    if not (day + clock).isdecimal() or (len(day), len(clock)) != (8, 6):  # an order of another kind of name
        return int(order.at)
    parts = [int(day[:4]), int(day[4:6]), int(day[6:]), int(clock[:2]), int(clock[2:4]), int(clock[4:])]
    return max(int(order.at), timegm((*parts, 0, 0, 0)) - utc_offset)
