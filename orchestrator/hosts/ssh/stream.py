"""A child's input and output used like a socket, so that a library can use a program of ours, with a deadline."""

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
    """The other side ended the stream. `said` is the child's standard error; `heard`: it had answered before."""

    def __init__(self, said: bytes, *, heard: bool) -> None:
        self.said = said
        self.heard = heard
        super().__init__("the stream ended")


class Stream:
    """The exchange with a child, until a moment by `time.monotonic`: what takes longer is `Late`."""

    def __init__(self, child: subprocess.Popen[bytes], words: Stderr, until: float) -> None:
        assert child.stdin is not None  # noqa: S101 - PIPE was asked for
        assert child.stdout is not None  # noqa: S101
        self._in, self._out, self._words = child.stdin.fileno(), child.stdout.fileno(), words
        self._child = child
        self._until = until
        self._heard = False
        os.set_blocking(self._in, False)

    def send(self, data: bytes) -> int:
        """Write as much as possible at once, and return how many bytes. Raises Late, Broken."""
        if not _ready(self._in, select.POLLOUT, self._left()):
            raise Late
        try:
            # A writable pipe has room for this many bytes, and takes a part of a larger piece.
            return os.write(self._in, data[: select.PIPE_BUF])
        except BrokenPipeError:
            raise self._broken() from None

    def recv(self, most: int) -> bytes:
        """Return what is available, at most `most` bytes, and at least one. Raises Late, Broken."""
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
        """Return a name, as the library wants one: there is only one stream."""
        return ""

    def close(self) -> None:
        """End the child."""
        if self._child.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)

    def _left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _broken(self) -> Broken:
        # Its last words are complete when it has ended; do not wait for one that lingers.
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
    """Run a program in a session of its own, and yield its stream; at the end it is killed by its id.

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
