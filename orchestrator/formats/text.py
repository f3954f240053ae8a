"""Bytes of others into text, and text of others fit to be shown."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from typing import Final

from orchestrator.model.errors import BadFile, Fault

FILE_BYTES: Final = 1_048_576
PROSE_LENGTH: Final = 65_536
"""How many characters are kept of what stands in one section."""

FILE_LINES: Final = 100_000
FAULTS_SHOWN: Final = 100
CUT_MARK: Final = "…"

_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_HIDDEN: Final = (
    range(0x80, 0xA0),  # C1: what a terminal takes for commands
    range(0xAD, 0xAE),  # from here: what shows as nothing, and so hides what it stands in
    range(0x034F, 0x0350),
    range(0x115F, 0x1161),
    range(0x17B4, 0x17B6),
    range(0x180B, 0x1810),
    range(0x3164, 0x3165),
    range(0xFFA0, 0xFFA1),
    range(0x061C, 0x061D),  # from here: direction marks, embeddings, overrides and isolates
    range(0x200E, 0x2010),
    range(0x2028, 0x202F),  # with the line and paragraph separators
    range(0x2060, 0x2070),
    range(0x200B, 0x200C),
    range(0xFEFF, 0xFF00),
    range(0xFFF9, 0xFFFC),
    range(0x1BCA0, 0x1BCA4),
    range(0x1D173, 0x1D17B),
    range(0xD800, 0xE000),  # half a surrogate pair cannot be written
    range(0xE0000, 0xE1000),  # tags and selectors: what a model reads and a person does not see
)
_VISIBLE: Final = (
    {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
    | {0x7F: 0x2421}
    | {code: 0xFFFD for codes in _HIDDEN for code in codes}
)
_BESIDE: Final = r"[^\x00-\x7f\u200c\u200d\ufffd]"
_STRAY_JOINER: Final = re.compile(rf"(?<!{_BESIDE})[\u200c\u200d]|[\u200c\u200d](?!{_BESIDE})")
"""Joiners have a place between two letters of some scripts and in emoji; anywhere else they only hide."""
_RAW_IN_JSON: Final = re.compile(
    f"[\x7f\u200c\u200d{''.join(f'{chr(codes[0])}-{chr(codes[-1])}' for codes in _HIDDEN)}]"
)


def refused(name: str, faults: Sequence[Fault]) -> BadFile:
    """Return the error for a file with these faults: the first hundred, and how many more there are."""
    shown = sorted(faults, key=lambda fault: fault.line)[:FAULTS_SHOWN]
    if len(faults) > FAULTS_SHOWN:
        shown.append(Fault(0, f"and {len(faults) - FAULTS_SHOWN} more faults"))
    return BadFile(name, shown)


def decoded(data: bytes, name: str, limit: int = FILE_BYTES) -> str:
    r"""Return a file's text, its byte order mark taken off and every line end made `\n`.

    Args:
        data: The bytes as they lie on disk.
        name: The file as its reader knows it, for the message.
        limit: How many bytes are read at most.

    Raises:
        BadFile: it is larger, or has more than 100,000 lines, or is not UTF-8, or holds a NUL.

    """
    if len(data) > limit:
        raise BadFile(name, [Fault(0, f"is larger than {limit} bytes")])
    if data.startswith(_UTF16):
        raise BadFile(name, [Fault(1, "is UTF-16: save it as UTF-8")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(name, [Fault(line, f"byte {data[error.start]:#04x} is not UTF-8")]) from None
    nul = text.find("\0")
    if nul >= 0:
        raise BadFile(name, [Fault(text.count("\n", 0, nul) + 1, "holds a NUL")])
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > FILE_LINES:
        raise BadFile(name, [Fault(FILE_LINES, f"has more than {FILE_LINES} lines")])
    return text


def neutral(text: str) -> str:
    r"""Return text that does nothing to a terminal or an editor that shows it.

    Control characters other than `\n` and `\t` become visible signs, as do direction overrides, what shows as
    nothing, odd line separators and halves of surrogate pairs. `\r\n` becomes `\n`.
    """
    clean = text.replace("\r\n", "\n")
    if clean.isascii() and clean.isprintable():
        return clean
    return _STRAY_JOINER.sub("\N{REPLACEMENT CHARACTER}", clean.translate(_VISIBLE))


def neutral_json(text: str) -> str:
    """Return a JSON document that means the same and does nothing to a terminal that shows it.

    JSON itself escapes the first control characters; the others, and what hides text, are escaped here.
    """
    return _RAW_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return `neutral(text)` with each stretch of white space, line ends too, made one space."""
    return " ".join(neutral(text).split())


def cut(text: str, limit: int) -> str:
    """Return text of at most `limit` characters; where some were left out, the last one says so."""
    return text if len(text) <= limit else text[: limit - len(CUT_MARK)] + CUT_MARK


def cut_at_word(text: str, limit: int) -> str:
    """Return text of at most `limit` characters as `cut` does, but cut between two words.

    A last word that is longer than half of it is cut itself.
    """
    if len(text) <= limit:
        return text
    room = limit - len(CUT_MARK)
    words = [text[:room]] if text[room].isspace() else text[:room].rsplit(None, 1)
    whole = words[0] if len(words[0]) >= room // 2 else text[:room]
    return whole.rstrip() + CUT_MARK


def names(text: str) -> frozenset[str]:
    """Return the words of a text as a set: how a table of many names stays readable."""
    return frozenset(text.split())


def short_time(at: float, beside: float) -> str:
    """Return a time as `local_time` does, without the date where that is the one of another time."""
    whole, other = local_time(at), local_time(beside)
    return whole[11:] if whole[:10] == other[:10] else whole


def local_time(at: float) -> str:
    """Return a time (seconds since the epoch) as handoffs have it, in local time with its zone."""
    return _local(at, "%Y-%m-%d %H:%M:%S %Z")


def local_minute(at: float) -> str:
    """Return a time (seconds since the epoch) of which nobody knows the seconds, in local time with its zone."""
    return _local(at, "%Y-%m-%d %H:%M %Z")


def _local(at: float, form: str) -> str:
    try:
        return time.strftime(form, time.localtime(at)).rstrip()
    except (OverflowError, ValueError, OSError):
        return "unknown time"
