"""rsync over a channel of the shared connection, and what its end means."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.hosts.ssh.bounds import Quota
from orchestrator.hosts.ssh.child import GaveWay, Late, TooMuch, run_child
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink, Cut

DEADLINE: Final = 120.0
"""Seconds that one transfer may take; the next one continues where it ended, file by file."""

BOX: Final = "box"
"""The name of the box in the arguments; it has no effect, as the connection exists already."""

_LISTED: Final = re.compile(rb">([0-9]{1,20}) (.*)")
_GRACE: Final = 1.0  # seconds in which it may keep what it has of a file
_SILENCE: Final = 10  # seconds without a byte after which rsync gives up
_SAID: Final = 1_048_576
_MOVED: Final = 24  # a file was moved while it was read; the next transfer finds it
_PARTLY: Final = 23
_LOST: Final = frozenset({10, 12, 30, 35, 255})
_NOT_THERE: Final = 127
_NO_ROOM: Final = re.compile(r"No space left on device|Disk quota exceeded")
_NOT_CLEAN: Final = "is your shell clean"
_NO_BYTE: Final = "(0 bytes received so far)"
_OF_OUR_END: Final = re.compile(
    r"rsync: connection unexpectedly closed|rsync error: .* at io\.c\(|rsync error: .*\[(sender|Receiver)="
)
_NOT_FOUND: Final = re.compile(r"not found|No such file|Permission denied|Unknown command", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Transfer:
    """rsync's output, and its error messages. Unless `whole`, it had more to do; `gave_way`: to something else."""

    out: bytes
    said: str = ""
    whole: bool = True
    gave_way: bool = False


class _Meter:
    """Counts the files that rsync lists."""

    def __init__(self, quota: Quota) -> None:
        self._quota = quota
        self._line = b""

    def allows(self, piece: bytes) -> bool:
        """Take the next output of rsync; return whether it may go on."""
        *lines, self._line = (self._line + piece).split(b"\n")
        for line in lines:
            listed = _LISTED.match(line)
            if (
                listed
                and not line.endswith(b"/")
                and not self._quota.take(os.fsdecode(listed[2]), int(listed[1]))
            ):
                return False
        return True


def rsync(  # noqa: PLR0913 (all of them bound one transfer)
    link: BoxLink,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: bytes = b"",
    deadline: float = DEADLINE,
    only_list: bool = False,
    quota: Quota | None = None,
    go_on: Callable[[], bool] | None = None,
) -> Transfer:
    """Run rsync with these arguments; no word of them is interpreted by a shell, here or there.

    `deadline` is in seconds. With `only_list` nothing is transferred: output beyond 1 MB is dropped and is no error,
    and giving way takes no time, as there is nothing to keep. `quota` is what it may transfer, counted by its lines
    `>SIZE NAME`; the file that exceeds it ends the transfer, and transferred files stay. `go_on` ends it at any time,
    likewise.

    Raises:
        Cut: the connection ended, or time was up. What was transferred until then stays.
        Unreachable, NotLetIn: there is no connection.
        Unavailable: rsync did not start there, or failed; a full disk here is one reason.

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
                heed=None if quota is None else _Meter(quota.copy()).allows,
                go_on=go_on,
                grace=0.0 if only_list else _GRACE,
                among=link.children,
            )
        except Late as problem:
            raise link.cut_off(str(problem)) from None
        except GaveWay:
            return Transfer(b"", whole=False, gave_way=True)
        except TooMuch as problem:
            if problem.is_err or (not only_list and quota is None):
                raise Unavailable(f"{link.address}: rsync {problem}") from None
            return Transfer(problem.out[: problem.out.rfind(b"\n") + 1], whole=False)
        said = ended.err.decode(errors="backslashreplace").strip()
        if ended.status in _LOST and not _NO_ROOM.search(said):
            lost = link.cut_off(f"a transfer ended in its midst ({_last_words(said)})", ended.err)
            if not (_NO_BYTE in said and isinstance(lost, Cut) and lost.stands):
                raise lost
    if _NO_ROOM.search(said):  # whatever its status: there are several for this
        where = "there" if arguments[-1].startswith(f"{BOX}:") else "here"
        raise Unavailable(f"{link.address}: the disk {where} is full: make room ({_last_words(said)})")
    if ended.status in {0, _MOVED}:
        return Transfer(ended.out)
    if ended.status == _PARTLY:
        return Transfer(ended.out, said)
    raise Unavailable(f"{link.address}: {_meaning(link.address, ended.status, said)}")


def _meaning(address: Address, status: int, said: str) -> str:
    """Return why rsync failed, and what to do."""
    # If it does not start there, rsync here sees the end of the connection or of ssh first: that is chance.
    if status == _NOT_THERE or _NO_BYTE in said:
        theirs = "\n".join(line for line in said.splitlines() if not _OF_OUR_END.match(line))
        if status != _NOT_THERE and theirs.strip() and not _NOT_FOUND.search(theirs):
            return (
                f"rsync there ended before its first byte ({_last_words(theirs)}): it must be rsync itself, of version "
                "3.1 or newer, and nothing that refuses its options"
            )
        return (
            "rsync did not start there: it is missing, or not on the PATH of a plain command: install it there "
            f"({_last_words(said)})"
        )
    if _NOT_CLEAN in said:
        command = shlex.join(["ssh", *address.words(), "true"])
        return (
            f"its shell prints something before a command's output: `{command}` must print nothing. Correct what a "
            "plain command reads there (~/.bashrc, ~/.zshenv)"
        )
    return f"rsync ended with {status} ({_last_words(said)})"


def _last_words(said: str) -> str:
    return ascii(said[-200:])
