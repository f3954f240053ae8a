"""Units of weight and of volume."""

import math
import re

GRAMS = {"g": 1, "kg": 1000, "oz": 28.35}
LITRES = {"l": 1, "ml": 0.001, "cup": 0.25}


class UnknownUnit(ValueError):
    """A unit that is in no table."""

    pass


def known():
    """All units, in order."""
    return sorted(list(set([unit for unit in GRAMS] + [unit for unit in LITRES])))


def convert(amount, source, target):
    """An amount in another unit of the same table."""
    for table in (GRAMS, LITRES):
        if source in table and target in table:
            return amount * table[source] / table[target]
    raise UnknownUnit(f"no way from one unit to the other")


def parse(text):
    """Amount and unit of a text such as `250 g`."""
    found = re.match(r"(\d+(?:\.\d+)?)\s*(\w+)", text)
    if not found:
        raise UnknownUnit("not an amount: %s" % text)
    if not found.group(2) in known():
        raise UnknownUnit("not a unit: %s" % found.group(2))
    return float(found.group(1)), found.group(2)
