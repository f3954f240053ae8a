"""A web server on loopback that takes messages, refuses them, hangs up on them, or says nothing at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Webhook:
    """`answer` is a status, or `hang`, or `cut`. `heard` is what came, whatever was answered."""

    answer: int | str = 200
    port: int = 0
    heard: list[dict[str, Any]] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The address for apprise; it ends in a secret."""
        return f"json://127.0.0.1:{self.port}/very-secret-token"

    def texts(self) -> list[str]:
        """Return the titles of what came."""
        return [said["title"] for said in self.heard]


@contextmanager
def a_webhook(answer: int | str = 200) -> Iterator[Webhook]:
    """Serve until the block ends."""
    hook = Webhook(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            hook.heard.append(json.loads(self.rfile.read(length)))
            if hook.answer == "hang":
                hook.let_go.wait(60)
            if isinstance(hook.answer, str):
                self.close_connection = True
                return
            self.send_response(hook.answer)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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
