"""What a process prints, read up to a bound: what a box prints reaches us through git, and has no end of its own."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from typing import IO, Final

_PIECE: Final = 65_536


class PrintsTooMuch(Exception):
    """A process printed more than it may; it still runs."""


def read_to_end(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[bytes, bytes]:
    """Return what a process printed on standard output and error until both were closed, and wait for its end.

    Args:
        process: It has pipes for both, and needs no input: that is closed.
        deadline: Seconds from now.
        most: Bytes of both together.

    Raises:
        PrintsTooMuch: it printed more than that.
        TimeoutExpired: it did not end in time.

    """
    if process.stdin is not None:
        process.stdin.close()
    until, read = time.monotonic() + deadline, 0
    printed: dict[int, list[bytes]] = {}
    with selectors.DefaultSelector() as waiting:
        pipes: list[IO[bytes]] = [pipe for pipe in (process.stdout, process.stderr) if pipe is not None]
        for pipe in pipes:
            printed[pipe.fileno()] = []
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, until - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(process.args, deadline)
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                read += len(piece)
                if read > most:
                    raise PrintsTooMuch
                printed[key.fd].append(piece)
                if not piece:
                    waiting.unregister(key.fileobj)
    process.wait(max(0.0, until - time.monotonic()))
    out, err = (b"".join(printed[pipe.fileno()]) for pipe in pipes)
    return out, err
