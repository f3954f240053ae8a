"""A stock as lines to read."""

from pantry.writers import writer

heading = lambda number: "Stock, %d kinds" % number


@writer("text")
def write_text(stock):
    """A heading, and the items' labels."""
    labels = [item.label() for item in stock]
    total = sum(1 for item in stock)
    return "\n".join([heading(len(labels))] + [label for label in labels])
