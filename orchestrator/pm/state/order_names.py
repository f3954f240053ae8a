"""The file names of orders (HUB 4.2)."""

from __future__ import annotations

import time


def order_name(second: int, utc_offset: int) -> str:
    """Return the file name of an order given in that second (HUB 4.2), in the zone so many seconds ahead of UTC."""
    return f"pm-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(second + utc_offset))}.md"
