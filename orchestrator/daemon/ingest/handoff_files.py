"""What is known of a file in `handoffs/` by its name and its stat data alone."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.ports.files import Entry, Files, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.ingest.foreign_files import Stamp
    from orchestrator.model.limits import Limits
    from orchestrator.pm.state.task_state import PMState

PM: Final = "pm"
YEAR: Final = 4  # digits; fewer of them are an instance's number


def history(files: Files, folder: Path, limits: Limits) -> dict[str, str]:
    """Return the files in a task's `handoffs/` before its first start, by name and hash: none of them is news."""
    found = {}
    for entry in files.entries(layout.handoffs(folder)):
        try:
            data = files.read(layout.handoffs(folder) / entry.name, limits.max_handoff_bytes)
            digest = sha256(data).hexdigest()
        except Unreadable as error:
            digest = digest_of_unreadable(entry, written_name(str(error)))
        found[written_name(entry.name)] = digest
    return found


def digest_of_unreadable(entry: Entry, reason: str) -> str:
    """Return a substitute for the content hash of a file that cannot be read: it changes when the file does."""
    stamp = entry.inode, entry.mtime_ns, entry.size
    return sha256(f"{stamp}{reason}".encode()).hexdigest()


def stamp_of(entry: Entry) -> Stamp:
    """Return one number that distinguishes files of the same name; it is kept for each file."""
    return hash((entry.inode, entry.mtime_ns, entry.size))


def written_name(text: str) -> str:
    """Return a file's name as valid text: a name may contain bytes that are no UTF-8."""
    if text.isascii():
        return text
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def saver_of(name: str, state: PMState) -> str:
    """Return the instance that a file with a temporary name claims; empty if none."""
    return claimed_instance(name.lstrip(".#"), state)


def claimed_instance(name: str, state: PMState) -> str:
    """Return the instance that a misnamed file claims: the longest known instance that its name begins with.

    The rest must not continue the word, or be the number of a second instance: `developer.md` and `dev-2-report.md` do
    not belong to `dev`.
    """
    known = {*state.runs.latest, PM}
    claimed = [
        each for each in known if _goes_on_otherwise(name.removeprefix(each)) and name.startswith(each)
    ]
    return max(claimed, key=len, default="")


def _goes_on_otherwise(rest: str) -> bool:
    number = rest[1:].partition("-")[0].partition(".")[0] if rest.startswith("-") else ""
    return not rest[:1].isalnum() and not (number.isdigit() and len(number) < YEAR)
