"""What lies on a box, brought into a mirror here by rsync over the shared connection.

The mirror is ours alone: no agent works in it, nobody watches it, and nothing in it is ever deleted. So a cut,
a stray or an emptied box can harm nothing; what goes from it into a task's folder is for somebody else to decide.
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
"""A file in each folder there, with the task's id: a folder that was emptied, or is not mounted, lacks it."""

LARGEST: Final = 64 * 1_048_576
"""Bytes of a file that is brought at most."""

# No --delete of any kind, no --partial, no --inplace: see the module. Links are not brought (they may lead
# anywhere), nor devices and pipes; what may be done with a file is not the box's to say.
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
    """What rsync told: the files that it brought, or would bring, with their sizes in bytes; what it left, and why.

    `said` is what it could not do, in its own words. Unless `whole`, there were more than could be listed or brought.
    """

    files: tuple[tuple[str, int], ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    said: str = ""
    whole: bool = True


TREE: Final = "tree"
"""The name of a mirror in the folder of its task; what is known of it lies beside it."""


def clear(folder: Path) -> None:
    """Free what was mirrored in a task's folder; what is known of it stays. Raises OSError."""
    for name in (TREE, f"{TREE}{_STAGE}"):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)


_STAGE: Final = ".stage"
_READ_MARKS: Final = """
for mark; do
    task=
    IFS= read -r task 2>/dev/null <"$mark"
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
    told = ended.out.decode(errors="replace").split("\n")[:-1]
    if len(told) != len(folders):
        return list(folders)
    return [folder for folder, found in zip(folders, told, strict=True) if found != task]


def emptied(address: object, folders: Sequence[str], task: str) -> Emptied:
    """Return the error that tells which folders there are not those that we made, and what to do."""
    marks = [f"{folder}/{MARK}" for folder in folders]
    return Emptied(
        f"{address}: {' and '.join(folders)} {'lack' if len(folders) > 1 else 'lacks'} the file {MARK} of task {task}: "
        "emptied, or on a disk that is not mounted; nothing is brought from there until that is back. Was it emptied "
        f"on purpose, begin anew there: {shlex.join(['mkdir', '-p', *folders])} && "
        f"echo {task} | {shlex.join(['tee', *marks])}"
    )


def check_marks(link: Link, folders: Sequence[str], task: str) -> None:
    """See that each of these folders there has the mark of the task, in one round trip.

    Raises:
        Emptied: one has none, or another's.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    if lacking := unmarked(link, folders, task):
        raise emptied(link.address, lacking, task)


@dataclass(frozen=True, slots=True)
class Mirror:
    """A copy here of what lies on a box. `folder` is made if it is missing, `environ` is the environment of rsync."""

    link: Link
    folder: Path
    environ: Mapping[str, str]

    def bring(  # noqa: PLR0913 (each says what comes, and they go together)
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
        """Bring what is new beneath `sources`, each file whole or not at all; or only list it.

        Args:
            sources: Absolute paths there; what stands behind `/./` is the name in the mirror.
            rules: Filters of rsync: `+ /handoffs/*`; the first that matches counts.
            names: Bring these alone, beneath the one source; folders among them come empty, unless `deep`.
            largest: Bytes of a file that is brought at most.
            deep: Bring what is in folders that are named, too.
            only_list: Change nothing; say what would be brought, as far as it can be listed in 1 MB.
            budget: Bytes of all files together; the one that goes beyond is the last.
            deadline: Seconds that it may take.

        Raises:
            Cut: the connection ended, or time was up. What was brought until then stays.
            Unreachable, NotLetIn: there is no connection.
            Unavailable: rsync is missing, or failed; a full disk here is one reason.

        """
        if not all(source.startswith("/") for source in sources):
            raise Refused("a pull goes from absolute paths")
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
        return _told(done, largest)

    def _stage(self) -> Path:
        """Return a folder beside it for what is not whole yet, without the strays of a pull that was killed."""
        stage = self.folder.with_name(self.folder.name + _STAGE)
        shutil.rmtree(stage, ignore_errors=True)
        for folder in (self.folder, stage):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return stage


def _told(done: Transfer, largest: int) -> Took:
    files, left = list[tuple[str, int]](), list[tuple[str, str]]()
    for line in done.out.split(b"\n"):
        if found := _FILE.fullmatch(line):
            if not found[2].endswith(b"/"):
                files.append((_name(found[2]), int(found[1])))
        elif found := _NOT_PLAIN.fullmatch(line):
            left.append((_name(found[1]), "it is a link, a pipe or a device"))
        elif found := _TOO_LARGE.fullmatch(line):
            left.append(
                (_name(found[1]), f"it is larger than the {largest:,} bytes that are brought of a file")
            )
    return Took(tuple(files), tuple(left), done.said, done.whole)


def _name(shown: bytes) -> str:
    r"""Return the name that rsync showed: it writes what is not printable as `\#ooo`, and such a backslash too."""
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), shown))
