"""Boxes over SSH."""

from typing import Final

LEAST_RSYNC: Final = (3, 1)
