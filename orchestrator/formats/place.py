"""Where an agent works, as `cwd:` says it: a folder here, or one on a box over SSH (HUB 5.2)."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.model.errors import Refused
from orchestrator.model.task import Place

FORM: Final = "write /path, ~/path, user@host:/path or ssh://user@host:port/path"

_HOST: Final = r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9_.-]{1,32})?\])"
_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
_REMOTE: Final = re.compile(rf"((?:{_USER}@)?{_HOST}):(.*)")
_URL: Final = re.compile(rf"ssh://((?:{_USER}@)?{_HOST}(?::[0-9]{{1,5}})?)(/.*)")
_LAST_PORT: Final = 65535


def read_place(text: str) -> Place:
    """Return the place that a text names.

    A local path is absolute or begins with `~/`, which is kept as it is. The host of a remote one is
    `host`, `user@host` or `user@host:port`, an IPv6 address in brackets; its path is absolute. All are safe
    as one argument of a program: none begins with `-` or holds a shell's substitution.

    Raises:
        Refused: it is none of these; the message says what is allowed.

    """
    text = text.strip()
    if neutral(text) != text or any(sign in text for sign in ("\n", "\t", "$(", "`")):
        raise Refused(f"{_shown(text)} holds a control character or `$( )`: {FORM}")
    if text == "~" or text.startswith(("/", "~/")):
        return Place(text)
    if text.startswith("ssh://"):
        return _url(text)
    if "://" in text or ":" not in text:
        raise Refused(f"{_shown(text)} is no absolute path: {FORM}")
    found = _REMOTE.fullmatch(text)
    if not found:
        raise Refused(f"{_shown(text)} names no host that we accept: {FORM}")
    if not found[2].startswith("/"):
        raise Refused(f"{_shown(text)}: the path on a host must begin with `/`: {FORM}")
    return Place(found[2], found[1])


def render_place(place: Place) -> str:
    """Return a place as `read_place` reads it."""
    if not place.host:
        return place.path
    _, _, after = place.host.rpartition("]" if "]" in place.host else "@")
    return f"ssh://{place.host}{place.path}" if ":" in after else f"{place.host}:{place.path}"


def _url(text: str) -> Place:
    found = _URL.fullmatch(text)
    if not found:
        raise Refused(f"{_shown(text)} names no host and absolute path: {FORM}")
    port = found[1].rpartition(":")[2]
    if port.isdigit() and not 0 < int(port) <= _LAST_PORT:
        raise Refused(f"{_shown(text)}: the port must be from 1 to {_LAST_PORT}")
    return Place(found[2], found[1])


def _shown(text: str) -> str:
    return ascii(text[:80])
