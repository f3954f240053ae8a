"""The pages of `task serve` as an application of Starlette: read and answer, and nothing else.

Before any of it runs, `Guard` looks at who asks; it also gives each reply its headers.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.cli.exits import CommandError
from orchestrator.cli.serving.access import COOKIE, Access, is_from_here, is_local
from orchestrator.cli.serving.answers import answered
from orchestrator.cli.serving.feed import Feed
from orchestrator.cli.serving.page import Picture, asset, page
from orchestrator.cli.serving.reports import report_page
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.reporting.room import clean

FORM_BYTES: Final = 262_144
"""The longest form that is read."""

_FIELDS: Final = 10
_NOTES: Final = 50
_FORM: Final = "application/x-www-form-urlencoded"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_POLICY_OF_REPORTS: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""A report holds its styles, so that it opens from disk, and has nothing else to load or to run."""

_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a browser would hide the origin of a post
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STRANGER: Final = "not signed in: open the address that `task serve` printed, with its token\n"
# The page itself goes on: a browser that came from elsewhere sends a strict cookie only with what a page of here asks.
_WELCOME: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={root}">'
    '<title>task serve</title><p><a href="{root}">Signed in: go on to the tasks</a></p></html>'
)


@dataclass(slots=True)
class Guard:
    """Lets a request through to `app` if it comes from the browser of whoever has the token, and refuses all others."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        await (self.app if refusal is None else refusal)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, method, access = Headers(scope=scope), scope["method"], self.access
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not is_local(hosts[0]):
            return PlainTextResponse("this server answers to 127.0.0.1 and localhost alone\n", 403)
        if method not in {"GET", "HEAD", "POST"}:
            return PlainTextResponse("this server is read and answered, and nothing else\n", 405)
        query = fields_of(scope["query_string"])
        if method == "GET" and scope["path"] == access.root and access.admits(query.get("token", "")):
            return HTMLResponse(_WELCOME.format(root=access.root), headers={"Set-Cookie": access.cookie})
        if not access.knows(Request(scope).cookies.get(COOKIE, "")):
            return PlainTextResponse(_STRANGER, 403)
        if method == "POST" and not is_from_here(headers):
            return PlainTextResponse("this form was not sent by a page of this server\n", 403)
        return None


@dataclass(slots=True)
class Pages:
    """What a browser that is let through is answered."""

    state: str
    access: Access
    feed: Feed
    picture: Picture = field(default_factory=Picture)
    _notes: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """What came of the last answers, each until it was shown, by a random name."""

    async def overview(self, request: Request) -> Response:
        """Return the page of all tasks."""
        feed = self.feed
        feed.look(now=True)
        note = self._notes.pop(request.query_params.get("note", ""), "")
        content = self.picture.shown(
            feed.records, feed.daemon, time.time(), daemon_up=feed.daemon_up, form=self.access.form, note=note
        )
        return HTMLResponse(page(content))

    async def file(self, request: Request) -> Response:
        """Return the style or the script of the page."""
        name = request.url.path.rpartition("/")[2]
        return Response(asset(name), media_type="text/css" if name.endswith(".css") else "text/javascript")

    async def events(self, _: Request) -> Response:
        """Return the stream that says when there is news."""
        if self.feed.is_full:
            return PlainTextResponse("too many browsers listen already\n", 503)
        return StreamingResponse(self.feed.news(), media_type="text/event-stream")

    async def report(self, request: Request) -> Response:
        """Return the report of a task."""
        self.feed.look(now=True)
        task = request.path_params["task"]
        if task not in {record.id for record in self.feed.records}:
            return PlainTextResponse("there is no such task\n", 404)
        try:
            text = await run_in_threadpool(report_page, task)
        except Unavailable as error:
            return PlainTextResponse(f"the report could not be made: {error}\n", 500)
        return HTMLResponse(text, headers={"Content-Security-Policy": _POLICY_OF_REPORTS})

    async def answer(self, request: Request) -> Response:
        """Take an answer, and go back to the page, which says what came of it."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            return PlainTextResponse(f"a form is {_FORM}\n", 415)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > FORM_BYTES:
                return PlainTextResponse(f"a form has at most {FORM_BYTES} bytes\n", 413)
        form = fields_of(body)
        if not self.access.wrote(form.get("form", "")):
            return PlainTextResponse(
                "this form is not of this server's life: go back and reload the page\n", 403
            )
        return RedirectResponse(f"{self.access.root}?note={self._noted(await self._said(form))}", 303)

    async def _said(self, form: dict[str, str]) -> str:
        try:
            return await run_in_threadpool(answered, self.state, form)
        except (CommandError, OrchestratorError, OSError) as error:
            return clean(error)

    def _noted(self, text: str) -> str:
        name = secrets.token_hex(8)
        self._notes[name] = text
        while len(self._notes) > _NOTES:
            self._notes.popitem(last=False)
        return name


def fields_of(data: bytes | bytearray) -> dict[str, str]:
    """Return the fields of a form or a query, the first of each name; none if there are too many."""
    try:
        return {
            name: values[0]
            for name, values in parse_qs(data.decode(errors="replace"), max_num_fields=_FIELDS).items()
        }
    except ValueError:
        return {}


def app_of(state: str, access: Access, is_over: Callable[[], bool] = lambda: False) -> ASGIApp:
    """Return the application that serves the tasks of a state folder to whoever has the secrets of `access`.

    `is_over` says whether the server ends.
    """
    pages = Pages(state, access, Feed(state, is_over))
    routes = [
        Route("/", pages.overview),
        Route("/page.css", pages.file),
        Route("/live.js", pages.file),
        Route("/events", pages.events),
        Route("/report/{task}", pages.report),
        Route("/answer", pages.answer, methods=["POST"]),
    ]
    return Guard(Starlette(routes=[Mount(access.root.rstrip("/"), routes=routes)]), access)
