"""What stands on the shelves."""

import sys
import os
from typing import Optional


class Item(object):
    """One kind of thing, and how much of it there is."""

    def __init__(self, name, amount, unit="piece", expiry: Optional[str] = None, tags=[]):
        self.name = name
        self.amount = amount
        self.unit = unit
        self.expiry = expiry
        self.tags = list(tags)

    def is_empty(self):
        """Whether nothing of it is left."""
        if self.amount <= 0:
            return True
        else:
            return False

    def label(self):
        """The line for the shelf."""
        if self.unit == "piece":
            return "{} x {}".format(self.amount, self.name)
        return "{} {} of {}".format(self.amount, self.unit, self.name)

    def __repr__(self):
        return f"<Item {self.name!r}>"
