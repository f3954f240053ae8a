"""What lies on a box, brought into a mirror here by rsync over the shared connection.

The mirror is ours alone: no agent works in it, nobody watches it, and nothing in it is ever deleted. So a cut,
a stray or an emptied box can harm nothing; what goes from it into a task's folder is for somebody else to decide.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.child import Late, run_child
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.states import Cut
from orchestrator.model.errors import Refused, Unavailable

MARK: Final = ".orchestrator-box"
"""A file in the folder there, with the task's id: a folder that was emptied, or is not mounted, lacks it."""

LARGEST: Final = 64 * 1_048_576
"""Bytes of a file that is brought at most."""

DEADLINE: Final = 120.0
"""Seconds that one pull may take; the next goes on where it ended, file by file."""

_SILENCE: Final = 10  # seconds without a byte after which rsync gives up
_SAID: Final = 1_048_576

# No --delete of any kind, no --partial, no --inplace: see the module. Links are not brought (they may lead
# anywhere), nor devices and pipes; what may be done with a file is not the box's to say.
_OPTIONS: Final = (
    "--recursive",
    "--relative",
    "--times",
    "--chmod=D0700,F0600",
    "--protect-args",
    "--modify-window=-1",  # to the nanosecond: a report may be written twice in a second
    f"--timeout={_SILENCE}",
    f"--max-size={LARGEST}",
)


class Emptied(Refused):
    """The folder there is not the one that we made: it was emptied, or its disk is not mounted."""


def pull(
    link: Link,
    there: str,
    task: str,
    folders: Sequence[str],
    mirror: Path,
    environ: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
) -> str:
    """Bring what is new in `folders`, beneath the absolute path `there`, into `mirror`; return what rsync could not.

    Each file appears in the mirror whole or not at all. `task` is what the mark there must hold,
    `deadline` is in seconds.

    Raises:
        Emptied: the mark is missing, or another's. Nothing was brought.
        Cut: the connection ended, or time was up. What was brought until then stays.
        Unreachable, NotLetIn: there is no connection.
        Unavailable: rsync is missing, or failed.

    """
    if not there.startswith("/") or not all(folder and folder[0] not in "/-." for folder in folders):
        raise Refused("a pull goes from folders beneath an absolute path")
    _check_mark(link, there, task)
    stage = mirror.with_name(mirror.name + ".stage")
    # Strays of a pull that was killed.
    shutil.rmtree(stage, ignore_errors=True)
    for folder in (mirror, stage):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with link.shell() as words:
        sources = [f"box:{there.rstrip('/')}/./{folder}" for folder in folders]
        command = ["rsync", *_OPTIONS, f"--temp-dir={stage}", "-e", shlex.join(words), "--"]
        try:
            ended = run_child(
                [*command, *sources, f"{mirror}/"], stdin=b"", deadline=deadline, most=_SAID, environ=environ
            )
        except Late as problem:
            raise Cut(f"{link.address}: {problem}") from None
    said = ended.err.decode(errors="backslashreplace").strip()
    match ended.status:
        case 0 | 24:  # 24: a file was moved while it was read; the next pull finds it
            return ""
        case 23:
            return said
        case 10 | 12 | 30 | 35 | 255:
            raise Cut(f"{link.address}: the connection ended in the middle of a pull ({said[-200:]!a})")
        case status:
            raise Unavailable(f"{link.address}: rsync ended with {status} ({said[-200:]!a})")


def _check_mark(link: Link, there: str, task: str) -> None:
    ended = link.run(["cat", f"{there.rstrip('/')}/{MARK}"])
    if ended.status or ended.out.decode(errors="replace").strip() != task:
        raise Emptied(
            f"{link.address}: {there} lacks the file {MARK} of task {task}: it was emptied, or its disk "
            "is not mounted; nothing is brought until it is back"
        )
