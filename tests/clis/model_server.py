"""A model server on loopback that answers agent CLIs by a script, and remembers every request byte for byte.

It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Google's generateContent: streamed or
whole, with tool calls, refusals, silences and cut connections. A script is any callable from request to answer
(`playing.py` makes them).
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, Self

from tests.clis.answers import Answer, Fault, Hang, Reply, Then, say
from tests.clis.dialects.dialect import Dialect, beside, speaking
from tests.clis.model_request import Conversation, Json, ModelRequest

Script = Callable[[ModelRequest], Answer]

LOOPBACK: Final = "127.0.0.1"
PING_EVERY: Final = 5.0
"""Seconds between two signs of life of a stream that says nothing more."""


@dataclass(slots=True)
class Served:
    """What became of one request. `ended` is None while its answer is not out; `whole` says that all of it was sent."""

    request: ModelRequest
    answer: Answer
    ended: float | None = None
    whole: bool = False


def aside(_request: ModelRequest) -> Answer:
    """Answer what a CLI asks a model for its own ends: a title, a summary, whether the key works."""
    return say("A task")


class ModelServer:
    """Serves from `with` to its end. `listener` is a socket that is bound already, perhaps in another namespace.

    `is_main` says which requests are an agent's turn; the others are answered by `beside`, not by the script.
    """

    def __init__(
        self,
        script: Script,
        *,
        beside: Script = aside,
        is_main: Callable[[ModelRequest], bool] = lambda request: request.offers_tools,
        listener: socket.socket | None = None,
    ) -> None:
        self.script = script
        self.beside = beside
        self.is_main = is_main
        self.closing = threading.Event()
        self.faults: list[BaseException] = []
        self._requests: list[ModelRequest] = []
        self._served: list[Served] = []
        self._lock = threading.Lock()
        self._listener = listener or socket.create_server((LOOPBACK, 0))
        self._http = _Http(self, self._listener)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Every request so far, in the order in which they came."""
        with self._lock:
            return tuple(self._requests)

    @property
    def turns(self) -> tuple[ModelRequest, ...]:
        """The requests that the script was asked."""
        return tuple(each for each in self.requests if each.dialect and self.is_main(each))

    @property
    def served(self) -> tuple[Served, ...]:
        """What became of each request to a model, in the order in which their answers were decided."""
        with self._lock:
            return tuple(self._served)

    def serve(self, request: ModelRequest, answer: Answer) -> Served:
        """Remember how a request is answered."""
        served = Served(request, answer)
        with self._lock:
            self._served.append(served)
        return served

    def record(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> ModelRequest:
        """Remember a request and return it, read."""
        dialect = speaking(_bare(path))
        with self._lock:
            number = len(self._requests) + 1
            came = ModelRequest(number, time.time(), method, path, headers, raw)
            if dialect:
                came = _read(came, dialect)
            self._requests.append(came)
        return came

    def answer(self, request: ModelRequest) -> Answer:
        """Return what the script says. A script that fails is remembered in `faults`, and the model is broken."""
        try:
            return (self.script if self.is_main(request) else self.beside)(request)
        except Exception as fault:
            self.faults.append(fault)
            raise


def _bare(path: str) -> str:
    return path.partition("?")[0]


def _read(came: ModelRequest, dialect: Dialect) -> ModelRequest:
    try:
        conversation = dialect.read(_bare(came.path), came.body)
    except (KeyError, TypeError, ValueError, AttributeError):
        # Not this API's form after all: kept as it came.
        conversation = Conversation()
    return ModelRequest(
        came.number, came.at, came.method, came.path, came.headers, came.raw, dialect.NAME, conversation
    )


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, model: ModelServer, listener: socket.socket) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """A CLI that went away, or a script that failed and is in `faults`: nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library gave it
        pass

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815 - names of the library

    def _serve(self) -> None:
        raw = self._body()
        request = self.server.model.record(self.command, self.path, dict(self.headers.items()), raw)
        dialect = speaking(_bare(self.path))
        if dialect is None:
            reported = beside(self.command, _bare(self.path), raw)
            missing = {"type": "error", "error": {"type": "not_found_error", "message": "Not found"}}
            self._send(200 if reported is not None else 404, missing if reported is None else reported)
            return
        answer = self.server.model.answer(request)
        served = self.server.model.serve(request, answer)
        try:
            served.whole = self._answer(dialect, answer, request)
        finally:
            served.ended = time.time()

    def _answer(self, dialect: Dialect, answer: Answer, request: ModelRequest) -> bool:
        """Send an answer, and return whether all of it is out."""
        match answer:
            case Hang():
                self._hang()
                return False
            case Fault() as fault:
                self._refuse(dialect, fault)
                return True
            case Reply() as reply:
                return not self._pause(reply.after) and self._reply(dialect, reply, request)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _refuse(self, dialect: Dialect, fault: Fault) -> None:
        refusal = dialect.refusal(fault)
        after = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
        self._send(refusal.status, refusal.body, after | dict(refusal.headers) | dict(fault.headers))

    def _send(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self._head(
            status, {"Content-Type": "application/json", "Content-Length": str(len(data))} | (headers or {})
        )
        if self.command != "HEAD":
            self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _reply(self, dialect: Dialect, reply: Reply, request: ModelRequest) -> bool:
        if not request.conversation.streams:
            self._send(200, dialect.whole(reply, request))
            return True
        frames = list(dialect.frames(reply, request))
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        for frame in frames if reply.then is Then.END else frames[: max(1, len(frames) // 2)]:
            if self._pause(reply.pace):
                return False
            self._chunk(frame)
        match reply.then:
            case Then.END:
                self.wfile.write(b"0\r\n\r\n")
            case Then.HANG:
                self._hang()
            case Then.PING:
                while not self._pause(PING_EVERY):
                    self._chunk(dialect.PING)
            case Then.DROP:
                self._drop()
        return reply.then is Then.END

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _pause(self, seconds: float) -> bool:
        """Wait, and return whether the server is closing."""
        return seconds > 0 and self.server.model.closing.wait(seconds)

    def _hang(self) -> None:
        self.server.model.closing.wait()
        self._drop()

    def _drop(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
