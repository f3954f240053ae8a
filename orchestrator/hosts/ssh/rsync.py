"""rsync over a channel of the shared connection, and what its end means."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from orchestrator.hosts.ssh.child import Late, run_child
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.states import Cut
from orchestrator.model.errors import Unavailable

DEADLINE: Final = 120.0
"""Seconds that one transfer may take; the next goes on where it ended, file by file."""

BOX: Final = "box"
"""What the box is called among the arguments: the connection is there, so that the name counts for nothing."""

_SILENCE: Final = 10  # seconds without a byte after which rsync gives up
_SAID: Final = 1_048_576
_MOVED: Final = 24  # a file was moved while it was read; the next transfer finds it
_PARTLY: Final = 23
_LOST: Final = frozenset({10, 12, 30, 35, 255})


def rsync(
    link: Link, arguments: Sequence[str], environ: Mapping[str, str], *, deadline: float = DEADLINE
) -> str:
    """Run rsync with these arguments; return what it could not transfer, in its words, or nothing.

    No word of them is read by a shell, here or there. `deadline` is in seconds.

    Raises:
        Cut: the connection ended, or time was up. What was transferred until then stays.
        Unreachable, NotLetIn: there is no connection.
        Unavailable: rsync is missing, or failed.

    """
    with link.shell() as words:
        command = ["rsync", "--protect-args", f"--timeout={_SILENCE}", "-e", shlex.join(words), *arguments]
        try:
            ended = run_child(command, stdin=b"", deadline=deadline, most=_SAID, environ=environ)
        except Late as problem:
            raise Cut(f"{link.address}: {problem}") from None
    said = ended.err.decode(errors="backslashreplace").strip()
    if ended.status in {0, _MOVED}:
        return ""
    if ended.status == _PARTLY:
        return said
    if ended.status in _LOST:
        raise Cut(f"{link.address}: the connection ended in the middle of a transfer ({said[-200:]!a})")
    raise Unavailable(f"{link.address}: rsync ended with {ended.status} ({said[-200:]!a})")
