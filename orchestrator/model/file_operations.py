"""File operations: what an agent that touches no file wants done to files (FILES, F1 and F2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OperationKind(StrEnum):
    """What is to be done to a file."""

    CREATE = "create"
    EDIT = "edit"
    DELETE = "delete"
    APPEND = "append"


@dataclass(frozen=True, slots=True)
class FullContent:
    """The whole new text of a file."""

    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of an edit: these lines become those. Lines have no line ends.

    `line` is where the old lines are said to begin (1 is the first line), or 0 if that is not said. `before` and
    `after` count the lines of context at both ends: lines that stay. `old_open` and `new_open` say whether the last
    line ends without a line break, None where that is not said.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    line: int = 0
    before: int = 0
    after: int = 0
    old_open: bool | None = None
    new_open: bool | None = None


@dataclass(frozen=True, slots=True)
class Hunks:
    """The places of an edit, from a unified diff (`ordered`: from top to bottom) or from search-and-replace blocks."""

    hunks: tuple[Hunk, ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class FileOperation:
    """One operation on one file.

    `change` is the new text (create, append, edit) or the places to change (edit); None for delete. `path` is as the
    agent wrote it and is not checked yet.
    """

    kind: OperationKind
    path: str
    description: str
    change: FullContent | Hunks | None = None
    verify: bool = True


@dataclass(frozen=True, slots=True)
class FileOperations:
    """All that an agent handed in: its operations in their order, and what it says about them."""

    operations: tuple[FileOperation, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class OperationFault:
    """One thing wrong with what was handed in: which operation (0 is the first; None: the whole) and the reason."""

    index: int | None
    reason: str

    def __str__(self) -> str:
        """`Operation 0: Missing description`, as the document spells it, or the bare reason."""
        return self.reason if self.index is None else f"Operation {self.index}: {self.reason}"


@dataclass(frozen=True, slots=True)
class OperationDone:
    """One operation that was carried out: `size` is how many bytes the file has now, None if there is none any more.

    What was written was read back from the disk, and has the size and the hash that it was to have.
    """

    kind: OperationKind
    path: str
    description: str
    size: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationsRecord:
    """What became of the file operations that one run handed in. `at` is in seconds since the epoch.

    `done` are those that were carried out, the first ones of `count`. `faults` are the reasons why none of them stands:
    then `done` is empty, and `rolled_back` says whether some had been carried out and were taken back. `unconfirmed`
    are the files whose delete somebody must confirm first, each with its first lines. `undone` is when `task undo`
    reversed them, in seconds since the epoch; 0 if it did not.
    """

    at: float
    run: str
    agent: str
    title: str
    count: int
    done: tuple[OperationDone, ...] = ()
    faults: tuple[str, ...] = ()
    rolled_back: bool = False
    unconfirmed: tuple[tuple[str, str], ...] = ()
    undone: float = 0.0
