"""From a program's records to the state of a run: where its turn stands, and whether it goes round in circles.

A call is new if it was not made before, if it brings back another result, or after `WINDOW` other calls. Other calls
are counted in a row until the next new one, from their `OFTEN`th repetition on; so circles of several calls count as
well. Tests that are repeated after an edit do not count, because the edit is new. Neither does what is read again
after a conversation was compacted: a second time does not count.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

from orchestrator.model.activity import Activity, Called, Prompted, Record, Returned, Spoke, Stage

WINDOW: Final = 60
"""How many calls are kept."""
OFTEN: Final = 3
"""From this many times on, within the window, the same call with the same result is a repetition."""
QUICK: Final = 10.0
"""Seconds: a call that takes longer waits for something, like a build or a service that starts: no repetition."""
OPEN: Final = 64
"""How many calls without a result are kept: a program may never record some results."""


@dataclass(slots=True)
class Trace:
    """What the records of one run show, taken record by record."""

    _stage: Stage = Stage.UNKNOWN
    _records: int = 0
    _recorded_at: float = 0.0
    _novel_at: float = 0.0
    _returned_at: float = 0.0
    _open: dict[str, tuple[float, Called]] = field(default_factory=dict)
    _pairs: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _row: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=WINDOW))

    def take(self, record: Record, at: float) -> None:
        """Take the next record, with its time."""
        self._records += 1
        self._recorded_at = at
        match record:
            case Called():
                self._open[record.id] = at, record
                while len(self._open) > OPEN:
                    self._open.pop(next(iter(self._open)))
            case Returned():
                self._returned(record, at)
            case Prompted():
                self._open.clear()
            case Spoke():
                pass
        then = record.then if isinstance(record, Spoke) else Stage.MODEL
        self._stage = Stage.TOOL if self._open else then

    def activity(self, since: float = 0.0) -> Activity:
        """Return what is known so far; repetitions are counted from the moment `since` on."""
        row = [words for at, words in self._row if at > since]
        tool = next(reversed(self._open.values()))[1].words if self._open else ""
        repeated = Counter(row).most_common(1)[0][0] if row else ""
        return Activity(
            self._stage,
            self._records,
            self._recorded_at,
            tool,
            self._novel_at,
            len(row),
            repeated,
            self._returned_at,
        )

    def _returned(self, record: Returned, at: float) -> None:
        self._returned_at = at
        began, called = self._open.pop(record.id, (at, None))
        if called is None or called.waits:
            return
        pair = called.call, record.result
        times = self._pairs.count(pair) + 1
        self._pairs.append(pair)
        if times == 1:
            self._novel_at = at
            self._row.clear()
        elif times >= OFTEN and at - began < QUICK:
            self._row.append((at, called.words))
