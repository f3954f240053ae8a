"""The mark in each folder on a box, by which an emptied or foreign folder is known before anything is brought."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.ports.box_link import BoxLink

MARK: Final = ".orchestrator-box"
"""A file in each folder there, with the task's id: it is missing in a folder that was emptied, or is not mounted."""


class Emptied(Refused):
    """A folder there is not the one that we made: it was emptied, or replaced, or its disk is not mounted."""


# rsync enters no link, and so would find no handoff in one: what was handed in ahead of an exit was never known.
# The shell's `read` takes a file byte by byte, to its first line break: for hours where somebody put a large one there.
_READ_MARKS: Final = """
for mark; do
    task= handoffs=${mark%/*}/handoffs
    if [ -h "$handoffs" ] || { [ -e "$handoffs" ] && [ ! -d "$handoffs" ]; }; then task=/odd
    elif [ -f "$mark" ]; then task=$(dd if="$mark" bs=256 count=1 | sed -n 1p); fi
    printf '%s\\n' "$task"
done 2>/dev/null
"""


_ODD: Final = "/odd"


def unmarked(link: BoxLink, folders: Sequence[str], task: str) -> list[str]:
    """Return which of these folders there lack the mark of the task or have another's, in one round trip.

    Raises:
        Emptied: the handoffs in one of them are a link, or no folder.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    marks = [f"{folder}/{MARK}" for folder in folders]
    ended = link.run(["sh", "-c", _READ_MARKS, "sh", *marks])
    found_marks = ended.out.decode(errors="replace").split("\n")[:-1]
    if len(found_marks) != len(folders):
        return list(folders)
    odd = [f"{folder}/handoffs" for folder, found in zip(folders, found_marks, strict=True) if found == _ODD]
    if odd:
        raise Emptied(
            f"{link.address}: {odd[0]} is a link, or no folder; nothing is fetched from there until it is a plain "
            "folder again, as what agents handed in would not be found"
        )
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


def check_marks(link: BoxLink, folders: Sequence[str], task: str) -> None:
    """Check that each of these folders there has the mark of the task, in one round trip.

    Raises:
        Emptied: one has none, or another's; or its handoffs are a link, or no folder.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    if lacking := unmarked(link, folders, task):
        raise emptied(link.address, lacking, task)
