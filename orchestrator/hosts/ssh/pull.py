"""Fetching files from a box into a mirror here, by rsync over the shared connection.

The mirror is ours alone: no agent works in it, nobody watches it, and nothing in it is ever deleted. So an interrupted
transfer, a stray file or an emptied box can do no harm. What is published from it into a task's folder is decided
elsewhere.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.rsync import BOX, DEADLINE, Transfer, rsync
from orchestrator.model.errors import Refused

MARK: Final = ".orchestrator-box"
"""A file in each folder there, with the task's id: it is missing in a folder that was emptied, or is not mounted."""

LARGEST: Final = 64 * 1_048_576
"""The maximum size of a file that is fetched."""

# No --delete of any kind, no --partial, no --inplace: see the module. Links are not fetched (they may lead anywhere),
# nor devices and pipes; the box does not determine a file's mode.
_OPTIONS: Final = (
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


class Emptied(Refused):
    """A folder there is not the one that we made: it was emptied, or its disk is not mounted."""


@dataclass(frozen=True, slots=True)
class Took:
    """The result of rsync: the files that it fetched, or would fetch, with their sizes in bytes; what it left, and why.

    `said` are its own error messages. Unless `whole`, there were more files than could be listed or fetched.
    """

    files: tuple[tuple[str, int], ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    said: str = ""
    whole: bool = True


TREE: Final = "tree"
"""The name of a mirror in the folder of its task; the record of it is beside it."""


def clear(folder: Path) -> None:
    """Delete the mirrors in a task's folder; their records stay. Raises OSError."""
    for name in (TREE, f"{TREE}{_STAGE}"):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)


_STAGE: Final = ".stage"
_READ_MARKS: Final = """
for mark; do
    task=
    if [ -f "$mark" ]; then IFS= read -r task 2>/dev/null <"$mark"; fi
    printf '%s\\n' "$task"
done 2>/dev/null
"""


def unmarked(link: Link, folders: Sequence[str], task: str) -> list[str]:
    """Return which of these folders there lack the mark of the task or have another's, in one round trip.

    Raises:
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    marks = [f"{folder}/{MARK}" for folder in folders]
    ended = link.run(["sh", "-c", _READ_MARKS, "sh", *marks])
    found_marks = ended.out.decode(errors="replace").split("\n")[:-1]
    if len(found_marks) != len(folders):
        return list(folders)
    return [folder for folder, found in zip(folders, found_marks, strict=True) if found != task]


def emptied(address: object, folders: Sequence[str], task: str) -> Emptied:
    """Return the error that names the folders that are not those that we made, and what to do."""
    marks = [f"{folder}/{MARK}" for folder in folders]
    return Emptied(
        f"{address}: {' and '.join(folders)} {'lack' if len(folders) > 1 else 'lacks'} the file {MARK} of task {task}: "
        "emptied, or on a disk that is not mounted; nothing is fetched from there until it is back. If it was emptied "
        f"on purpose, make it anew there: {shlex.join(['mkdir', '-p', *folders])} && "
        f"echo {task} | {shlex.join(['tee', *marks])}"
    )


def check_marks(link: Link, folders: Sequence[str], task: str) -> None:
    """Check that each of these folders there has the mark of the task, in one round trip.

    Raises:
        Emptied: one has none, or another's.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    if lacking := unmarked(link, folders, task):
        raise emptied(link.address, lacking, task)


@dataclass(frozen=True, slots=True)
class Mirror:
    """A copy here of files on a box. `folder` is made if it is missing, `environ` is the environment of rsync."""

    link: Link
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
        only_list: bool = False,
        budget: int | None = None,
        deadline: float = DEADLINE,
    ) -> Took:
        """Fetch new files below `sources`, each whole or not at all; or only list them.

        Args:
            sources: Absolute paths there; the part after `/./` is the name in the mirror.
            rules: Filters of rsync: `+ /handoffs/*`; the first that matches counts.
            names: Fetch only these, below the one source; folders among them come empty, unless `deep`.
            largest: The maximum size in bytes of a file that is fetched.
            deep: Also fetch the content of named folders.
            only_list: Change nothing; return what would be fetched, as far as it can be listed in 1 MB.
            budget: Bytes of all files together; the file that exceeds it is the last one.
            deadline: Seconds that it may take.

        Raises:
            Cut: the connection ended, or time was up. Files fetched until then stay.
            Unreachable, NotLetIn: there is no connection.
            Unavailable: rsync is missing, or failed; a full disk here is one reason.

        """
        if not all(source.startswith("/") for source in sources):
            raise Refused("a pull needs absolute paths")
        options = [*_OPTIONS, f"--temp-dir={self._stage()}", f"--max-size={largest}"]
        options += [f"--filter={rule}" for rule in rules]
        options += ["--recursive"] if names is None else ["--dirs", "--from0", "--files-from=-"]
        options += ["--recursive"] if names is not None and deep else []
        options += ["--dry-run"] if only_list else []
        ends = ["--", *(f"{BOX}:{source}" for source in sources), f"{self.folder}/"]
        stdin = b"".join(os.fsencode(name) + b"\0" for name in names or ())
        done = rsync(
            self.link,
            [*options, *ends],
            self.environ,
            stdin=stdin,
            deadline=deadline,
            cut_short=only_list,
            budget=budget,
        )
        return _result_of(done, largest)

    def _stage(self) -> Path:
        """Return a folder beside it for incomplete files, without the leftovers of a pull that was killed."""
        stage = self.folder.with_name(self.folder.name + _STAGE)
        shutil.rmtree(stage, ignore_errors=True)
        for folder in (self.folder, stage):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return stage


def _result_of(done: Transfer, largest: int) -> Took:
    files, left = list[tuple[str, int]](), list[tuple[str, str]]()
    for line in done.out.split(b"\n"):
        if found := _FILE.fullmatch(line):
            if not found[2].endswith(b"/"):
                files.append((_name(found[2]), int(found[1])))
        elif found := _NOT_PLAIN.fullmatch(line):
            left.append((_name(found[1]), "it is a link, a pipe or a device"))
        elif found := _TOO_LARGE.fullmatch(line):
            left.append(
                (_name(found[1]), f"it is larger than the {largest:,} bytes that are fetched of a file")
            )
    return Took(tuple(files), tuple(left), done.said, done.whole)


def _name(shown: bytes) -> str:
    r"""Return the name that rsync printed: it writes unprintable bytes as `\#ooo`, and such a backslash too."""
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), shown))
