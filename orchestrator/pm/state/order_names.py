"""The file names of orders (H6)."""

from __future__ import annotations

import time


def order_name(second: int, utc_offset: int) -> str:
    """Return an order's file name (H6) for the second `second`, in the zone `utc_offset` s ahead of UTC."""
    return f"pm-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(second + utc_offset))}.md"
