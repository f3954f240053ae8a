"""The URL to which traces are sent, as the settings and `task observe --otlp` take it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

PATH: Final = "/v1/traces"
"""Where a collector takes traces, if a URL names no path: that is OpenTelemetry's own rule."""

_MOST: Final = 2000
_TEXT: Final = re.compile(r"[!-~]+")
_WANTED: Final = "give a URL such as http://127.0.0.1:4318"


def read_endpoint(value: object) -> str:
    """Return the URL to which spans are posted; empty for an empty text.

    Raises:
        ValueError: it is no URL of HTTP, or holds a login; the message says what is allowed.

    """
    if value == "":  # as it is shown
        return ""
    if not isinstance(value, str) or len(value) > _MOST or not _TEXT.fullmatch(value):
        raise ValueError(f"is {ascii(value)[:60]}: {_WANTED}")
    try:
        parts = urlsplit(value)
        fit = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fit = False
    if not fit or parts.fragment:
        raise ValueError(f"is {ascii(value)[:60]}: {_WANTED}")
    if "@" in parts.netloc:  # settings are shown, and processes' arguments are for all to see
        raise ValueError("holds a login: give it by OpenTelemetry's variable OTEL_EXPORTER_OTLP_HEADERS")
    return parts._replace(path=PATH).geturl() if parts.path in {"", "/"} else value
