"""The server's side of `kubectl attach`: a WebSocket of v5.channel.k8s.io, whose frames begin with a channel."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
from contextlib import suppress
from io import BufferedIOBase
from typing import Final

from tests.kubernetes_api.node import Container

PROTOCOL: Final = "v5.channel.k8s.io"
_GUID: Final = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_STDIN, _STDOUT, _ERROR, _RESIZE = 0, 1, 3, 4
_BINARY, _CLOSE, _PING, _PONG = 2, 8, 9, 10


def accept_key(key: str) -> str:
    """Return the answer to a client's key (RFC 6455)."""
    return base64.b64encode(hashlib.sha1((key + _GUID).encode(), usedforsecurity=False).digest()).decode()


class Attached:
    """One client that is attached to a container, until the container ends or the client goes."""

    def __init__(self, reader: BufferedIOBase, writer: BufferedIOBase, container: Container) -> None:
        self._reader = reader
        self._writer = writer
        self._container = container
        self._lock = threading.Lock()

    def serve(self) -> None:
        self._container.watch(self._show)
        threading.Thread(target=self._until_the_end, daemon=True).start()
        try:
            while (frame := self._read()) is not None:
                self._take(*frame)
        finally:
            self._container.unwatch(self._show)

    def _take(self, kind: int, said: bytes) -> None:
        if kind == _PING:
            self._send(_PONG, said)
        elif kind == _BINARY and said and said[0] == _STDIN:
            self._container.type(said[1:])
        elif kind == _BINARY and said and said[0] == _RESIZE:
            size = json.loads(said[1:])
            self._container.resize(size["Width"], size["Height"])

    def _until_the_end(self) -> None:
        self._container.process.wait()
        with suppress(OSError, ValueError):
            self._send(_BINARY, bytes([_ERROR]) + b'{"metadata":{},"status":"Success"}')
            self._send(_CLOSE, struct.pack(">H", 1000))

    def _show(self, shown: bytes) -> None:
        with suppress(OSError, ValueError):
            self._send(_BINARY, bytes([_STDOUT]) + shown)

    def _send(self, kind: int, said: bytes) -> None:
        short, medium = 126, 65536
        if len(said) < short:
            size = bytes([len(said)])
        elif len(said) < medium:
            size = bytes([126]) + struct.pack(">H", len(said))
        else:
            size = bytes([127]) + struct.pack(">Q", len(said))
        with self._lock:
            self._writer.write(bytes([0x80 | kind]) + size + said)
            self._writer.flush()

    def _read(self) -> tuple[int, bytes] | None:
        """Return the next frame; None once the client has gone."""
        try:
            head = self._exactly(2)
            size = head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self._exactly(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._exactly(8))
            mask = self._exactly(4)
            said = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self._exactly(size)))
        except (OSError, ValueError, EOFError):
            return None
        kind = head[0] & 0x0F
        return None if kind == _CLOSE else (kind, said)

    def _exactly(self, count: int) -> bytes:
        read = self._reader.read(count)
        if len(read) < count:
            raise EOFError
        return read
