"""The link to a box: commands over one shared connection, made when it is needed and left alone when it fails.

Nothing here opens a second connection, retries in a loop, or takes silence for an end: a box is *unreachable* since a
moment, and on evidence (law 5).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.child import Children, Late, TooMuch, run_child
from orchestrator.hosts.ssh.connection import Connection, sentence_of
from orchestrator.hosts.ssh.marked_command import has_begun, marked_line, result_of
from orchestrator.hosts.ssh.master import (
    CONNECT,
    Master,
    MasterPlace,
    NoConnection,
    ssh_environment,
)
from orchestrator.hosts.ssh.stream import Broken, Stream, opened
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import (
    DEADLINE,
    MOST,
    Cut,
    Ended,
    MonitoredLink,
    NoSubsystem,
    NotLetIn,
    State,
    Unreachable,
    Way,
)

CHANNELS: Final = 8
"""Commands at once over one connection: sshd allows 10 (MaxSessions), and a person may want to log in too."""

LEAKED: Final = 5.0
"""Seconds for which a box must have refused every session, while no command of ours runs: then its connection is made
anew, as sessions of it were not released (for example by a program that was killed here and floods there)."""

YOUNG: Final = 30.0
"""Seconds for which a new connection is kept anyway: the sessions may belong to people who have logged in."""

_LOST: Final = 255
"""ssh's exit status when its connection ended."""

_NO_CHANNEL: Final = b"mux_client_request_session: session request failed"


class Link:
    """The link to one box. Safe to call from several threads.

    Args:
        address: the box to connect to.
        folder: where to put the connection's socket: 0700, ours, a short path.
        environ: the environment of ssh.
        config: settings of ssh to use in place of the user's own.
        channels: how many commands may run at once.
        connect: seconds in which a connection must be made.

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
        # Held while a connection is made or closed, which takes seconds.
        self._connecting = threading.Lock()
        self._connection = Connection(address)
        self._over = self._renew = False
        self._lacks = set[str]()
        self._made_at = 0.0
        self._crowded_since: float | None = None
        self.children = Children()
        """What is under way over this link."""

    @property
    def place(self) -> MasterPlace:
        """The place of the connection's socket, for programs that use it and never make it."""
        return self._place

    @property
    def socket(self) -> Path:
        """The connection's socket: it is there while the connection stands."""
        return self._place.socket

    def terminal(self, line: str) -> list[str]:
        """Return the command that runs a command line there on a terminal, over a connection that stands."""
        return [*self._place.channel_words(terminal=True), "--", self.address.host, line]

    def state(self) -> State:
        """Return the believed state of the link, and since when. It asks nobody, and returns at once."""
        return self._connection.state()

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", deadline: float = DEADLINE, most: int = MOST
    ) -> Ended:
        """Run a program on the box and return its status and output; no word of it is interpreted by a shell.

        `deadline` is in seconds, `most` in bytes of standard output and of standard error each. A connection that must
        be made first has a deadline of its own.

        Raises:
            Unreachable: there is no connection, and none could be made, or tried, now. Nothing was run.
            Cut: the connection ended during the command, or it did not end in time: its outcome is unknown.
            NotLetIn: the box or our ssh refuses, until `again` is called.
            TooMuch: it printed more than `most` bytes.

        """
        if not argv or any("\0" in word for word in argv):
            raise Refused("a command for a box must have words, without a NUL in them")
        until = time.monotonic() + deadline
        with self._channel(until):
            master = self._connected(until)
            mark = secrets.token_hex(8)
            line = marked_line(argv, mark)
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
                message = f"{self.address} did not end `{argv[0]}` within {deadline:g} s"
                raise Cut(message, stands=master.stands()) from None
            except TooMuch as problem:
                begun = has_begun(Ended(0, problem.out, b""), mark)
                who = f"`{argv[0]}`" if begun else "a start-up file of the shell (~/.bashrc, ~/.zshenv)"
                message = f"{self.address}: {who} there {problem}"
                raise TooMuch(message, problem.out, is_err=problem.is_err) from None
            return self._result(ended, mark, argv[0], master)

    @contextmanager
    def shell(self, deadline: float = DEADLINE) -> Iterator[list[str]]:
        """Hold a channel for a program that uses ssh by itself; yield the arguments before the host.

        The host that it names has no effect. `deadline`, in seconds, is for the wait. Raises as `run` does.
        """
        until = time.monotonic() + deadline
        with self._channel(until):
            self._connected(until)
            yield self._place.channel_words()

    @contextmanager
    def subsystem(self, name: str, deadline: float = DEADLINE) -> Iterator[Stream]:
        """Hold a channel to a subsystem of the box's sshd. `deadline`, in seconds, is for the whole exchange.

        Raises as `run` does, and NoSubsystem if the box has no such subsystem: that is remembered as long as the
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
                message = f"{self.address} did not end `{name}` within {deadline:g} s"
                raise Cut(message, stands=master.stands()) from None
            except Broken as problem:
                if not problem.heard and not problem.said.startswith(_NO_CHANNEL) and master.stands():
                    # ssh reports a missing channel; the words of a shell mean that the program does not exist.
                    self._lacks.add(name)
                    raise self._no_subsystem(name) from None
                raise self._ended_early(problem.said, name, master) from None
            self._connection.works()

    def cut_off(self, why: str, said: bytes = b"") -> Unreachable:
        """Return the error for a program of `shell` that ended early, or did not end in time.

        `said` is what it, and its ssh, wrote on standard error.
        """
        master = self._connection.look().master
        if master is None:
            return Cut(f"{self.address}: {why}")
        if _NO_CHANNEL in said:
            return self._crowded(master)
        self._doubt(master)
        return Cut(f"{self.address}: {why}", stands=master.stands())

    def again(self) -> None:
        """Let the next command try to connect at once: somebody fixed something, or the network came back.

        It returns at once. The failure of a try that is under way does not postpone the next one. A connection to which
        the box grants too few sessions is made anew when nothing uses it: its limit stays as long as it stands.
        """
        self._connection.again()
        self._renew = self._room < self._channels

    def patience(self) -> float:
        """Return the seconds until a command would try to connect: 0 if it would now."""
        return self._connection.patience()

    def close(self) -> None:
        """End the connection; commands that run there are hung up, programs in a tmux there go on."""
        with self._connecting:
            self._connection.end()
            self._connection.close_given_up()

    def end(self) -> None:
        """End the connection for good, with all commands of ours: their callers get an error at once."""
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

    def _crowded(self, master: Master) -> Unreachable:
        """Return the error for a session that was refused.

        From now on it is assumed that the box grants only as many as are in use, without that one.
        """
        with self._free:
            self._room = max(1, min(self._room, self._used - 1))
        self._replace_leaking(master)
        return Unreachable(f"{self.address} is busy: it grants this connection no more sessions")

    def _connected(self, until: float) -> Master:
        if not self._connecting.acquire(timeout=max(0.0, until - time.monotonic())):
            raise Unreachable(f"{self.address} is being connected to, and does not answer")
        try:
            found = self._connection.look()
            if self._renew and found.master is not None and self._used == 1:  # by this command
                self._connection.give_up(found.master)
                found = self._connection.look()
            self._connection.close_given_up()
            if found.master is not None:
                return found.master
            if found.state.way is Way.REFUSED:
                raise NotLetIn(sentence_of(self.address, found.state), found.state)
            if time.monotonic() < found.not_before:
                raise Unreachable(sentence_of(self.address, found.state))
            if self._over:
                raise Unreachable(f"{self.address} is not connected to any more: this program is ending")
            return self._connect(found.calls)
        finally:
            self._connecting.release()

    def _connect(self, calls: int) -> Master:
        try:
            master = Master.connect(self._place, self._environ, lambda: self._over)
        except NoConnection as problem:
            state = self._connection.failed(problem.said, calls)
            if state.way is Way.REFUSED:
                raise NotLetIn(sentence_of(self.address, state), state) from None
            raise Unreachable(sentence_of(self.address, state)) from None
        self._connection.made(master)
        self._room, self._renew = self._channels, False
        self._lacks = set()
        self._made_at, self._crowded_since = time.monotonic(), None
        return master

    def _doubt(self, master: Master) -> None:
        """Give up a connection that ended, or whose own process hangs; one command that failed costs it nothing."""
        if self._connection.look().master is master and not master.answers(self._environ):
            self._connection.lose(master, "the connection's own process does not answer")
            self._close_given_up()

    def _replace_leaking(self, master: Master) -> None:
        """Give up a connection that long grants no session though none is in use: the next command makes another."""
        now = time.monotonic()
        since = self._crowded_since = self._crowded_since or now
        if self._used > 1 or now - since < LEAKED or now - self._made_at < YOUNG:
            return
        self._connection.give_up(master)
        self._close_given_up()

    def _close_given_up(self) -> None:
        with self._connecting:
            self._connection.close_given_up()

    def _no_subsystem(self, name: str) -> NoSubsystem:
        return NoSubsystem(f"{self.address}: its sshd has no `{name}`: enable it there")

    def _result(self, ended: Ended, mark: str, name: str, master: Master) -> Ended:
        """Return the result of a command, if its end was marked."""
        if (result := result_of(ended, mark)) is not None:
            self._connection.works()
            self._crowded_since = None
            return result
        if has_begun(ended, mark) or ended.status < 0 or ended.status == _LOST:
            raise self._ended_early(ended.err, name, master)
        words = (ended.out + ended.err)[-200:].decode(errors="replace").strip()
        raise Cut(
            f"{self.address}: the login there ended with {ended.status} instead of running a command ({words!a}): "
            "look for a forced command (ForceCommand, or command= in authorized_keys), or for a start-up file of its "
            "shell that ends it",
            stands=master.stands(),
        )

    def _ended_early(self, words_printed: bytes, name: str, master: Master) -> Unreachable:
        """Return the error for an ssh that ended before its command, with these words."""
        if words_printed.startswith(_NO_CHANNEL):
            return self._crowded(master)
        self._doubt(master)
        words = words_printed[-200:].decode(errors="replace").strip()
        return Cut(
            f"{self.address}: the connection ended under `{name}`; whether it was done is unknown ({words!a})",
            stands=master.stands(),
        )


def link_to(
    address: Address, folder: Path, environ: Mapping[str, str], config: Path | None = None
) -> MonitoredLink:
    """Return the link to a box over the system's ssh; for the arguments see `Link`."""
    return Link(address, folder, environ, config=config)
