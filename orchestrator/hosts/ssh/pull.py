"""Fetching files from a box into a mirror here, by rsync over the shared connection.

The mirror is ours alone: no agent works in it, nobody watches it, and nothing in it is ever deleted. So an interrupted
transfer, a stray file or an emptied box can do no harm. What is published from it into a task's folder is decided
elsewhere.

rsync fills a folder beside it, `incoming`, and what is whole there, and within the limits, is moved into the mirror. A
large file may be in part there, of a transfer that was cut off or gave way: the next one continues from that. (The
option for that, --partial-dir, fails on such a file in rsync 3.2.7 as Debian 12 has it.)
"""

from __future__ import annotations

import math
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.hosts.ssh.bounds import LARGEST, Quota
from orchestrator.hosts.ssh.rsync import BOX, DEADLINE, Transfer, rsync
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import BoxLink, Cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# No --delete of any kind, no --inplace: see the module. Links are not fetched (they may lead anywhere), nor devices and
# pipes; the box does not determine a file's mode.
_OPTIONS: Final = (
    "--partial",
    "--relative",
    "--times",
    "--omit-dir-times",
    "--chmod=D0700,F0600",
    "--modify-window=-1",  # to the nanosecond: a report may be written twice in a second
    "--info=NONREG1,SKIP1",
    "--no-human-readable",
    "--out-format=>%l %n",
)
_FILE: Final = re.compile(rb">([0-9]{1,20}) (.*)")
_NOT_PLAIN: Final = re.compile(rb'skipping non-regular file "(.*)"')
_TOO_LARGE: Final = re.compile(rb"(.*) is over max-size")
_ESCAPED: Final = re.compile(rb"\\#([0-3][0-7]{2})")


@dataclass(frozen=True, slots=True)
class Took:
    """The result of rsync: the files that it fetched, or would fetch, with their sizes in bytes; what it left, and why.

    `said` are its own error messages. Unless `whole`, there were more files than could be listed or fetched;
    `gave_way`: because something else was to be done; `over`: because there was more than it may bring at once.
    """

    files: tuple[tuple[str, int], ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    said: str = ""
    whole: bool = True
    gave_way: bool = False
    over: bool = False


NOT_A_FILE: Final = "it is a link, a pipe or a device"

TREE: Final = "tree"
"""The name of a mirror in the folder of its task; the record of it is beside it."""


def clear(folder: Path) -> None:
    """Delete the mirrors in a task's folder; their records stay. Raises OSError."""
    for name in (TREE, f"{TREE}{_STAGE}", f"{TREE}{_INCOMING}"):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)


_STAGE: Final = ".stage"
_INCOMING: Final = ".incoming"
_UNVERIFIED: Final = "failed verification"
_PARTS: Final = 2  # files of which a part is kept
_PART_NS: Final = 1_123_456_789
"""The time of a part, in nanoseconds since the epoch: rsync takes a file of the same size and time for the same one."""
_AHEAD: Final = 3600.0
"""Seconds: a file that is so far ahead of our clock has its time from a box, not from having been written here."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """A copy here of files on a box. `folder` is made if it is missing, `environ` is the environment of rsync."""

    link: BoxLink
    folder: Path
    environ: Mapping[str, str]

    def bring(  # noqa: PLR0913 (they all select files, and belong together)
        self,
        sources: Sequence[str],
        *,
        rules: Sequence[str] = (),
        names: Sequence[str] | None = None,
        largest: int = LARGEST,
        deep: bool = False,
        follow: bool = False,
        only_list: bool = False,
        quota: Quota | None = None,
        go_on: Callable[[], bool] | None = None,
        deadline: float = DEADLINE,
    ) -> Took:
        """Fetch new files below `sources`, each whole or not at all; or only list them.

        Args:
            sources: Absolute paths there; the part after `/./` is the name in the mirror.
            rules: Filters of rsync: `+ /handoffs/*`; the first that matches counts.
            names: Fetch only these, below the one source; folders among them come empty, unless `deep`.
            largest: The maximum size in bytes of a file that is fetched.
            deep: Also fetch the content of named folders.
            follow: Fetch what the names lead to that are links themselves, as plain files of these names.
            only_list: Change nothing; return what would be fetched, as far as it can be listed in 1 MB.
            quota: What all files together may be; what is beyond it does not come.
            go_on: Returns whether to go on, at any time. It continues with the next call.
            deadline: Seconds that it may take.

        Raises:
            Cut: the connection ended, or time was up and nothing came. Files fetched until then stay.
            Unreachable, NotLetIn: there is no connection.
            Unavailable: rsync is missing, or failed; a full disk here is one reason.

        """
        if not all(source.startswith("/") for source in sources):
            raise Refused("a pull needs absolute paths")
        incoming, stage = self._beside()
        options = [*_OPTIONS, f"--temp-dir={stage}", f"--compare-dest={self.folder}", f"--max-size={largest}"]
        options += _selecting(rules, by_name=names is not None, deep=deep)
        options += ["--copy-links"] if follow else []
        options += ["--dry-run"] if only_list else []
        ends = ["--", *(f"{BOX}:{source}" for source in sources), f"{incoming}/"]
        before, began = _identified(incoming), time.time()
        try:
            done = rsync(
                self.link,
                [*options, *ends],
                self.environ,
                stdin=b"".join(os.fsencode(name) + b"\0" for name in names or ()),
                deadline=deadline,
                only_list=only_list,
                quota=quota,
                go_on=go_on,
            )
        except Cut as problem:
            return self._after_cut(problem, incoming, _Whole(before, began, time.time() + _AHEAD), quota)
        if only_list:
            return _result_of(done, largest)
        ended = done.whole and _UNVERIFIED not in done.said
        whole = _Whole(before, math.inf if ended else began, time.time() + _AHEAD, ended=ended)
        return self._after(done, _result_of(done, largest), incoming, whole, quota)

    def _after_cut(self, problem: Cut, incoming: Path, whole: _Whole, quota: Quota | None) -> Took:
        """Move what came until a transfer was cut off, and return that; raise the problem if nothing gets on."""
        moved = self._move(incoming, whole, quota)
        if problem.stands and (moved.files or _identified(incoming) != whole.parts):
            # It is slow, and gets on.
            return replace(moved, whole=False)
        raise problem

    def _after(self, done: Transfer, took: Took, incoming: Path, whole: _Whole, quota: Quota | None) -> Took:
        """Move what a transfer has brought, and return what it `took` with that."""
        moved = self._move(incoming, whole, quota)
        if done.whole and not (whole.ended or moved.files):
            raise Unavailable(f"{self.link.address}: {done.said[-200:]}")
        over = moved.over or not (done.whole or done.gave_way)
        if over and quota is not None:
            for path, _ in parts_of(incoming):  # of what is too much
                path.unlink()
        return replace(
            took,
            files=moved.files,
            left=(*took.left, *moved.left),
            whole=whole.ended and not moved.over,
            over=over,
        )

    def _beside(self) -> tuple[Path, Path]:
        """Return the folders beside it for files that come, without the leftovers of a pull that was killed."""
        incoming, stage = (self.folder.with_name(self.folder.name + end) for end in (_INCOMING, _STAGE))
        shutil.rmtree(stage, ignore_errors=True)
        for folder in (self.folder, incoming, stage):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, _ in sorted(parts_of(incoming), key=lambda part: part[1])[:-_PARTS]:
            path.unlink()
        for path, _ in parts_of(incoming):
            os.utime(path, ns=(_PART_NS, _PART_NS))
        return incoming, stage

    def _move(self, incoming: Path, whole: _Whole, quota: Quota | None) -> Took:
        """Move what is whole in a folder into the mirror, as far as it may come; parts stay there."""
        files, left, over = list[tuple[str, int]](), list[tuple[str, str]](), False
        counting = None if quota is None else quota.copy()
        for folder, _, names in os.walk(incoming, topdown=False):
            here = Path(folder)
            there = self.folder / here.relative_to(incoming)
            if not there.is_dir():
                there.unlink(missing_ok=True)
                there.mkdir(mode=0o700, parents=True)
            for each in names:
                path, size = here / each, (here / each).lstat().st_size
                name = str(path.relative_to(incoming))
                match whole.is_so(path):
                    case None:
                        continue
                    case True if counting is not None and not counting.take(name, size):
                        over = True
                        path.unlink()
                    case True if (there / each).is_dir():
                        left.append((name, "a folder of this name was fetched before"))
                        path.unlink()
                    case True:
                        path.replace(there / each)
                        files.append((name, size))
                    case False:
                        path.unlink()
            if here != incoming:
                with suppress(OSError):  # a part of a file is in it
                    here.rmdir()
        return Took(tuple(files), tuple(left), over=over)


@dataclass(frozen=True, slots=True)
class _Whole:
    """Which files that rsync has brought are whole.

    It gives a part of a file a time at the beginning of time, which a whole one may have, too. A file of which it could
    not verify the content keeps the time at which it was written here. What continues a part is a new file in its
    place.

    Args:
        parts: The parts that were there before, with their inodes.
        until: Files with a time before that are whole, in seconds since the epoch.
        beyond: So are those with a time after that.
        ended: It has come to its end: there is no new part.

    """

    parts: set[tuple[Path, int]]
    until: float
    beyond: float
    ended: bool = False

    def is_so(self, path: Path) -> bool | None:
        """Return whether a file is whole; None for a part, which may become so."""
        found = path.lstat()
        if (path, found.st_ino) in self.parts:
            return None
        if int(found.st_mtime) == 0:
            return True if self.ended else None
        return found.st_mtime < self.until or found.st_mtime > self.beyond


def _selecting(rules: Sequence[str], *, by_name: bool, deep: bool) -> list[str]:
    """Return rsync's options that select files: by filters, and below sources, or by names from standard input."""
    # In the order of the sources, each to its end, before the first file of the next one is looked at.
    options = ["--no-inc-recursive", *(f"--filter={rule}" for rule in rules)]
    options += ["--dirs", "--from0", "--files-from=-"] if by_name else []
    return options if by_name and not deep else [*options, "--recursive"]


def parts_of(incoming: Path) -> set[tuple[Path, int]]:
    """Return the files of which a part is in a folder, with the size of that."""
    found = [Path(folder, name) for folder, _, names in os.walk(incoming) for name in names]
    return {(path, path.lstat().st_size) for path in found}


def _identified(incoming: Path) -> set[tuple[Path, int]]:
    """Return the files in a folder with their inodes."""
    return {(path, path.lstat().st_ino) for path, _ in parts_of(incoming)}


def _result_of(done: Transfer, largest: int) -> Took:
    files, left = list[tuple[str, int]](), list[tuple[str, str]]()
    for line in done.out.split(b"\n"):
        if found := _FILE.fullmatch(line):
            if not found[2].endswith(b"/"):
                files.append((_name(found[2]), int(found[1])))
        elif found := _NOT_PLAIN.fullmatch(line):
            left.append((_name(found[1]), NOT_A_FILE))
        elif found := _TOO_LARGE.fullmatch(line):
            name = _name(found[1])
            left.append(
                (name, too_large(largest, is_setting=not name.startswith(("handoffs/", "requests/"))))
            )
    return Took(tuple(files), tuple(left), done.said, done.whole, done.gave_way)


def too_large(largest: int, *, is_setting: bool) -> str:
    """Return the reason for which a file is not fetched, and what to do; `is_setting`: the user may raise the limit."""
    remedy = ", or have the user raise max_artifact_bytes in [limits]" if is_setting else ""
    return f"it is larger than the {largest:,} bytes that are fetched of such a file: make it smaller{remedy}"


def _name(shown: bytes) -> str:
    r"""Return the name that rsync printed: it writes unprintable bytes as `\#ooo`, and such a backslash too."""
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), shown))
