"""What a run used of its model: tokens, money, and how full its context is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NAMED: Final = 8
"""How many models without a price are named."""

MODELS: Final = 32
"""Of how many models a run's tokens are told apart."""

_CENTS: Final = 9
"""Digits to which estimates are kept: what is taken away again leaves nothing."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one model. Of `input`, `cached` came from a cache and `written` went into one, `kept` for an hour."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    kept: int = 0

    def __add__(self, more: Tokens) -> Tokens:
        """Return both together."""
        return Tokens(
            self.input + more.input,
            self.output + more.output,
            self.cached + more.cached,
            self.written + more.written,
            self.kept + more.kept,
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that went in and out; `cached` are those of `input` that came from a cache. `cost` is US dollars.

    `context` are the tokens of the last request, `window` how many it may have. None: the program does not tell.
    Sums are those of several runs; their context and window are the last ones that are known.

    `models` are the tokens that `cost` does not cover, by model: whoever has the prices makes of them `estimate`, in US
    dollars, by prices of which the oldest are of the day `prices`; `unpriced` are the models that have none.

    `partial`: more was used than is counted here, as not all that a program recorded can be read.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    context: int | None = None
    window: int | None = None
    models: tuple[tuple[str, Tokens], ...] = ()
    estimate: float | None = None
    prices: str = ""
    unpriced: tuple[str, ...] = ()
    partial: bool = False

    def __add__(self, later: Usage) -> Usage:
        """Return what both used together."""
        return Usage(
            self.input + later.input,
            self.output + later.output,
            self.cached + later.cached,
            _either(self.cost, later.cost),
            self.context if later.context is None else later.context,
            self.window if later.window is None else later.window,
            added(self.models, later.models),
            _rounded(_either(self.estimate, later.estimate)),
            min(filter(None, (self.prices, later.prices)), default=""),
            tuple(dict.fromkeys((*self.unpriced, *later.unpriced)))[:NAMED],
            self.partial or later.partial,
        )

    def since(self, before: Usage) -> Usage:
        """Return what was used after `before`, an earlier sum of the same.

        An estimate may be below zero: where the program told the cost since, that has taken the place of what was
        estimated before. `models` are those since a cost was told.
        """
        cost = None if self.cost is None else max(self.cost - (before.cost or 0.0), 0.0)
        guessed = self.estimate is not None or before.estimate is not None
        return Usage(
            max(self.input - before.input, 0),
            max(self.output - before.output, 0),
            max(self.cached - before.cached, 0),
            cost,
            self.context,
            self.window,
            self.models,
            _rounded((self.estimate or 0.0) - (before.estimate or 0.0)) if guessed else None,
            self.prices,
            self.unpriced,
            self.partial,
        )

    def at_least(self, latest: Usage) -> Usage:
        """Return the sums that a program tells now, none of them below what it had told before.

        A cost that it tells takes the place of what was estimated.
        """
        costs = [cost for cost in (self.cost, latest.cost) if cost is not None]
        is_cost_reported = latest.cost is not None and latest.cost > (self.cost or 0.0)
        guesses = [latest.estimate] if is_cost_reported else [self.estimate, latest.estimate]
        return Usage(
            max(self.input, latest.input),
            max(self.output, latest.output),
            max(self.cached, latest.cached),
            max(costs, default=None),
            self.context if latest.context is None else latest.context,
            self.window if latest.window is None else latest.window,
            latest.models,
            max((guess for guess in guesses if guess is not None), default=None),
            latest.prices or self.prices,
            latest.unpriced or self.unpriced,
            self.partial or latest.partial,
        )

    @property
    def dollars(self) -> float | None:
        """What it cost, as far as it was told, and by estimate where it was not; None if neither is known."""
        return _either(self.cost, self.estimate)

    @property
    def reported(self) -> bool:
        """True when a program told anything of what it used."""
        return self != Usage()

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Spent:
    """What the runs of one agent came to: how many, for how many seconds they lived, what they used."""

    runs: int = 0
    time: float = 0.0
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Read:
    """How far a transcript was read: `offset` bytes, and what they told.

    `seen` are the messages that were counted, each once, in their order; those long past are forgotten. `model` is the
    one that was named last, where lines of their own name it.
    """

    usage: Usage = Usage()
    offset: int = 0
    seen: tuple[str, ...] = ()
    model: str = ""


def added(
    models: tuple[tuple[str, Tokens], ...], more: tuple[tuple[str, Tokens], ...]
) -> tuple[tuple[str, Tokens], ...]:
    """Return the tokens of both, by model; those of very many are of one without a name."""
    sums = dict(models)
    for model, tokens in more:
        name = model if model in sums or len(sums) < MODELS else ""
        sums[name] = sums.get(name, Tokens()) + tokens
    return tuple(sums.items())


def _rounded(dollars: float | None) -> float | None:
    return None if dollars is None else round(dollars, _CENTS)


def _either(first: float | None, second: float | None) -> float | None:
    """Return the sum of the two that are known."""
    return second if first is None else first if second is None else first + second
