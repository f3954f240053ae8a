"""Commands for a box whose output marks where they begin and end, and what their output says by that.

Output before the beginning, and behind the end, comes from files that the account's shell reads. ssh's own exit status
255 could be the command's, or the connection's end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.hosts.ssh.login_shell import line_of
from orchestrator.ports.box_link import Ended

_SHELL: Final = (
    'printf "\\n%s\\n" "$0"; "$@"; status=$?; printf "\\n%s end\\n" "$0"; '
    'printf "\\n%s %d\\n" "$0" "$status" >&2; exit "$status"'
)
"""Runs its arguments, and marks their beginning and their end."""


def marked_line(argv: Sequence[str], mark: str) -> str:
    """Return the command line that runs a program on a box and marks its output with a word that nobody guesses."""
    return line_of(["sh", "-c", _SHELL, mark, *argv])


def has_begun(ended: Ended, mark: str) -> bool:
    """Return whether the program of a marked command was started."""
    return f"\n{mark}\n".encode() in ended.out


def result_of(ended: Ended, mark: str) -> Ended | None:
    """Return the status and output of the program itself; None if its end is not marked."""
    err, _, behind = ended.err.rpartition(f"\n{mark} ".encode())
    status, ends, _ = behind.partition(b"\n")
    if not ends or not status.isdigit():
        return None
    _, _, out = ended.out.partition(f"\n{mark}\n".encode())
    upto, found, _ = out.rpartition(f"\n{mark} end\n".encode())
    return Ended(int(status), upto if found else out, err)
