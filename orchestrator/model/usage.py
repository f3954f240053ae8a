"""What a run used of its model: tokens, money, and how full its context is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that went in and out; `cached` are those of `input` that came from a cache. `cost` is US dollars.

    `context` are the tokens of the last request, `window` how many it may have. None: the program does not tell.
    Sums are those of several runs; their context and window are the last ones that are known.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    context: int | None = None
    window: int | None = None

    def __add__(self, later: Usage) -> Usage:
        """Return what both used together."""
        return Usage(
            self.input + later.input,
            self.output + later.output,
            self.cached + later.cached,
            _either(self.cost, later.cost),
            self.context if later.context is None else later.context,
            self.window if later.window is None else later.window,
        )

    def since(self, before: Usage) -> Usage:
        """Return what was used after `before`, an earlier sum of the same."""
        cost = None if self.cost is None else max(self.cost - (before.cost or 0.0), 0.0)
        return Usage(
            max(self.input - before.input, 0),
            max(self.output - before.output, 0),
            max(self.cached - before.cached, 0),
            cost,
            self.context,
            self.window,
        )

    def at_least(self, told: Usage) -> Usage:
        """Return the sums that a program tells now, none of them below what it had told before."""
        costs = [cost for cost in (self.cost, told.cost) if cost is not None]
        return Usage(
            max(self.input, told.input),
            max(self.output, told.output),
            max(self.cached, told.cached),
            max(costs, default=None),
            self.context if told.context is None else told.context,
            self.window if told.window is None else told.window,
        )

    @property
    def told(self) -> bool:
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

    `seen` are the messages that were counted, each once, in their order; those long past are forgotten.
    """

    usage: Usage = Usage()
    offset: int = 0
    seen: tuple[str, ...] = ()


def _either(first: float | None, second: float | None) -> float | None:
    """Return the sum of the two that are known."""
    return second if first is None else first if second is None else first + second
