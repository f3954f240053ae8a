"""What models cost: prices by model, and of which day they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """What the models cost whose name fits one of `models`: patterns in small letters, as a shell has them.

    US dollars for a million tokens: fresh ones in (`input`), ones out, ones that came from a cache (`cache_read`), ones
    that went into one for minutes (`cache_write`) or for an hour (`cache_write_hour`). `date` is the day of which these
    prices are: YYYY-MM-DD.
    """

    name: str
    models: tuple[str, ...]
    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_hour: float
    date: str
