"""A child's input and output used as a socket is: so a library may speak through a program of ours, by a deadline."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from math import ceil

from orchestrator.hosts.ssh.child import Late
from orchestrator.hosts.ssh.stderr import Stderr
from orchestrator.model.errors import Unavailable


class Broken(Unavailable):
    """The other side ended the stream. `said` is what the child wrote on standard error; `heard`: it had answered."""

    def __init__(self, said: bytes, *, heard: bool) -> None:
        self.said = said
        self.heard = heard
        super().__init__("the stream ended")


class Stream:
    """What is said to a child and heard from it, until a moment by `time.monotonic`: what takes longer is `Late`."""

    def __init__(self, child: subprocess.Popen[bytes], words: Stderr, until: float) -> None:
        assert child.stdin is not None  # noqa: S101 - PIPE was asked for
        assert child.stdout is not None  # noqa: S101
        self._in, self._out, self._words = child.stdin.fileno(), child.stdout.fileno(), words
        self._child = child
        self._until = until
        self._heard = False
        os.set_blocking(self._in, False)

    def send(self, data: bytes) -> int:
        """Write what goes in at once, and return how many bytes. Raises Late, Broken."""
        if not _ready(self._in, select.POLLOUT, self._left()):
            raise Late
        try:
            # A pipe that is writable has room for so many bytes, and takes a larger piece in part.
            return os.write(self._in, data[: select.PIPE_BUF])
        except BrokenPipeError:
            raise self._broken() from None

    def recv(self, most: int) -> bytes:
        """Return what is there, at most so many bytes, and never nothing. Raises Late, Broken."""
        if not self.recv_ready(self._left()):
            raise Late
        piece = os.read(self._out, most)
        if not piece:
            raise self._broken()
        self._heard = True
        return piece

    def recv_ready(self, patience: float = 0.0) -> bool:
        """Return whether there is something to read within `patience` seconds."""
        return _ready(self._out, select.POLLIN, patience)

    def get_name(self) -> str:
        """Say which one of its kind it is: there is only one."""
        return ""

    def close(self) -> None:
        """End the child."""
        if self._child.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)

    def _left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _broken(self) -> Broken:
        # Its last words are whole when it has ended; one that lingers is not waited for.
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(min(1.0, self._left()))
        return Broken(self._words.said(min(1.0, self._left())), heard=self._heard)


_LONGEST = 86400.0
"""Seconds of one wait: `poll` takes no more than 24 days, and no deadline of ours is that far."""


def _ready(descriptor: int, event: int, patience: float) -> bool:
    """Return whether a descriptor is ready, or at its end, within `patience` seconds.

    `poll` takes any descriptor; `select` none beyond 1,023, which a daemon with many runs has.
    """
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(ceil(min(patience, _LONGEST) * 1000)))


@contextmanager
def opened(argv: Sequence[str], environ: Mapping[str, str], until: float) -> Iterator[Stream]:
    """Run a program in a session of its own, and give what it speaks; at the end it is killed by its id.

    Raises:
        Unavailable: it could not be started.

    """
    with closing(Stderr()) as words:
        try:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words.writer,
                env=dict(environ),
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable(f"{argv[0]} could not be started: {error}") from error
        words.follow(child)
        with child:
            stream = Stream(child, words, until)
            try:
                yield stream
            finally:
                stream.close()
