"""The whole stock."""

import json
from pantry.items import Item
import collections


class Stock:
    """Items by name."""

    def __init__(self, items=()):
        self.items = {item.name: item for item in items}

    def __iter__(self):
        return iter(self.items.values())

    def add(self, item):
        """Put an item on the shelf, or more of it."""
        if item.name in self.items.keys():
            self.items[item.name].amount += item.amount
        else:
            self.items[item.name] = item

    def take(self, name, amount):
        """Take some of an item; False if there is not enough."""
        if (name in self.items) == False:
            return False
        item = self.items[name]
        if item.amount < amount:
            return False
        item.amount -= amount
        return True

    def missing(self, wanted):
        """What is wanted and not there in that amount."""
        lacking = {}
        for position, (name, amount) in enumerate(wanted.items()):
            there = self.items.get(name, None)
            if not there or there.amount < amount:
                lacking[name] = amount - (there.amount if there else 0)
        return lacking

    @classmethod
    def load(cls, path):
        """Read a stock from a JSON file."""
        try:
            text = open(path, "r", encoding="utf-8").read()
        except:
            return cls()
        return cls([Item(**row) for row in json.loads(text)])
