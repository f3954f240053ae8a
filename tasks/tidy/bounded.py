"""Programs that end: within a bound, and with everything they started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TAIL_BYTES = 64_000
CHUNK = 8192
LAST_WORDS_SECONDS = 2


@dataclass(frozen=True)
class Ended:
    """How a program ended; `status` is None if it was still running at the bound and was killed."""

    status: int | None
    tail: str
    seconds: float


def run(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], limit: float) -> Ended:
    """Run a program in a process group of its own, and kill the whole group when it is over.

    Its output is read all the time and only the end of it kept: a program that floods costs no memory.

    Raises:
        OSError: it cannot be started.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    tail = bytearray()
    reader = threading.Thread(target=_drain, args=(process.stdout, tail), daemon=True)
    reader.start()
    status = None
    try:
        with suppress(subprocess.TimeoutExpired):
            status = process.wait(timeout=limit)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # Whatever left the group may hold the pipe open; its words are not waited for.
        reader.join(LAST_WORDS_SECONDS)
    return Ended(status, bytes(tail).decode("utf-8", "replace"), time.monotonic() - started)


def _drain(stream: IO[bytes] | None, tail: bytearray) -> None:
    if stream is None:
        return
    with suppress(OSError, ValueError), stream:
        while chunk := os.read(stream.fileno(), CHUNK):
            tail += chunk
            del tail[:-TAIL_BYTES]
