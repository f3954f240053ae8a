"""A web server on loopback that takes messages, refuses them, hangs up on them, or says nothing at all."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Webhook:
    """`answer` is a status, or `hang`, or `cut`. `heard` is what came, whatever was answered, and when."""

    answer: int | str = 200
    port: int = 0
    heard: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The address for apprise; it ends in a secret."""
        return f"json://127.0.0.1:{self.port}/very-secret-token"

    def texts(self) -> list[str]:
        """Return the titles of what came."""
        return [said["title"] for said in self.heard]


@contextmanager
def a_webhook(answer: int | str = 200, listener: socket.socket | None = None) -> Iterator[Webhook]:
    """Serve until the block ends, perhaps by a socket that listens already, in another network."""
    hook = Webhook(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            said = json.loads(self.rfile.read(length))
            hook.times.append(time.time())
            hook.heard.append(said)
            if hook.answer == "hang":
                hook.let_go.wait(60)
            if isinstance(hook.answer, str):
                self.close_connection = True
                return
            self.send_response(hook.answer)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=listener is None)
    if listener is not None:
        server.socket.close()
        server.socket = listener
        server.server_port = listener.getsockname()[1]
    server.daemon_threads = True
    hook.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hook
    finally:
        hook.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()
