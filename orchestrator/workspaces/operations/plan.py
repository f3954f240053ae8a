"""What operations would do, worked out whole before anything is written: every fault with its index (F3, F5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from orchestrator.formats.operations.patching import edited
from orchestrator.formats.operations.read import BadOperations
from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import (
    FileOperation,
    FileOperations,
    FullContent,
    Hunks,
    OperationFault,
    OperationKind,
)
from orchestrator.model.hands import Deletes
from orchestrator.pm.permissions.paths import protected, secret
from orchestrator.workspaces.operations import tree
from orchestrator.workspaces.operations.tree import FILE_BYTES, Known

PERMISSIONS: Final = 0o777
"""The mode bits that a changed file keeps. As whenever a file is written, it runs as nobody else any more (setuid)."""

LARGE: Final = 1_000_000
"""From how many bytes on a file is warned about."""

PREVIEW_LINES: Final = 20
"""How many lines of a file are shown before it is deleted."""

NAME_BYTES: Final = 255
PATH_BYTES: Final = 1023
"""How long a name and a path may be: every system and every program finds such a file again."""

SYSTEM: Final = (
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib64",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
)
"""Folders of the system, directly below `/`: refused if a root is `/` itself or one of them."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What operations may do: the folders that they may write below, and which deletes are confirmed, as paths."""

    roots: tuple[Path, ...]
    deletes: Deletes = Deletes.ASK
    confirmed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """One operation, ready: the file `parts` below `root`, what it is before and after, and the bytes of both.

    None means that there is no file. `folders` are to be made for it first, outermost first.
    """

    index: int
    operation: FileOperation
    root: Path
    parts: tuple[str, ...]
    before: Known | None
    old: bytes | None
    after: Known | None
    new: bytes | None
    folders: tuple[tuple[str, ...], ...] = ()
    confidence: float = 1.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, and the deletes that somebody has to confirm first: index, path, and the file's first lines."""

    steps: tuple[Step, ...]
    unconfirmed: tuple[tuple[int, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _State:
    data: bytes | None
    known: Known | None


def planned(operations: FileOperations, policy: Policy) -> Plan:
    """Return what the operations would do, one after the other. Nothing is written.

    Raises:
        BadOperations: some of them cannot be done; all their faults, each with its index.

    """
    files, folders = dict[tuple[Path, tuple[str, ...]], _State](), set[tuple[Path, tuple[str, ...]]]()
    steps, faults = list[Step](), list[OperationFault]()
    for index, operation in enumerate(operations.operations):
        try:
            root, parts = _placed(operation.path, policy.roots)
            state = files.get((root, parts)) or _state(root, parts)
            made = _missing(root, parts, folders, files)
            step = _step(index, operation, (root, parts), state, made)
            _refuse_delete(operation, policy)
        except Refused as error:
            faults.append(OperationFault(index, f"{operation.path[:200]!a}: {error}"))
            continue
        folders |= {(root, each) for each in made}
        files[root, parts] = _State(step.new, step.after)
        steps.append(step)
    if faults:
        raise BadOperations(faults)
    asked = tuple(
        (step.index, step.operation.path, _preview(step.old or b""))
        for step in steps
        if step.after is None
        and policy.deletes is Deletes.ASK
        and step.operation.path not in policy.confirmed
    )
    return Plan(tuple(steps), asked)


def _refuse_delete(operation: FileOperation, policy: Policy) -> None:
    if operation.kind is OperationKind.DELETE and policy.deletes is Deletes.REFUSE:
        raise Refused("deletes are refused here")


def _placed(path: str, roots: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """Return the root that a path lies below, and its parts from there on."""
    if any(ord(sign) < 0x20 or ord(sign) == 0x7F for sign in path):  # noqa: PLR2004 (control characters)
        raise Refused("a path holds no control characters")
    parts = path.split("/")[1:]
    if not path.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        raise Refused("a path is absolute, and none of its parts is empty, '.' or '..'")
    if any(len(part.encode("utf-8", "replace")) > NAME_BYTES for part in parts):
        raise Refused(f"a name has at most {NAME_BYTES} bytes")
    if len(path.encode("utf-8", "replace")) > PATH_BYTES:
        raise Refused(f"a path has at most {PATH_BYTES} bytes")
    whole = Path(path)
    root = max(
        (each for each in roots if each in whole.parents), key=lambda each: len(each.parts), default=None
    )
    if root is None:
        raise Refused(f"lies in none of the allowed folders: {', '.join(map(str, roots))}")
    if secret(path):
        raise Refused("such files hold secrets")
    if protected(path):
        raise Refused("it controls git or an agent's own program")
    if len(root.parts) <= 2 and whole.parts[1] in SYSTEM:  # noqa: PLR2004 (`/` or `/etc`)
        raise Refused("it is the system's")
    return root, whole.relative_to(root).parts


def _state(root: Path, parts: tuple[str, ...]) -> _State:
    found = tree.read(root, parts)
    return _State(*found) if found else _State(None, None)


def _missing(
    root: Path,
    parts: tuple[str, ...],
    made: set[tuple[Path, tuple[str, ...]]],
    files: dict[tuple[Path, tuple[str, ...]], _State],
) -> tuple[tuple[str, ...], ...]:
    """Return the folders above a file that have to be made, those of earlier operations left out."""
    above = [parts[:count] for count in range(1, len(parts))]
    for each in above:
        earlier = files.get((root, each))
        if earlier is not None:
            raise Refused(f"{'/'.join(each)[:200]!a} is a file of another operation")
    if (root, parts) in made:
        raise Refused("is a folder of another operation")
    return tuple(each for each in above if (root, each) not in made and not tree.is_folder(root, each))


def _step(
    index: int,
    operation: FileOperation,
    place: tuple[Path, tuple[str, ...]],
    state: _State,
    made: tuple[tuple[str, ...], ...],
) -> Step:
    root, parts = place
    if operation.kind is OperationKind.CREATE and state.data is not None:
        raise Refused("exists: use edit")
    if operation.kind is not OperationKind.CREATE and state.data is None:
        raise Refused(
            "does not exist" + (": use create" if operation.kind is not OperationKind.DELETE else "")
        )
    text, confidence, notes = _changed(operation, state.data)
    new = None if text is None else text.encode()
    after = None
    if new is not None:
        if len(new) > FILE_BYTES:
            raise Refused(f"would have {len(new)} bytes: at most {FILE_BYTES} are allowed")
        if len(new) > LARGE:
            notes = (*notes, f"large file: {len(new)} bytes")
        mode = state.known.mode & PERMISSIONS if state.known else 0o644
        after = Known(sha256(new).hexdigest(), len(new), mode)
    folders = made if operation.kind is OperationKind.CREATE else ()
    return Step(
        index, operation, root, parts, state.known, state.data, after, new, folders, confidence, notes
    )


def _changed(operation: FileOperation, old: bytes | None) -> tuple[str | None, float, tuple[str, ...]]:
    """Return the text of a file after an operation (None: no file), how sure it is, and what was not as said."""
    match operation.change:
        case None:
            return None, 1.0, ()
        case FullContent(text) if operation.kind is OperationKind.APPEND:
            return _text(old or b"") + text, 1.0, ()
        case FullContent(text):
            return text, 1.0, ()
        case Hunks() as hunks:
            made = edited(_text(old or b""), hunks)
            return made.text, made.confidence, made.notes


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("is not UTF-8: give its whole new text") from None


def _preview(data: bytes) -> str:
    return "\n".join(data.decode("utf-8", "replace").split("\n")[:PREVIEW_LINES])
