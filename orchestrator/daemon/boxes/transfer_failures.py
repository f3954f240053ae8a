"""What cannot be fetched from a box, task by task: since when, why, and when it is retried.

After a failed pull nothing follows from the absence of news (law 5). So the deciding thread must know of failures
[ports/boxes.py: Trouble]; a log entry is not enough.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from orchestrator.hosts.ssh.backoff import pause
from orchestrator.ports.boxes import TransferFailure, TransferKind

PRESSING_AFTER: Final = 30.0
"""Seconds after which a person is asked about a failure, if it was retried at least `PRESSING_TRIES` times since."""

PRESSING_TRIES: Final = 3

Key: TypeAlias = tuple[str, str, TransferKind]
"""A task's id, the folder in which its agents work on the box, and what could not be fetched."""


@dataclass
class TransferFailures:
    """The failures on one box. Read by any thread, written by the monitor's.

    `now` returns seconds since the epoch, `steady` seconds that never go back, `luck` a number from 0 to 1.
    """

    now: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    luck: Callable[[], float] = random.random
    _known: dict[Key, TransferFailure] = field(default_factory=dict)
    _pauses: dict[Key, int] = field(default_factory=dict)
    _next_tries: dict[Key, float] = field(default_factory=dict)
    _hanging: set[Key] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __bool__(self) -> bool:
        """Return whether anything fails."""
        return bool(self._known)

    def of(self, task: str) -> tuple[TransferFailure, ...]:
        """Return the failures of a task, the longest first."""
        with self._lock:
            found = [each for key, each in self._known.items() if key[0] == task]
        return tuple(sorted(found, key=lambda each: each.since))

    def note(self, key: Key, why: str, *, hangs: bool = False) -> bool:
        """Record a failed try; return whether to notify the user: it is new, or fails for another reason.

        `hangs`: it took all the time that it may.
        """
        with self._lock:
            before = self._known.get(key)
            others = {
                each.why for known, each in self._known.items() if known[:2] == key[:2] and known != key
            }
            since = self.now() if before is None else before.since
            tries = 1 if before is None else before.tries + 1
            pressing = tries >= PRESSING_TRIES and self.now() - since >= PRESSING_AFTER
            self._known[key] = TransferFailure(key[2], since, why, tries, is_pressing=pressing)
            self._pauses[key] = self._pauses.get(key, 0) + 1
            (self._hanging.add if hangs else self._hanging.discard)(key)
            self._next_tries[key] = self.steady() + pause(self._pauses[key], self.luck())
            return (before is None or before.why != why) and why not in others

    def end(self, key: Key) -> bool:
        """Record a success; return whether it ends a failure."""
        with self._lock:
            failed = self._known.pop(key, None) is not None
            self._pauses.pop(key, None)
            self._next_tries.pop(key, None)
            self._hanging.discard(key)
            return failed and not any(known[:2] == key[:2] for known in self._known)

    def next_try(self, *pulls: TransferKind) -> float:
        """Return when to retry one of these, by `steady`; infinity if none fails."""
        with self._lock:
            return min((at for key, at in self._next_tries.items() if key[2] in pulls), default=math.inf)

    def hangs(self, key: Key) -> bool:
        """Return whether something hung the last time."""
        with self._lock:
            return key in self._hanging

    def is_put_off(self, key: Key) -> bool:
        """Return whether something hung the last time, and is not due again: each try holds up the other tasks."""
        with self._lock:
            return key in self._hanging and self.steady() < self._next_tries.get(key, 0.0)

    def begin_again(self) -> bool:
        """Retry all failures now, and from then on after the shortest pauses; return whether there are any."""
        with self._lock:
            self._pauses.clear()
            self._next_tries = dict.fromkeys(self._next_tries, self.steady())
            return bool(self._known)

    def keep_only(self, keys: Collection[tuple[str, str]]) -> None:
        """Forget other tasks and locations than these."""
        with self._lock:
            self._known = {key: each for key, each in self._known.items() if key[:2] in keys}
            self._pauses = {key: each for key, each in self._pauses.items() if key[:2] in keys}
            self._next_tries = {key: at for key, at in self._next_tries.items() if key[:2] in keys}
            self._hanging = {key for key in self._hanging if key[:2] in keys}
