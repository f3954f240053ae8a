"""A small stock list for a kitchen."""

from pantry.stock import Stock
from pantry.items import Item

__all__ = ["Item", "Stock"]
