"""The way to a box: commands over one shared connection, which is made when it is needed and left alone when it fails.

Nothing here opens a second connection, tries in a row, or takes silence for an end: a box is *unreachable*
since a moment, and known by evidence (law 5).
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from orchestrator.formats.location import Address
from orchestrator.formats.ssh_words import Trouble, fingerprint, read_words
from orchestrator.hosts.ssh.backoff import pause
from orchestrator.hosts.ssh.child import Children, Ended, Late, run_child
from orchestrator.hosts.ssh.link_state import Cut, NoSubsystem, NotLetIn, State, Unreachable, Way, refused
from orchestrator.hosts.ssh.login_shell import line_of
from orchestrator.hosts.ssh.master import (
    CONNECT,
    Master,
    MasterPlace,
    NoConnection,
    ssh_environment,
)
from orchestrator.hosts.ssh.stream import Broken, Stream, opened
from orchestrator.model.errors import Refused

CHANNELS: Final = 8
"""Commands at once over one connection: sshd allows 10 (MaxSessions), and a person may want to look in too."""

MOST: Final = 1_048_576
"""Bytes that a command may print, unless told otherwise."""

DEADLINE: Final = 20.0
"""Seconds that a command may wait for a channel, and again that it may take."""

LEAKED: Final = 5.0
"""Seconds for which a box must have refused every session, while nothing of ours is under way: then its connection is
made anew, as sessions of it were not given back (of a program that was killed here and floods there, say)."""

YOUNG: Final = 30.0
"""Seconds for which a new connection is left alone all the same: the sessions may be those of people who look in."""

_LOST: Final = "the connection was lost"
_NO_CHANNEL: Final = b"mux_client_request_session: session request failed"
_SHELL: Final = (
    'printf "\\n%s\\n" "$0"; "$@"; status=$?; printf "\\n%s %d\\n" "$0" "$status" >&2; exit "$status"'
)
"""Runs its arguments, and tells that they begin and that they ended.

What comes ahead of their beginning was printed by files that the account's shell reads, and is none of theirs. ssh's
own 255 could be theirs, or the connection's end.
"""


class Link:
    """The way to one box. Safe to call from several threads.

    Args:
        address: whom to call.
        folder: where the connection's socket may lie: 0700, ours, a short path.
        environ: the environment of ssh.
        config: settings of ssh to use in place of the user's own.
        channels: how many commands may run at once.
        connect: seconds in which a connection must stand.

    """

    def __init__(
        self,
        address: Address,
        folder: Path,
        environ: Mapping[str, str],
        *,
        config: Path | None = None,
        channels: int = CHANNELS,
        connect: float = CONNECT,
    ) -> None:
        self.address = address
        self._place = MasterPlace(address, folder, config, connect)
        self._environ = ssh_environment(environ)
        self._channels = channels
        self._room = channels
        self._used = 0
        self._free = threading.Condition()
        self._connecting = threading.Lock()
        self._master: Master | None = None
        self._state = State()
        self._failures = 0
        self._not_before = 0.0
        self._over = False
        self._lacks = set[str]()
        self._made_at = 0.0
        self._crowded_since: float | None = None
        self.children = Children()
        """What is under way over this link."""

    @property
    def place(self) -> MasterPlace:
        """Where the connection's socket lies, for what uses it and never makes it."""
        return self._place

    def state(self) -> State:
        """Return what is held true of the way, and since when. Asks nobody: it is known in a moment."""
        master = self._master
        if self._state.way is Way.REACHABLE and master is not None and not master.stands():
            with self._connecting:
                if self._master is master:
                    self._lost(_LOST)
        return self._state

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", deadline: float = DEADLINE, most: int = MOST
    ) -> Ended:
        """Run a program on the box and return its status and what it printed; no word of it means anything to a shell.

        `deadline` is in seconds, `most` in bytes of standard output and of standard error each. A connection that must
        be made first has a deadline of its own.

        Raises:
            Unreachable: there is no connection, and none was to be had or tried now. Nothing was run.
            Cut: the connection ended under the command, or it did not end in time: its outcome is unknown.
            NotLetIn: the box or our ssh refuses, until `again` is called.
            TooMuch: it printed more than `most` bytes.

        """
        if not argv or any("\0" in word for word in argv):
            raise Refused("a command for a box must have words, and no NUL in them")
        until = time.monotonic() + deadline
        with self._channel(until):
            master = self._connected(until)
            mark = secrets.token_hex(8)
            line = line_of(["sh", "-c", _SHELL, mark, *argv])
            try:
                ended = run_child(
                    self._place.channel(line),
                    stdin=stdin,
                    deadline=deadline,
                    most=most,
                    environ=self._environ,
                    among=self.children,
                )
            except Late:
                self._doubt(master)
                told = f"{self.address} did not end `{argv[0]}` within {deadline:g} s"
                raise Cut(told, stands=master.stands()) from None
            return self._told(ended, mark, argv[0], master)

    @contextmanager
    def shell(self, deadline: float = DEADLINE) -> Iterator[list[str]]:
        """Hold a channel for a program that speaks over ssh by itself; give the words that it puts ahead of a host.

        Which host it names counts for nothing. `deadline`, in seconds, is for the wait. Raises as `run` does.
        """
        until = time.monotonic() + deadline
        with self._channel(until):
            self._connected(until)
            yield self._place.channel_words()

    @contextmanager
    def subsystem(self, name: str, deadline: float = DEADLINE) -> Iterator[Stream]:
        """Hold a channel to a subsystem of the box's sshd. `deadline`, in seconds, is for all that is said through it.

        Raises as `run` does, and NoSubsystem where the box has no such subsystem: that is remembered for as long as the
        connection stands.
        """
        until = time.monotonic() + deadline
        with self._channel(until):
            master = self._connected(until)
            if name in self._lacks:
                raise self._no_subsystem(name)
            try:
                with opened(self._place.subsystem(name), self._environ, until) as stream:
                    yield stream
            except Late:
                self._doubt(master)
                told = f"{self.address} did not end `{name}` within {deadline:g} s"
                raise Cut(told, stands=master.stands()) from None
            except Broken as problem:
                if not problem.heard and not problem.said.startswith(_NO_CHANNEL) and master.stands():
                    # ssh has words for the want of a channel; those of a shell say that the program is not there.
                    self._lacks.add(name)
                    raise self._no_subsystem(name) from None
                raise self._ended_early(problem.said, name, master) from None
            self._failures = 0

    def again(self) -> None:
        """Let the next command try to connect at once: somebody mended something, or the network came back."""
        with self._connecting:
            self._not_before = 0.0
            if self._state.way is Way.REFUSED:
                self._state = State()

    def patience(self) -> float:
        """Return how many seconds pass until a command would try to connect: 0 where it would now."""
        return max(0.0, self._not_before - time.monotonic())

    def close(self) -> None:
        """End the connection; commands that run there are hung up, what lives in a tmux there goes on."""
        with self._connecting:
            if self._master is not None:
                self._master.close()
            self._master, self._state = None, State()

    def end(self) -> None:
        """End the connection for good, with all that is under way here: whoever waits for it is told so at once."""
        self._over = True
        self.children.end_all()
        self.close()

    # Connecting -----------------------------------------------------------------------------------

    @contextmanager
    def _channel(self, until: float) -> Iterator[None]:
        with self._free:
            patience = max(0.0, until - time.monotonic())
            if not self._free.wait_for(lambda: self._used < self._room, patience):
                raise Unreachable(f"{self.address} is busy: no channel was free in time")
            self._used += 1
        try:
            yield
        finally:
            with self._free:
                self._used -= 1
                self._free.notify()

    def _narrow(self) -> None:
        """Take it that the box grants as many sessions as are used, without the one that it refused."""
        with self._free:
            self._room = max(1, min(self._room, self._used - 1))

    def _connected(self, until: float) -> Master:
        if not self._connecting.acquire(timeout=max(0.0, until - time.monotonic())):
            raise Unreachable(f"{self.address} is being called, and does not answer")
        try:
            if self._master is not None and self._master.stands():
                return self._master
            if self._master is not None:
                self._lost(_LOST)
            if self._state.way is Way.REFUSED:
                raise NotLetIn(_sentence(self.address, self._state), self._state)
            if time.monotonic() < self._not_before:
                raise Unreachable(_sentence(self.address, self._state))
            if self._over:
                raise Unreachable(f"{self.address} is not called any more: this program ends")
            return self._connect()
        finally:
            self._connecting.release()

    def _connect(self) -> Master:
        try:
            self._master = Master.connect(self._place, self._environ, lambda: self._over)
        except NoConnection as problem:
            words = read_words(problem.said)
            if words.trouble is Trouble.UNREACHABLE:
                self._lost(words.why)
                raise Unreachable(_sentence(self.address, self._state)) from None
            known = _known(words.known_in, words.line)
            self._state = refused(self.address, words, known, time.time())
            raise NotLetIn(_sentence(self.address, self._state), self._state) from None
        self._state = State(Way.REACHABLE, time.time(), "ssh is connected")
        self._room = self._channels
        self._lacks = set()
        self._made_at, self._crowded_since = time.monotonic(), None
        return self._master

    def _lost(self, why: str) -> None:
        """Note that the way is lost since now, or since it was first; and when it is tried next."""
        if self._master is not None:
            self._master.close()
            self._master = None
        self._failures += 1
        self._not_before = time.monotonic() + pause(self._failures, random.random())  # noqa: S311 - no secret
        since = self._state.since if self._state.way is Way.UNREACHABLE else time.time()
        self._state = State(Way.UNREACHABLE, since, why)

    def _doubt(self, master: Master) -> None:
        """Give up a connection whose own process hangs; what only runs long there is left alone."""
        if not master.answers(self._environ):
            with self._connecting:
                if self._master is master:
                    self._lost("the connection's own process does not answer")

    def _replace_leaking(self, master: Master) -> None:
        """Give up a connection that grants no session for long though none is used: the next command makes another."""
        now = time.monotonic()
        since = self._crowded_since = self._crowded_since or now
        if self._used > 1 or now - since < LEAKED or now - self._made_at < YOUNG:
            return
        with self._connecting:
            if self._master is master:
                master.close()
                self._master = None

    def _no_subsystem(self, name: str) -> NoSubsystem:
        return NoSubsystem(f"{self.address}: its sshd gives no `{name}`: switch it on there")

    def _told(self, ended: Ended, mark: str, name: str, master: Master) -> Ended:
        """Return what a command left, if it told its own end."""
        said, _, told = ended.err.rpartition(f"\n{mark} ".encode())
        if told.strip().isdigit():
            # Not when it connects: a box that lets in and hangs up would be called each second for ever.
            self._failures, self._crowded_since = 0, None
            _, _, out = ended.out.partition(f"\n{mark}\n".encode())
            return Ended(int(told), out, said)
        raise self._ended_early(ended.err, name, master)

    def _ended_early(self, said: bytes, name: str, master: Master) -> Unreachable:
        """Return what it means that ssh ended before what it was to carry, having said so much."""
        if said.startswith(_NO_CHANNEL):
            self._narrow()
            self._replace_leaking(master)
            return Unreachable(f"{self.address} is busy: it grants this connection no more sessions")
        if not master.stands():
            self.state()
        words = said[-200:].decode(errors="replace").strip()
        return Cut(
            f"{self.address}: the connection ended under `{name}`; whether it was done is unknown ({words!a})",
            stands=master.stands(),
        )


def _known(path: str, line: int) -> str:
    """Return the fingerprint in a line of the user's known_hosts, or nothing if it is not to be had."""
    if not path or not line:
        return ""
    try:
        with Path(path).open(errors="replace") as file:
            return next((fingerprint(text) for number, text in enumerate(file, 1) if number == line), "")
    except OSError:
        return ""


def _sentence(address: Address, state: State) -> str:
    if state.way is Way.UNREACHABLE:
        minutes = (time.time() - state.since) / 60
        return f"{address} is unreachable for {minutes:.0f} min ({state.why})"
    keys = f"; it shows {state.offered}" if state.offered else ""
    known = f", you know {state.known}" if state.known else ""
    return f"{address} is refused: {state.why}{keys}{known}: {state.advice}"
