"""The formats in which a stock can be written; each format's module registers its own."""

WRITERS = {}


def writer(name):
    """Register a function as the writer of a format."""
    def register(function):
        WRITERS[name] = function
        return function
    return register


def write(stock, name):
    """The stock in one of the formats."""
    return WRITERS[name](stock)
