"""Locks of git's: the file `NAME.lock` that a git makes while it changes NAME, and leaves behind when it is killed.

Git takes every lock that it finds for held. Here a lock is *stale* only if it has lain there for longer than any git of
ours may take, and nobody who lives can hold it: nobody has it open, and no git works in this repository that began
before the lock was last written. A git may close its lock and keep it (while an editor or a hook runs), so that who has
it open is not all.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import plain_files
from orchestrator.formats.amounts import span_said
from orchestrator.model.errors import OrchestratorError, Refused, Unavailable
from orchestrator.workspaces.git_process import GitFailed

if TYPE_CHECKING:
    from orchestrator.hosts.processes import Row

LONGEST_HELD: Final = 60.0
"""Seconds for which a git of ours may hold a lock, unless `git.timeout` says so: after that it is killed."""

OF_THE_REPOSITORY: Final = ("packed-refs.lock", "HEAD.lock", "index.lock", "config.lock", "shallow.lock")
"""The locks that a git which was killed leaves in the repository's own folder."""

_SAID: Final = re.compile(r"Unable to create '(.+\.lock)': File exists")
_SLACK: Final = 1.0  # seconds: files and processes are timed by different clocks
_LONGEST: Final = 8192  # bytes of a file `.git`
_NAMED: Final = 3

_first_seen: dict[tuple[int, int], float] = {}
"""When each lock was seen first, by the monotonic clock: its own time may lie in the future."""


class Locked(Unavailable):
    """A lock of git's that may be held, or is too young to tell."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that lies there.

    `age` is for how many seconds it surely has; `holders` are the processes that may hold it, as people are told them.
    """

    path: Path
    age: float
    holders: tuple[str, ...]

    def is_stale(self, patience: float) -> bool:
        """Tell whether nobody holds it: it has lain there for more than `patience` seconds, and nobody can."""
        return self.age > patience and not self.holders

    def story(self, patience: float) -> str:
        """Say what is known of it, and what to do."""
        if self.holders:
            named = ", ".join(self.holders[:_NAMED])
            return f"{self.path} may be held by {named}: it is waited for until that process has ended"
        if not self.is_stale(patience):
            return f"{self.path} is young, and may be held: it is waited for"
        return (
            f"{self.path} has lain there for {span_said(self.age)}, and no process that lives can hold it: "
            f"a git that was killed left it. Remove it: rm {self.path}"
        )


def lock_named(said: str) -> Path | None:
    """Return the lock that a complaint of git's says is in its way; None if it says no such thing."""
    found = _SAID.search(said)
    return Path(found[1]) if found else None


def look_at(path: Path) -> Lock | None:
    """Look at a lock; None if it is gone.

    Raises:
        Unavailable: the process table cannot be read.

    """
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    identity, now = (found.st_dev, found.st_ino), time.monotonic()
    if len(_first_seen) > 100:  # noqa: PLR2004 (more than ever lie there at once)
        _first_seen.clear()
    seen = _first_seen.setdefault(identity, now)
    since_written = max(0.0, time.time() - found.st_mtime)
    holders = tuple(_holders(identity, since_written, _repository_of(path)))
    return Lock(path, max(since_written, now - seen), holders)


def explained(error: GitFailed, patience: float) -> OrchestratorError:
    """Return what a failure of git's amounts to: a stale lock is refused, with what to do; one that may be held is not.

    `patience` is how many seconds a git may hold a lock. Any other failure is returned as it is.
    """
    path = lock_named(error.said)
    lock = look_at(path) if path is not None else None
    if lock is None:
        return error
    kind = Refused if lock.is_stale(patience) else Locked
    return kind(f"{error}: {lock.story(patience)}")


def _holders(identity: tuple[int, int], since_written: float, repository: Path) -> Iterator[str]:
    """Yield the processes that have a lock open, or are a git at work in its repository since before it was written."""
    from orchestrator.hosts.processes import pids, rows_of, uptime  # verbs that meet no lock do without

    written = uptime() - since_written
    for row in rows_of(pids()):
        pid = row.process.pid
        if (
            not row.kernel
            and pid != os.getpid()
            and (_has_open(pid, identity) or _may_hold(row, written, repository))
        ):
            yield f"process {pid} ({row.name})"


def _has_open(pid: int, identity: tuple[int, int]) -> bool:
    """Tell whether a process is seen to have a file open."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (names, not paths)
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116 (no Path is at hand)
                if (found.st_dev, found.st_ino) == identity:
                    return True
    return False


def _may_hold(row: Row, written: float, repository: Path) -> bool:
    """Tell whether a process is a git that may work in a repository since before a moment of the uptime."""
    if not row.name.startswith("git") or row.process.began > written + _SLACK:
        return False
    if not Path("/proc/self").exists():
        return True
    try:
        folder = Path(f"/proc/{row.process.pid}/cwd").readlink()
        words = Path(f"/proc/{row.process.pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return False  # it has ended
    except OSError:
        return True  # another user's
    return os.fsencode(repository) in words or _is_within(folder, repository)


def _repository_of(path: Path) -> Path:
    """Return the git folder of the repository in which a lock lies."""
    folders = path.resolve().parents
    return next((each for each in folders if (each / "objects").is_dir()), folders[0])


def _is_within(folder: Path, repository: Path) -> bool:
    """Tell whether a folder is in a tree of a repository, or in its git folder."""
    for each in (folder, *folder.parents):
        if each == repository:
            return True
        link = each / ".git"
        with contextlib.suppress(OSError):
            if link.is_dir():
                return link.resolve() == repository
            if link.is_file():
                named = plain_files.head(link, _LONGEST).removeprefix(b"gitdir: ").strip()
                return (each / os.fsdecode(named)).resolve().is_relative_to(repository)
    return False
