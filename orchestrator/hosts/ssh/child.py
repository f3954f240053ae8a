"""One child process with bounds on its output and time; beyond them it is killed by its id."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Final

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import ChildProcesses, Ended

_PIECE: Final = 65_536
_LOOK: Final = 0.02  # seconds between two looks whether a child may go on


class Late(Unavailable):
    """A child did not end by its deadline, and was killed."""


class GaveWay(Unavailable):
    """A child was ended because something else is to be done first."""


class TooMuch(Refused):
    """A child wrote more than it was allowed to, and was killed.

    `out` is what it had written on standard output; `is_err`: it was standard error that it wrote too much on.
    """

    def __init__(self, message: str, out: bytes = b"", *, is_err: bool = False) -> None:
        self.out = out
        self.is_err = is_err
        super().__init__(message)


class Children:
    """Running children of one owner, who may end them all. Safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = set[subprocess.Popen[bytes]]()
        self._over = False

    @contextmanager
    def held(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        """Register a child, which leads its process group; after `end_all` it is killed at once."""
        with self._lock:
            self._running.add(child)
            if self._over:
                _kill(child)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(child)

    def end_all(self) -> None:
        """Kill all running children, and each that is registered later."""
        with self._lock:
            self._over = True
            for child in self._running:
                _kill(child)


def _kill(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


@dataclass
class _Streams:
    """What must still be written to a child, and what was read from it."""

    stdin: memoryview
    most: int
    heed: Callable[[bytes], bool] | None = None
    read: dict[str, bytearray] = field(default_factory=lambda: {"out": bytearray(), "err": bytearray()})

    def serve(self, stream: IO[bytes], name: str) -> bool:
        """Move one piece; return False when the stream has ended. Raises TooMuch."""
        if name == "in":
            with suppress(BlockingIOError, BrokenPipeError):
                self.stdin = self.stdin[os.write(stream.fileno(), self.stdin[:_PIECE]) :]
                return bool(self.stdin)
            return False
        piece = os.read(stream.fileno(), _PIECE)
        self.read[name] += piece
        if len(self.read[name]) > self.most:
            what = "bytes of error messages" if name == "err" else "bytes"
            message = f"wrote more than {self.most} {what}"
            raise TooMuch(message, bytes(self.read["out"]), is_err=name == "err")
        if name == "out" and self.heed is not None and not self.heed(piece):
            raise TooMuch("did more than it was allowed", bytes(self.read["out"]))
        return bool(piece)


def run_child(  # noqa: PLR0913 (all of them bound one child)
    argv: Sequence[str],
    *,
    stdin: bytes,
    deadline: float,
    most: int,
    environ: Mapping[str, str],
    heed: Callable[[bytes], bool] | None = None,
    go_on: Callable[[], bool] | None = None,
    grace: float = 0.0,
    among: ChildProcesses | None = None,
) -> Ended:
    """Run a program in a session of its own, so that it finds no terminal to ask on; return its result.

    `deadline` is in seconds, `most` in bytes of standard output and of standard error each. `heed` gets standard output
    as it comes, and returns whether the child may go on; `go_on` returns that at any time. One that is ended is asked
    to, if it gets a `grace`, in seconds. `among` registers the child with others that may be ended together.

    Raises:
        Late: it did not end in time.
        GaveWay: `go_on` ended it.
        TooMuch: it wrote more than `most`, or may not go on.
        Unavailable: it could not be started.

    """
    until = time.monotonic() + deadline
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"{argv[0]} could not be started: {error}") from error
    with child, (among or Children()).held(child):
        try:
            streams = _Streams(memoryview(stdin), most, heed)
            _serve(child, streams, until, go_on)
            status = child.wait(max(0.0, until - time.monotonic()))
        except (Late, subprocess.TimeoutExpired):
            raise Late(f"{argv[0]} did not end within {deadline:g} s") from None
        finally:
            _end(child, grace)
    return Ended(status, bytes(streams.read["out"]), bytes(streams.read["err"]))


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    if grace and child.poll() is None:
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(child.pid, signal.SIGTERM)
            child.wait(grace)
    _kill(child)


def _serve(
    child: subprocess.Popen[bytes], streams: _Streams, until: float, go_on: Callable[[], bool] | None
) -> None:
    assert child.stdin is not None  # noqa: S101 - PIPE was asked for
    assert child.stdout is not None  # noqa: S101
    assert child.stderr is not None  # noqa: S101
    with selectors.DefaultSelector() as ready:
        if streams.stdin:
            os.set_blocking(child.stdin.fileno(), False)
            ready.register(child.stdin, selectors.EVENT_WRITE, "in")
        else:
            child.stdin.close()
        ready.register(child.stdout, selectors.EVENT_READ, "out")
        ready.register(child.stderr, selectors.EVENT_READ, "err")
        while ready.get_map():
            left = until - time.monotonic()
            if left <= 0:
                raise Late
            if go_on is not None and not go_on():
                raise GaveWay
            for key, _ in ready.select(left if go_on is None else min(left, _LOOK)):
                stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
                if not streams.serve(stream, key.data):
                    ready.unregister(stream)
                    if key.data == "in":
                        stream.close()
