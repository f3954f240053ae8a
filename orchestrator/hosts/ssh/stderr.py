"""A child's standard error while it lives: read as it comes, so that no pipe fills, and within bounds."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from contextlib import suppress
from typing import Final

KEPT: Final = 16_384
"""How many bytes of it are kept: the first ones, which say what is wrong."""

FLOOD: Final = 4_194_304
"""Bytes after which the child is killed: a program that complains writes less in months."""

_PIECE: Final = 65_536


class Stderr:
    """Reads a child's standard error in a thread of its own until the child's end.

    Pass `writer` to `Popen` as its `stderr`, then call `follow`; call `close` in any case.
    """

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        self._stop, self._stopper = os.pipe()
        self._kept = bytearray()
        self._thread: threading.Thread | None = None

    def follow(self, child: subprocess.Popen[bytes]) -> None:
        """Begin to read; a child that writes too much is killed with its process group, which it leads."""
        os.close(self.writer)
        self.writer = -1
        self._thread = threading.Thread(target=self._read, args=(child,), name="stderr", daemon=True)
        self._thread.start()

    def said(self, patience: float = 0.0) -> bytes:
        """Return what is kept so far; wait up to `patience` seconds for the end of it."""
        if self._thread is not None:
            self._thread.join(patience)
        return bytes(self._kept)

    def close(self) -> None:
        """Stop reading. Other processes that hold the pipe find it closed."""
        if self._stopper < 0:
            return
        os.close(self._stopper)
        self._stopper = -1
        if self._thread is not None:
            self._thread.join()
        for descriptor in (self._reader, self._stop, self.writer):
            if descriptor >= 0:
                os.close(descriptor)

    def _read(self, child: subprocess.Popen[bytes]) -> None:
        count = 0
        ready = select.poll()  # `select` takes no descriptor beyond 1,023
        ready.register(self._reader, select.POLLIN)
        ready.register(self._stop, select.POLLIN)
        while self._reader in dict(ready.poll()):
            piece = os.read(self._reader, _PIECE)
            if not piece:
                return
            self._kept += piece[: KEPT - len(self._kept)]
            count += len(piece)
            if count > FLOOD:
                if child.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
                return
