"""One message over one channel of apprise, and what can be known of its fate.

apprise says yes or no. Behind a no may stand a request that went out and was not answered, so the requests that are
made are watched: only a no that certainly delivered nothing is a refusal (law 4).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import apprise
import requests
from urllib3.exceptions import NameResolutionError, NewConnectionError

from orchestrator.formats.redact import MASK, redacted
from orchestrator.formats.text import one_line
from orchestrator.ports.sender import SendOutcome, SendResult

_APPLICATION: Final = "agent-orchestrator"
_CONNECT: Final = 10.0
"""Seconds until a connection must stand."""

_OK: Final = 200
_OTHERWISE: Final = 300
"""Statuses of HTTP: taken from the one, and no more from the other."""

_SECRET_LENGTH: Final = 5
"""Parts of an address at least this long are masked wherever apprise repeats them."""


class Unusable(Exception):
    """The address is of no channel that apprise knows, or lacks something."""


@dataclass(slots=True)
class Requests:
    """The HTTP requests of this process: the status of each that was answered, the error of each that was not."""

    answered: list[int] = field(default_factory=list)
    never_sent: list[str] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Take note of every request from now on."""
        adapter: Any = requests.adapters.HTTPAdapter
        send = adapter.send

        def watched(this: Any, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 (passed through)
            try:
                answer = send(this, *arguments, **named)
            except requests.RequestException as error:
                (self.never_sent if _never_sent(error) else self.cut_off).append(_words(error))
                raise
            self.answered.append(answer.status_code)
            return answer

        adapter.send = watched

    def outcome(self, words: str) -> SendOutcome:
        """Return what an apprise that said no means; `words` are its own on it."""
        if self.cut_off:
            return SendOutcome(SendResult.UNKNOWN, self.cut_off[-1])
        refused = [status for status in self.answered if not _OK <= status < _OTHERWISE]
        if len(refused) < len(self.answered):
            return SendOutcome(
                SendResult.UNKNOWN,
                f"some of it was taken, then: {words or f'HTTP {refused or self.never_sent}'}",
            )
        if refused:
            return SendOutcome(SendResult.REFUSED, f"HTTP {refused[-1]}")
        return SendOutcome(
            SendResult.REFUSED, self.never_sent[-1] if self.never_sent else words or "apprise said no"
        )


class _Words(logging.Handler):
    """The last warning of apprise."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


def way_to(url: str, deadline: float) -> Callable[[str, str, str], SendOutcome]:
    """Return what sends a title and a body in a tone to an address. Nothing is sent yet, and no file written.

    Raises:
        Unusable: apprise cannot do anything with the address.

    """
    words = _Words()
    logging.getLogger("apprise").addHandler(words)
    asset = apprise.AppriseAsset(
        app_id=_APPLICATION,
        app_desc=_APPLICATION,
        storage_mode="memory",
        service_timeout=0,  # whoever started this process ends it
        allow_templates=False,
        secure_logging=True,
    )
    service = apprise.Apprise.instantiate(url, asset=asset)
    if not isinstance(service, apprise.NotifyBase):
        scheme = url.partition(":")[0]
        raise Unusable(
            f"apprise knows no such {scheme}:// address: {_masked(words.last, url) or 'see its documentation'}"
        )
    # A request without an answer is to be ended with this process, and so is known to be unknown.
    service.socket_read_timeout, service.socket_connect_timeout = 2 * deadline, min(_CONNECT, deadline / 2)
    made = Requests()
    made.watch()

    def send(title: str, body: str, tone: str) -> SendOutcome:
        sender = apprise.Apprise(asset=asset)
        sender.add(service)
        if sender.notify(body=body, title=title, notify_type=tone, body_format=apprise.NotifyFormat.TEXT):
            return SendOutcome(SendResult.DELIVERED)
        return made.outcome(_masked(words.last, url))

    return send


def _never_sent(error: requests.RequestException) -> bool:
    """Tell whether a request failed before any of it was sent."""
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.SSLError):
        return True
    cause: BaseException | None = (
        error.args[0] if error.args and isinstance(error.args[0], BaseException) else None
    )
    reason = getattr(cause, "reason", cause)
    return isinstance(reason, NewConnectionError | NameResolutionError) or not isinstance(
        error, requests.ConnectionError | requests.Timeout | requests.exceptions.ChunkedEncodingError
    )


def _words(error: requests.RequestException) -> str:
    """Return what is wrong, without the address that most libraries put into it."""
    cause = error.args[0] if error.args else error
    reason = getattr(cause, "reason", cause)
    system = next((found for found in _causes(reason) if isinstance(found, OSError) and found.strerror), None)
    return system.strerror or "" if system else type(reason).__name__


def _causes(error: object) -> list[object]:
    found = list[object]()
    while isinstance(error, BaseException) and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _masked(words: str, url: str) -> str:
    """Return words of a library without any part of an address that could be a secret."""
    address = url.partition("://")[2]
    for part in sorted(set(re.split(r"[^A-Za-z0-9_.~-]+", address)), key=len, reverse=True):
        if len(part) >= _SECRET_LENGTH:
            words = words.replace(part, MASK)
    return one_line(redacted(words))
