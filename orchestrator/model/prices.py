"""What models cost: prices by model, and of which day they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """`[prices.NAME]`: what models cost, in US dollars for a million tokens."""

    name: str
    """Name of the entry. It takes the place of a shipped entry of the same name."""

    models: tuple[str, ...]
    """Names of models in lower case, as the agent program reports them; shell patterns are understood."""

    input: float
    """Tokens that were read and came from no cache."""

    output: float
    """Tokens that the model wrote."""

    cache_read: float
    """Tokens that came from a cache."""

    cache_write: float
    """Tokens that were written into a cache for minutes."""

    cache_write_hour: float
    """Tokens that were written into a cache for an hour."""

    date: str
    """The day of these prices: YYYY-MM-DD."""
