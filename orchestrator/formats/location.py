"""Where an agent works, as `cwd:` says it: a folder here, or one on a box over SSH (H3)."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused
from orchestrator.model.host_names import KIND_MARK
from orchestrator.model.names import NAME
from orchestrator.model.task import Location

FORM: Final = "write /path, ~/path, user@host:/path or ssh://user@host:port/path"
REMOTE_FORM: Final = "write user@host:/path or ssh://user@host:port/path"
BOX_FORM: Final = "write user@host or ssh://user@host:port, without a folder"

_HOST: Final = r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9_.-]{1,32})?\])"
_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
_REMOTE: Final = re.compile(rf"((?:{_USER}@)?{_HOST}):(.*)")
_URL: Final = re.compile(rf"ssh://((?:{_USER}@)?{_HOST}(?::[0-9]{{1,5}})?)(/.*)")
_ADDRESS: Final = re.compile(rf"(?:(?P<user>{_USER})@)?(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?")
_LAST_PORT: Final = 65535


_KIND: Final = re.compile(rf"({NAME}):([A-Za-z0-9._/][A-Za-z0-9._:/@+#-]{{0,199}})")
_PLACED: Final = re.compile(rf"({NAME}:(?![0-9]+:)[A-Za-z0-9._][A-Za-z0-9._:/@+#-]*?):(~?/.*)")
"""The path on a box stands right behind its name, so that none begins like this; a number would be meant as a port."""


def address_of(place: Location) -> Address:
    """Return whom to call for a place on a box, as `read_location` made it. Raises Refused if it is none."""
    found = _ADDRESS.fullmatch(place.host)
    if not found:
        raise Refused(f"{_shown(place.host)} is no address of a box: {FORM}")
    return Address(found["host"].strip("[]"), found["user"] or "", int(found["port"] or 0))


def read_host(text: str) -> str:
    """Return what the host is called that `KIND:NAME` asks for. Raises Refused; which kinds exist is not asked."""
    found = _KIND.fullmatch(text)
    if not found:
        raise Refused(
            f"is {_shown(text)}: write KIND:NAME, for a host kind that is installed (`task doctor` lists them)"
        )
    return f"{found[1]}{KIND_MARK}{found[2]}"


def split_placed(text: str) -> tuple[str, str] | None:
    """Part `KIND:NAME:/path` into `KIND:NAME` and `/path`; None of what cannot be one, such as a place on a box."""
    found = _PLACED.fullmatch(text)
    return (found[1], found[2]) if found else None


def read_location(text: str) -> Location:
    """Return the place that a text names.

    A local path is absolute or begins with `~/`, which is kept as it is. The host of a remote one is
    `host`, `user@host` or `user@host:port`, an IPv6 address in brackets; its path is absolute and has one
    spelling: no `..`, no slash too many. All are safe as one argument of a program: none begins with `-` or
    holds a shell's substitution.

    Raises:
        Refused: it is none of these; the message says what is allowed.

    """
    text = text.strip()
    if neutral(text) != text or any(sign in text for sign in ("\n", "\t", "$(", "`")):
        raise Refused(f"{_shown(text)} holds a control character or `$( )`: {FORM}")
    if text == "~" or text.startswith(("/", "~/")):
        return Location(text)
    if text.startswith("ssh://"):
        return _url(text)
    if "://" in text or ":" not in text:
        raise Refused(f"{_shown(text)} is no absolute path: {FORM}")
    found = _REMOTE.fullmatch(text)
    if not found:
        raise Refused(f"{_shown(text)} names no host that we accept: {FORM}")
    return Location(_remote_path(text, found[2]), found[1])


def read_box(text: str) -> str:
    """Return what `Location` calls the box that a text names: `host`, `user@host` or `ssh://user@host:port`, no folder.

    Raises:
        Refused: it is none of these.

    """
    text = text.strip()
    is_url = text.startswith("ssh://")
    bare = "/" not in text.removeprefix("ssh://") and (is_url or ":" not in text.rpartition("]")[2])
    try:
        place = read_location(f"{text}/" if is_url else f"{text}:/") if bare else None
    except Refused:
        place = None
    if place is None:
        raise Refused(f"{_shown(text)} is no box: {BOX_FORM}")
    return str(address_of(place))


def render_box(box: str) -> str:
    """Return what `Location` calls a box as `read_box` reads it."""
    return f"ssh://{box}" if _has_port(box) else box


def render_location(place: Location) -> str:
    """Return a place as `read_location` reads it."""
    if not place.host:
        return place.path
    return f"ssh://{place.host}{place.path}" if _has_port(place.host) else f"{place.host}:{place.path}"


def _has_port(host: str) -> bool:
    _, _, after = host.rpartition("]" if "]" in host else "@")
    return ":" in after


def _url(text: str) -> Location:
    found = _URL.fullmatch(text)
    if not found:
        raise Refused(f"{_shown(text)} names no host and absolute path: {FORM}")
    port = found[1].rpartition(":")[2]
    if port.isdigit() and not 0 < int(port) <= _LAST_PORT:
        raise Refused(f"{_shown(text)}: the port must be from 1 to {_LAST_PORT}")
    return Location(_remote_path(text, found[2]), found[1])


def _remote_path(text: str, path: str) -> str:
    """Return a path on another machine in its one spelling. Raises Refused where it is none; `text` is the whole."""
    # `ssh://host/~/x` means a folder in the home to git, and would be one called `~` here.
    if path.lstrip("/").startswith("~"):
        raise Refused(
            f"{_shown(text)}: `~` is not expanded on another machine: write the whole path, as `pwd` prints it there"
        )
    if not path.startswith("/"):
        raise Refused(f"{_shown(text)}: the path on a host must begin with `/`: {REMOTE_FORM}")
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise Refused(f"{_shown(text)}: the path on a host must not hold `..`: {REMOTE_FORM}")
    return f"/{'/'.join(parts)}"


def _shown(text: str) -> str:
    return ascii(text[:80])
