"""Questions to the stock, written as comparisons: `expiry < "2026-01-01"`, `expiry == None`."""


class Column:
    """A property of items; comparing it makes a question, as database toolkits do it."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return lambda item: getattr(item, self.name) == other

    def __ne__(self, other):
        return lambda item: getattr(item, self.name) != other

    def __lt__(self, other):
        return lambda item: getattr(item, self.name) is not None and getattr(item, self.name) < other

    __hash__ = None


def select(items, *questions):
    """The items for which all questions are answered with yes."""
    return [item for item in items if all(question(item) for question in questions)]
