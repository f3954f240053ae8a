"""Who may look and answer: decided by a request's headers alone, before anything else of it is read.

The address that `task serve` prints holds a token. A browser that opens it gets a cookie, which is another secret, and
shows the token to nobody any more. All pages lie below a path of random signs, and the cookie is sent for that path
alone: cookies know no ports, so another server of this machine, perhaps one that an agent started, would get it too.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

COOKIE: Final = "task-serve"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
_SECRET_BYTES: Final = 32
_PATH_BYTES: Final = 12


def _secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


@dataclass(frozen=True, slots=True)
class Access:
    """The secrets of one life of the server.

    token: stands in the address that is printed.
    session: the value of the cookie.
    form: stands in each form that a page holds.
    root: the path of all pages, `/SIGNS/`.
    """

    token: str = field(default_factory=_secret)
    session: str = field(default_factory=_secret)
    form: str = field(default_factory=_secret)
    root: str = field(default_factory=lambda: f"/{secrets.token_hex(_PATH_BYTES)}/")

    @property
    def cookie(self) -> str:
        """The header that gives a browser its cookie. It ends with the browser; scripts do not see it."""
        return f"{COOKIE}={self.session}; Path={self.root}; HttpOnly; SameSite=Strict"

    def admits(self, token: str) -> bool:
        """Return whether this is the token."""
        return _same(token, self.token)

    def knows(self, cookie: str) -> bool:
        """Return whether this is the cookie's value."""
        return _same(cookie, self.session)

    def wrote(self, form: str) -> bool:
        """Return whether a form came from a page of this server."""
        return _same(form, self.form)


def is_local(host: str) -> bool:
    """Return whether a `Host` header names loopback, at any port: the port may be forwarded from another one.

    A page of somebody else's whose name leads here (DNS rebinding) sends its own name.
    """
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    return name.lower() in _LOOPBACK and port.isascii() and port.isdigit()


def is_from_here(headers: Mapping[str, str]) -> bool:
    """Return whether a post was sent by a page of this server: browsers say so, and no page can make them lie.

    `headers` has lower-case names.
    """
    origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", "same-origin")
    return origin == f"http://{headers.get('host', '')}" and site == "same-origin"


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), secret.encode())
