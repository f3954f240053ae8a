"""rsync over a channel of the shared connection, and what its end means."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.hosts.ssh.child import Late, TooMuch, run_child
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable

DEADLINE: Final = 120.0
"""Seconds that one transfer may take; the next one continues where it ended, file by file."""

BOX: Final = "box"
"""The name of the box in the arguments; it has no effect, as the connection exists already."""

_LISTED: Final = re.compile(rb">([0-9]{1,20}) ")
_SILENCE: Final = 10  # seconds without a byte after which rsync gives up
_SAID: Final = 1_048_576
_MOVED: Final = 24  # a file was moved while it was read; the next transfer finds it
_PARTLY: Final = 23
_LOST: Final = frozenset({10, 12, 30, 35, 255})
_NOT_THERE: Final = 127
_NO_ROOM: Final = re.compile(r"No space left on device|Disk quota exceeded")
_NOT_CLEAN: Final = "is your shell clean"


@dataclass(frozen=True, slots=True)
class Transfer:
    """rsync's output, and its error messages. Unless `whole`, it had more to do."""

    out: bytes
    said: str = ""
    whole: bool = True


class _Budget:
    """Counts the bytes of the files that rsync lists."""

    def __init__(self, left: int) -> None:
        self._left = left
        self._line = b""

    def allows(self, piece: bytes) -> bool:
        """Take the next output of rsync; return whether it may go on."""
        *lines, self._line = (self._line + piece).split(b"\n")
        for line in lines:
            if listed := _LISTED.match(line):
                self._left -= int(listed[1])
        return self._left >= 0


def rsync(
    link: Link,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: bytes = b"",
    deadline: float = DEADLINE,
    cut_short: bool = False,
    budget: int | None = None,
) -> Transfer:
    """Run rsync with these arguments; no word of them is interpreted by a shell, here or there.

    `deadline` is in seconds. With `cut_short`, output beyond 1 MB is dropped and is no error. `budget` is how many
    bytes
    of files it may transfer, counted by its lines `>SIZE NAME`; the file that exceeds it ends the transfer, and
    transferred files stay.

    Raises:
        Cut: the connection ended, or time was up. What was transferred until then stays.
        Unreachable, NotLetIn: there is no connection.
        Unavailable: rsync is missing, or failed; a full disk here is one reason.

    """
    with link.shell() as words:
        own = ["--protect-args", f"--timeout={_SILENCE}", "-e", shlex.join(words)]
        try:
            ended = run_child(
                ["rsync", *own, *arguments],
                stdin=stdin,
                deadline=deadline,
                most=_SAID,
                environ={**environ, "LC_ALL": "C"},
                heed=None if budget is None else _Budget(budget).allows,
                among=link.children,
            )
        except Late as problem:
            raise link.cut_off(str(problem)) from None
        except TooMuch as problem:
            if problem.is_err or (not cut_short and budget is None):
                raise Unavailable(f"{link.address}: rsync {problem}") from None
            return Transfer(problem.out[: problem.out.rfind(b"\n") + 1], whole=False)
        said = ended.err.decode(errors="backslashreplace").strip()
        if ended.status in _LOST and not _NO_ROOM.search(said):
            raise link.cut_off(f"a transfer ended in its midst ({_last_words(said)})", ended.err)
    if _NO_ROOM.search(said):  # whatever its status: there are several for this
        where = "there" if arguments[-1].startswith(f"{BOX}:") else "here"
        raise Unavailable(f"{link.address}: the disk {where} is full: make room ({_last_words(said)})")
    if ended.status in {0, _MOVED}:
        return Transfer(ended.out)
    if ended.status == _PARTLY:
        return Transfer(ended.out, said)
    raise Unavailable(f"{link.address}: {_meaning(link, ended.status, said)}")


def _meaning(link: Link, status: int, said: str) -> str:
    """Return why rsync failed, and what to do."""
    if status == _NOT_THERE:
        return "rsync is missing, or not on the PATH of a plain command: install it there"
    if _NOT_CLEAN in said:
        command = shlex.join(["ssh", *link.address.words(), "true"])
        return (
            f"its shell prints something before a command's output: `{command}` must print nothing. Correct what a "
            "plain command reads there (~/.bashrc, ~/.zshenv)"
        )
    return f"rsync ended with {status} ({_last_words(said)})"


def _last_words(said: str) -> str:
    return ascii(said[-200:])
