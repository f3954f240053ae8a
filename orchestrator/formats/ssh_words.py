"""Classifies ssh's failures to connect by its messages, because its exit status is always 255."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.model.boxes import Trouble

LONGEST: Final = 300
"""Most characters of ssh's own words that are shown."""


@dataclass(frozen=True, slots=True)
class Words:
    """What ssh printed: the kind of trouble, and the line that states it.

    `offered` is the fingerprint of a key that the user does not know. If the user knows another key of this host,
    `known_in` and `line` say where it is.
    """

    trouble: Trouble
    why: str
    offered: str = ""
    known_in: str = ""
    line: int = 0


_CHANGED: Final = re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED|REVOKED HOST KEY DETECTED")
_OFFERED: Final = re.compile(
    r"key sent by the remote host is\s+(SHA256:[A-Za-z0-9+/]{43}|[A-Z0-9]+:[^\s.]{8,200})"
)
_OFFENDING: Final = re.compile(r"^Offending (?:\S+ )?key in (/[^\n]{1,4000}):([0-9]{1,9})$", re.MULTILINE)
_RULES: Final = (
    (
        _CHANGED,
        re.compile(r"^Host key for .* (?:has changed|was revoked).*$", re.MULTILINE),
        Trouble.CHANGED_KEY,
    ),
    (
        re.compile(r"^No \S+ host key is known for |^Host key verification failed", re.MULTILINE),
        re.compile(r"^(?:No \S+ host key is known for|Host key verification failed).*$", re.MULTILINE),
        Trouble.UNKNOWN_HOST,
    ),
    (
        re.compile(r"Permission denied \(|Too many authentication failures|signing failed"),
        re.compile(
            r"^.*(?:Permission denied \(|Too many authentication failures|signing failed).*$", re.MULTILINE
        ),
        Trouble.AUTH,
    ),
    (
        re.compile(
            r"Bad configuration option|bad configuration options|Bad owner or permissions on|Unable to negotiate"
            r"|Can't open user config file|extra arguments at end of line|unsupported option|Bad stdio forwarding"
        ),
        re.compile(
            r"^.*(?:onfiguration option|owner or permissions|negotiate|config file|argument|option).*$",
            re.MULTILINE,
        ),
        Trouble.SETTINGS,
    ),
)


def read_words(text: str) -> Words:
    """Classify what ssh wrote to standard error about a failed connection.

    Unknown messages count as UNREACHABLE, with the last line: that leads to a retry, which does no harm.
    """
    text = text.replace("\r", "")
    for rule, line, trouble in _RULES:
        if rule.search(text):
            said = line.search(text)
            why = _shown(said[0] if said else _last_line(text))
            if trouble is not Trouble.CHANGED_KEY:
                return Words(trouble, why)
            offered, offending = _OFFERED.search(text), _OFFENDING.search(text)
            return Words(
                trouble,
                why,
                offered[1] if offered else "",
                offending[1] if offending else "",
                int(offending[2]) if offending else 0,
            )
    return Words(Trouble.UNREACHABLE, _shown(_last_line(text)))


def fingerprint(known: str) -> str:
    """Return the fingerprint of the key in a line of known_hosts, as ssh writes it; empty if there is none."""
    fields = [field for field in known.split() if not field.startswith("@")]
    if known.startswith("#") or len(fields) < 3:  # noqa: PLR2004 - names, kind and key
        return ""
    try:
        blob = base64.b64decode(fields[2], validate=True)
    except (binascii.Error, ValueError):
        return ""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "ssh ended without a message"


def _shown(line: str) -> str:
    return neutral(line.strip())[:LONGEST]
