"""Shows a stock in any format that is known."""

import os
import string

import pantry.writer_csv
import pantry.writer_text
from pantry.writers import WRITERS, write


def formats():
    """The formats that are known."""
    return sorted(WRITERS)


def show(stock, name="text"):
    """The stock, in one of them."""
    return write(stock, name)
