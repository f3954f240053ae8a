"""A command line for the login shell of an account, which may be any shell; sshd passes the line to it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

_DIFFERS: Final = re.compile(r"[^ -&(-~]|!|\\\\|\\\Z")
"""Characters that some shell interprets between single quotes.

fish takes two backslashes for one and a backslash before a quote for that quote; csh looks for `!` in its history even
there, and accepts no line break.
"""

_ESCAPED: Final = re.compile(rb"[^ -&(-\[\]-~]|!")
_DECODE: Final = 'eval "exec $(printf %b "$1")"'


def line_of(words: Sequence[str]) -> str:
    """Return a command line that any login shell splits into these words, and otherwise interprets nothing in.

    All words are quoted: to zsh, a bare `=name`, which `shlex.quote` leaves as it is, would be the path of a program.
    If quotes do not mean the same to all shells, the line reaches sh in characters that stand for themselves in each.
    """
    line = " ".join("'" + each.replace("'", "'\\''") + "'" for each in words)
    if not any(_DIFFERS.search(each) for each in words):
        return line
    octal = _ESCAPED.sub(lambda found: b"\\0%03o" % found[0][0], os.fsencode(line))
    return f"sh -c '{_DECODE}' sh '{octal.decode('ascii')}'"
