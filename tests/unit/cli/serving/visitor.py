"""A browser without a screen: it calls the application as a server would, and keeps its cookie."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.types import Message

from orchestrator.cli.serving.access import Access
from orchestrator.cli.serving.app import app_of

HOST = "127.0.0.1:8417"


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Visitor:
    """One browser at one server. `cookie` is what it sends; `signed_in` gives it the right one."""

    state: str
    access: Access = field(default_factory=Access)
    cookie: str = ""

    def __post_init__(self) -> None:
        self.app = app_of(self.state, self.access)

    def signed_in(self) -> Visitor:
        self.cookie = self.access.cookie.partition(";")[0]
        return self

    def get(self, path: str = "", **headers: str) -> Reply:
        return self.ask("GET", self.access.root + path, headers)

    def post(self, form: dict[str, str] | bytes, **headers: str) -> Reply:
        """Send a form as a page of this server does; a header that is empty is left out."""
        data = form if isinstance(form, bytes) else urlencode(form).encode()
        usual = {"origin": f"http://{HOST}", "content_type": "application/x-www-form-urlencoded"}
        return self.ask("POST", f"{self.access.root}answer", usual | headers, data)

    def answer(self, task: str, question: str, **form: str) -> Reply:
        return self.post({"form": self.access.form, "task": task, "question": question} | form)

    def ask(self, method: str, target: str, headers: dict[str, str], body: bytes = b"") -> Reply:
        """Send a request and return the whole reply; one without an end is left once it has said something."""
        return asyncio.run(self._asked(method, target, headers, body))

    async def _asked(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
        path, _, query = target.partition("?")
        sent = {"host": HOST, "cookie": self.cookie} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items() if value],
            "server": ("127.0.0.1", 8417),
            "client": ("127.0.0.1", 50000),
            "root_path": "",
        }
        said, left = list[Message](), asyncio.Event()
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if waiting:
                return waiting.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            said.append(message)
            if message.get("body") and message.get("more_body") and b"data:" in message["body"]:
                left.set()

        await asyncio.wait_for(self.app(scope, receive, send), 20)
        start = said[0]
        named = {name.decode(): value.decode() for name, value in start["headers"]}
        return Reply(start["status"], named, b"".join(each.get("body", b"") for each in said[1:]))
