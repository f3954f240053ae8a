"""The model's service of a night: it answers by the cast, unless it limits, is overloaded, hangs, or wants a login.

What it did stands in its own log (`windows`, and `ModelServer.served`): the judge holds every sentence against that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final

from tests.clis.answers import Answer, Fault, Hang, Reply, Then, Trouble, say
from tests.clis.model_request import ModelRequest
from tests.nights.agents import Cast
from tests.nights.moments import Moment, Turn, Turns
from tests.nights.observation import Window

NEVER: Final = math.inf
SHORTEST: Final = 15.0
"""Real seconds that a limit which ends by the clock lasts at least: the CLI must have shown it meanwhile."""

_KINDS: Final = {
    Trouble.RATE_LIMITED: "limit",
    Trouble.USAGE_LIMIT: "limit",
    Trouble.OVERLOADED: "overload",
    Trouble.SERVER_ERROR: "overload",
    Trouble.UNAUTHORIZED: "login",
    Trouble.CREDIT_GONE: "login",
}


@dataclass(frozen=True, slots=True)
class Refusing:
    """From a moment on a vendor's requests are refused, for `lasts` seconds of the night, `times` at the most.

    A usage limit is told to end then. With `minute` it ends at a time of the wall's clock, which CLIs show without its
    seconds: so many *real* seconds past the next whole minute that is far enough ahead. The service lifts it `late`
    *real* seconds after that: clocks are not compressed. `states_end` is False where a refusal does not say when to
    come back.
    """

    at: Moment
    trouble: Trouble = Trouble.USAGE_LIMIT
    lasts: float = NEVER
    times: float = NEVER
    minute: float | None = None
    late: float = 0.0
    window: str = "five_hour"
    states_end: bool = True


@dataclass(frozen=True, slots=True)
class Hanging:
    """A request that is not answered: before the headers, or from the middle of the stream on, perhaps with pings."""

    at: Moment
    then: Then | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Filling:
    """Conversations of an agent are too long from so many results of tools on; a fresh one is not."""

    agent: str
    results: int
    times: int = 1


@dataclass(slots=True)
class Weather:
    """What the service does beside answering, over the night."""

    refusing: tuple[Refusing, ...] = ()
    hanging: tuple[Hanging, ...] = ()
    filling: tuple[Filling, ...] = ()


@dataclass(slots=True)
class _Refused:
    """A refusal that is in force: real times, and how many requests it has refused."""

    why: Refusing
    vendor: str
    since: float
    stated_end: float
    until: float
    count: int = 0

    def holds(self, at: float) -> bool:
        return at < self.until and self.count < self.why.times


@dataclass
class Service:
    """Answers requests as a night's weather and cast say. `vendor_of` tells whose service an agent's CLI uses."""

    cast: Cast
    weather: Weather
    factor: float
    vendor_of: Callable[[str], str]
    turns: Turns = field(default_factory=Turns)
    seen: list[tuple[float, ModelRequest, Turn | None]] = field(default_factory=list)
    on_turn: list[Callable[[Turn], None]] = field(default_factory=list)
    clock: Callable[[], float] = time.time
    _begun: dict[Refusing, _Refused] = field(default_factory=dict)
    _hung: dict[Hanging, int] = field(default_factory=dict)
    _full: dict[tuple[Filling, str], bool] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, request: ModelRequest) -> Answer:
        """Answer an agent's request."""
        turn = self.turns.of(request)
        with self._lock:
            self.seen.append((self.clock(), request, turn))
        if turn is None:
            return say("There is no order here.")
        for hears in self.on_turn:
            hears(turn)
        return self._refusal(turn, request.at) or self._too_long(request, turn) or self._said(request, turn)

    def beside(self, request: ModelRequest) -> Answer:
        """Answer what a CLI asks for its own ends; a vendor that refuses refuses that too."""
        vendor = program_of(request)
        with self._lock:
            holding = [
                each for each in self._begun.values() if each.vendor == vendor and each.holds(self.clock())
            ]
        return self._fault(holding[0]) if holding else say("A task")

    def lift(self, *troubles: Trouble) -> None:
        """End what is refused for these reasons: somebody has logged in, or paid."""
        with self._lock:
            for each in self._begun.values():
                if each.why.trouble in troubles and each.holds(self.clock()):
                    each.until = self.clock()

    @property
    def windows(self) -> list[Window]:
        """The times in which it refused."""
        return [
            Window(
                each.vendor,
                _KINDS[each.why.trouble],
                each.since,
                each.stated_end,
                each.until if each.until < NEVER else self.clock(),
            )
            for each in self._begun.values()
        ]

    @property
    def pending(self) -> bool:
        """Whether it refuses somebody at this moment who is to be let in again by time."""
        return any(each.until < NEVER and each.holds(self.clock()) for each in self._begun.values())

    def _refusal(self, turn: Turn, came: float) -> Fault | None:
        now, vendor = self.clock(), self.vendor_of(turn.order.agent)
        with self._lock:
            for why in self.weather.refusing:
                if why not in self._begun and why.at.matches(turn):
                    self._begun[why] = self._began(why, vendor, came)
            for each in self._begun.values():
                if each.vendor == vendor and each.holds(now):
                    each.count += 1
                    if each.count >= each.why.times:
                        each.until = now
                    return self._fault(each)
        return None

    def _began(self, why: Refusing, vendor: str, now: float) -> _Refused:
        ends = now + why.lasts / self.factor
        if why.minute is not None:
            # A whole minute, so far ahead as the limit is to last; what is shown leaves the rest out.
            whole = math.ceil((now + max(SHORTEST, why.lasts / self.factor)) / 60) * 60
            ends = whole + why.minute
        stated_end = ends if why.states_end and ends < NEVER else 0.0
        return _Refused(why, vendor, now, stated_end, ends + why.late)

    def _fault(self, refused: _Refused) -> Fault:
        why = refused.why
        if why.trouble is not Trouble.USAGE_LIMIT:
            after = (
                max(1.0, refused.stated_end - self.clock())
                if why.trouble is Trouble.RATE_LIMITED and why.states_end
                else None
            )
            return Fault(why.trouble, retry_after=after)
        after = max(1.0, refused.stated_end - self.clock())
        return Fault(why.trouble, retry_after=after, resets_at=refused.stated_end, window=why.window)

    def _too_long(self, request: ModelRequest, turn: Turn) -> Fault | None:
        results = sum(len(message.results) for message in request.messages)
        with self._lock:
            for each in self.weather.filling:
                if each.agent != turn.order.role or results < each.results:
                    continue
                # Full is a conversation, by what began it, and remains so.
                begun = str(request.prompts[0])
                known = self._full.setdefault((each, begun), self._fills(each))
                if known:
                    return Fault(Trouble.TOO_LONG)
        return None

    def _fills(self, filling: Filling) -> bool:
        return sum(full for (each, _), full in self._full.items() if each is filling) < filling.times

    def _said(self, request: ModelRequest, turn: Turn) -> Answer:
        with self._lock:
            for each in self.weather.hanging:
                if each.at.matches(turn) and self._hung.get(each, 0) < each.times:
                    self._hung[each] = self._hung.get(each, 0) + 1
                    return self._hangs(each, request, turn)
        return self.cast.answer(request, turn)

    def _hangs(self, hanging: Hanging, request: ModelRequest, turn: Turn) -> Answer:
        if hanging.then is None:
            return Hang()
        answer = self.cast.answer(request, turn)
        return replace(answer, then=hanging.then) if isinstance(answer, Reply) else answer


_PROGRAMS: Final[Mapping[str, str]] = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "litellm": "aider",
}


def program_of(request: ModelRequest) -> str:
    """Return which CLI sent a request, by what it says of itself; empty where that is not known."""
    agent = next((value for key, value in request.headers.items() if key.lower() == "user-agent"), "").lower()
    return next((name for word, name in _PROGRAMS.items() if word in agent), "")
