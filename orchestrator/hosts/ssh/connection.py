"""The one connection of a link: which process holds it, what is believed of it, and when to try again.

Threads that must not wait ask for it, and say that it should be tried again. So what is believed is guarded by a lock
that is held for moments only, and not by the one that is held while a connection is made or closed, which takes
seconds [link.py].
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator import plain_files
from orchestrator.formats.ssh_words import fingerprint, read_words
from orchestrator.hosts.ssh.backoff import pause
from orchestrator.hosts.ssh.refusals import refused
from orchestrator.model.boxes import Trouble
from orchestrator.ports.box_link import State, Way

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.master import Master
    from orchestrator.model.boxes import Address

LOST: Final = "the connection was lost"

MOST: Final = 16 * 1_048_576
"""Bytes of a file of known hosts that are read."""


@dataclass(frozen=True, slots=True)
class Try:
    """What there is when a command wants a connection: one that stands, or the reasons not to make one now.

    `calls` counts how often somebody had asked for a try at once by then.
    """

    master: Master | None
    state: State
    not_before: float
    calls: int


@dataclass
class Connection:
    """The connection to one box. Only `close_given_up` waits for anything."""

    address: Address
    _master: Master | None = None
    _given_up: list[Master] = field(default_factory=list)
    _state: State = field(default_factory=State)
    _failures: int = 0
    _not_before: float = 0.0
    _calls: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def state(self) -> State:
        """Return the believed state, and since when."""
        return self.look().state

    def look(self) -> Try:
        """Return what there is, after a look whether the connection still stands."""
        with self._lock:
            if self._master is not None and not self._master.stands():
                self._lose(LOST)
            return Try(self._master, self._state, self._not_before, self._calls)

    def patience(self) -> float:
        """Return the seconds until a command would try to connect: 0 if it would now."""
        return max(0.0, self._not_before - time.monotonic())

    def again(self) -> None:
        """Let the next command try at once. The failure of a try that is under way does not postpone it."""
        with self._lock:
            self._calls += 1
            self._forgive()

    def made(self, master: Master) -> None:
        """Record that a connection was made."""
        with self._lock:
            self._master, self._state = master, State(Way.REACHABLE, time.time(), "ssh is connected")

    def failed(self, said: str, calls: int) -> State:
        """Record that none could be made, and return the state: `said` is ssh's reason, `calls` of the try."""
        words = read_words(said)
        known = _known(words.known_in, words.line)
        with self._lock:
            if words.trouble is Trouble.UNREACHABLE:
                self._lose(words.why)
            else:
                self._state = refused(self.address, words, known, time.time())
            state = self._state
            if self._calls != calls:
                self._forgive()
            return state

    def works(self) -> None:
        """Record that a command came to its end.

        A connection alone is no success: a box that accepts and hangs up would be connected to every second forever.
        """
        self._failures = 0

    def lose(self, master: Master, why: str) -> None:
        """Record that this connection is lost."""
        with self._lock:
            if self._master is master:
                self._lose(why)

    def give_up(self, master: Master) -> None:
        """Use this connection no more, though it stands: the next command makes another."""
        with self._lock:
            if self._master is master:
                self._give_up()

    def end(self) -> None:
        """Use no connection any more, and believe nothing."""
        with self._lock:
            self._give_up()
            self._state = State()

    def close_given_up(self) -> None:
        """Close the connections that are used no more.

        It may take seconds. No connection may be made meanwhile, as it would have the same socket.
        """
        with self._lock:
            given_up, self._given_up = self._given_up, []
        for master in given_up:
            master.close()

    # With the lock held ---------------------------------------------------------------------------

    def _lose(self, why: str) -> None:
        """Record a loss, since now or since before; and when to retry."""
        self._give_up()
        self._failures += 1
        self._not_before = time.monotonic() + pause(self._failures, random.random())  # noqa: S311 - no secret
        since = self._state.since if self._state.way is Way.UNREACHABLE else time.time()
        self._state = State(Way.UNREACHABLE, since, why)

    def _forgive(self) -> None:
        """Forget why not to connect now."""
        self._not_before = 0.0
        if self._state.way is Way.REFUSED:
            self._state = State()

    def _give_up(self) -> None:
        if self._master is not None:
            self._given_up.append(self._master)
            self._master = None


def _known(path: str, line: int) -> str:
    """Return the fingerprint in a line of the user's known_hosts; empty if that is not possible."""
    if not path or not line:
        return ""
    try:
        lines = plain_files.read(path, MOST).decode(errors="replace").splitlines()
        return fingerprint(lines[line - 1])
    except (OSError, IndexError):
        return ""


def sentence_of(address: Address, state: State) -> str:
    """Return why a box cannot be used, as a sentence for people."""
    if state.way is Way.UNREACHABLE:
        minutes = (time.time() - state.since) / 60
        return f"{address} is unreachable for {minutes:.0f} min ({state.why})"
    keys = f"; it shows {state.offered}" if state.offered else ""
    known = f", you know {state.known}" if state.known else ""
    return f"{address} is refused: {state.why}{keys}{known}: {state.advice}"
