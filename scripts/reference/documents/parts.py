"""What several documents have."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, WithJsonSchema, with_config
from typing_extensions import TypedDict

from orchestrator.cli.findings import Severity

Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""RFC 3339, in UTC."""

described: Final = with_config(ConfigDict(use_attribute_docstrings=True))


@described
class Daemon(TypedDict):
    """How the daemon stands, on which the rest depends."""

    up: bool
    """Whether it runs."""
    as_of: Moment | None
    """Until when it watched."""
    room: bool
    """Whether the disk that holds its state has room."""


@described
class Limit(TypedDict):
    """A usage limit that work waits for."""

    since: Moment
    """When it was first met."""
    refused_at: Moment
    """When the service last refused."""
    refusals: int
    """How often in a row it has refused."""
    words: str
    """What the service says."""
    resets_at: Moment | None
    """When the limit ends, as far as that was shown."""
    next_try: Moment
    """When the work is tried again."""


@described
class Use(TypedDict):
    """Tokens and money, as far as programs report them; null where none did."""

    tokens: int | None
    """All tokens, in and out."""
    input: int | None
    """Tokens in."""
    output: int | None
    """Tokens out."""
    cached: int | None
    """Tokens of `input` that came from a cache."""
    cost: float | None
    """US dollars, as programs reported them."""
    estimate: float | None
    """US dollars of what no program reported the cost of."""
    prices: str | None
    """The day of the prices that the estimate was made by."""
    unpriced: list[str]
    """Models that have no price."""
    partial: bool
    """Whether more was used than is counted: a transcript on a box is too large to be copied."""
    context: int | None
    """Tokens of the last request."""
    window: int | None
    """Tokens that a request may have."""


@described
class Finding(TypedDict):
    """One thing that was found."""

    topic: str
    """What it is about."""
    severity: Severity
    """How grave it is; only `missing` keeps a task from running."""
    text: str
    """What was found."""
    fix: str
    """What to type to mend it, or empty."""
