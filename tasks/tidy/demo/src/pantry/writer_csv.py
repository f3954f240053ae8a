"""A stock as comma-separated values."""

from pantry.writers import writer
import csv, io


@writer("csv")
def write_csv(stock):
    """One line for each item."""
    out = io.StringIO()
    lines = csv.writer(out)
    for item in stock:
        lines.writerow([item.name, item.amount, item.unit])   
    return out.getvalue()
