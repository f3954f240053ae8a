"""Applies a plan as one transaction: all of it, or nothing, also if the process is killed at any moment (F4).

::

    old bytes by hash, plan.json ─▶ per step: "begin", write, verify, "done" ─▶ "whole"
                                          at a failure, or after a kill: each step back, last first ─▶ "back"

The folder of a transaction holds `plan.json`, the bytes that were there before by their hash, and `log`. What is found
without "whole" is rolled back. A file that is neither as before nor as the plan leaves it was changed by somebody else,
and is left as it is.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.ports.files import Files, Log
from orchestrator.workspaces.operations import tree
from orchestrator.workspaces.operations.plan import Plan
from orchestrator.workspaces.operations.tree import Known

PLAN: Final = "plan.json"
LOG: Final = "log"
WHOLE: Final = "whole"
BACK: Final = "back"
UNDOING: Final = "undoing"


class Failed(OrchestratorError):
    """A step failed, and everything before it was rolled back; `left` are files that somebody else changed.

    `index` is the operation's, 0 for the first.
    """

    def __init__(self, index: int, reason: str, left: tuple[str, ...] = ()) -> None:
        self.index = index
        self.left = left
        super().__init__(f"Operation {index}: {reason}")


@dataclass(frozen=True, slots=True)
class _Place:
    """One step as `plan.json` has it."""

    root: Path
    parts: tuple[str, ...]
    before: Known | None
    after: Known | None
    folders: tuple[tuple[str, ...], ...]

    @property
    def path(self) -> str:
        return str(self.root.joinpath(*self.parts))


def apply(files: Files, folder: Path, plan: Plan) -> None:
    """Carry out a plan; `folder` is the transaction's own, new and outside of what the plan writes.

    Raises:
        Refused: some deletes are not confirmed, or the folder was used before.
        Failed: a step could not be done; the others were rolled back.
        OSError: the transaction's own folder cannot be written; `recover` later settles what was begun.

    """
    if plan.unconfirmed:
        raise Refused(f"not confirmed: the delete of {', '.join(path for _, path, _ in plan.unconfirmed)}")
    if files.entry(folder / PLAN):
        raise Refused(f"{folder} holds another transaction")
    files.make_folder(folder)
    for digest, data in {step.before.sha256: step.old or b"" for step in plan.steps if step.before}.items():
        files.write(folder / digest, data)
    places = [_Place(each.root, each.parts, each.before, each.after, each.folders) for each in plan.steps]
    files.write(folder / PLAN, json.dumps([asdict(each) for each in places], default=str).encode())
    log = files.open_log(folder / LOG)
    try:
        for nth, step in enumerate(plan.steps):
            _log(log, "begin", nth, durable=False)
            try:
                _do(places[nth], step.new, _temporary(folder, nth))
                _verify(places[nth])
                if nth == len(plan.steps) - 1:
                    _sync(places)
            except (OSError, Refused) as error:
                left = _back(files, folder, places)
                _log(log, BACK)
                raise Failed(step.index, str(error), left) from error
            _log(log, "done", nth, durable=False)
        _log(log, WHOLE)
    finally:
        log.close()


def is_whole(files: Files, folder: Path) -> bool:
    """Return whether all of a transaction was carried out, and none of it rolled back or undone since."""
    words = _words(files, folder)
    return WHOLE in words and not {BACK, UNDOING} & words


def recover(files: Files, folder: Path) -> tuple[str, ...]:
    """Settle a transaction that was cut off: roll it back, or finish its undoing. Return the files left to others.

    A transaction that is whole, was rolled back, or wrote nothing yet stays as it is.
    """
    words = _words(files, folder)
    if not files.entry(folder / PLAN) or BACK in words or (WHOLE in words and UNDOING not in words):
        return ()
    return _roll_back(files, folder)


def files_of(files: Files, folder: Path) -> tuple[str, ...]:
    """Return the files that a transaction was to change; none if it did not come to that."""
    if not files.entry(folder / PLAN):
        return ()
    return tuple(sorted({each.path for each in _places(files, folder)}))


def undoable(files: Files, folder: Path) -> tuple[str, ...]:
    """Return the files that `undo` would put back. Nothing is written.

    Raises:
        Refused: it is not whole, or was undone before, or a file is not as it left it.

    """
    words = _words(files, folder)
    if WHOLE not in words or BACK in words:
        raise Refused("there is nothing to undo: it was not applied, or was undone before")
    last = {each.path: each for each in _places(files, folder)}
    changed = sorted(path for path, each in last.items() if not _is_as_left(each))
    if changed:
        raise Refused(f"changed since: {', '.join(changed)}")
    return tuple(sorted(last))


def undo_once(files: Files, folder: Path) -> None:
    """Undo a transaction, or finish an undoing that was cut off; what was undone before stays so.

    Raises:
        Refused: as `undo` does.

    """
    if UNDOING in _words(files, folder):
        if left := recover(files, folder):
            raise Refused(f"changed while it was undone, and left as they are: {', '.join(left)}")
    else:
        undo(files, folder)


def undo(files: Files, folder: Path) -> None:
    """Reverse a transaction that is whole, if nothing else changed its files since.

    Raises:
        Refused: it is not whole, or was undone before, or a file is not as it left it: nothing is written.

    """
    undoable(files, folder)
    log = files.open_log(folder / LOG)
    try:
        _log(log, UNDOING)
    finally:
        log.close()
    if left := _roll_back(files, folder):
        raise Refused(f"changed while it was undone, and left as they are: {', '.join(left)}")


def _roll_back(files: Files, folder: Path) -> tuple[str, ...]:
    left = _back(files, folder, _places(files, folder))
    log = files.open_log(folder / LOG)
    try:
        _log(log, BACK)
    finally:
        log.close()
    return left


def _back(files: Files, folder: Path, places: list[_Place]) -> tuple[str, ...]:
    """Put each file back as it was before the first step on it. Doing so twice changes nothing more."""
    first, states = dict[str, _Place](), dict[str, set[Known | None]]()
    for each in places:
        first.setdefault(each.path, each)
        states.setdefault(each.path, set()).update((each.before, each.after))
    left = list[str]()
    for nth, each in reversed(list(enumerate(places))):
        with suppress(Refused):  # a folder that was swapped for a link holds nothing of ours
            tree.remove(each.root, (*each.parts[:-1], _temporary(folder, nth)))
        if first[each.path] is not each:
            continue
        try:
            found = _known(each)
            if found not in states[each.path]:
                left.append(each.path)
            elif found != each.before and each.before is None:
                tree.remove(each.root, each.parts)
            elif found != each.before and each.before is not None:
                data = files.read(folder / each.before.sha256)
                tree.put(
                    each.root, each.parts, data, each.before.mode, _temporary(folder, nth), new=found is None
                )
        except (Refused, FileNotFoundError, FileExistsError):
            left.append(each.path)
    made = {(each.root, part) for each in places for part in each.folders}
    for root, parts in sorted(made, key=lambda each: -len(each[1])):
        with suppress(Refused):
            tree.remove_folder(root, parts)
    return tuple(sorted(left))


def _do(place: _Place, new: bytes | None, temporary: str) -> None:
    for parts in place.folders:
        tree.make_folder(place.root, parts)
    if _known(place) != place.before:
        raise Refused("was changed by somebody else since it was checked")
    if new is None:
        tree.remove(place.root, place.parts, durable=False)
    elif place.after is not None:
        mode, is_new = place.after.mode, place.before is None
        tree.put(place.root, place.parts, new, mode, temporary, new=is_new, durable=False)


def _sync(places: list[_Place]) -> None:
    """Make all names durable, each folder once: before that, a power cut leaves files as before, or as planned."""
    made = [(each.root, parts[:-1]) for each in places for parts in each.folders]
    for root, parts in dict.fromkeys([*made, *((each.root, each.parts[:-1]) for each in places)]):
        tree.sync_folder(root, parts)


def _verify(place: _Place) -> None:
    """Look at a file anew, from its root down: that it exists, its size, its hash, its mode."""
    if (found := _known(place)) != place.after:
        raise Refused(f"is not on disk as it was written: {found or 'missing'}")


def _known(place: _Place) -> Known | None:
    found = tree.read(place.root, place.parts)
    return found[1] if found else None


def _is_as_left(place: _Place) -> bool:
    try:
        return _known(place) == place.after
    except Refused:  # something else is there by now, as a link or a folder
        return False


def _temporary(folder: Path, nth: int) -> str:
    return f".fileop-{folder.name}-{nth}"


def _places(files: Files, folder: Path) -> list[_Place]:
    def known(value: dict[str, Any] | None) -> Known | None:
        return Known(**value) if value else None

    return [
        _Place(
            Path(each["root"]),
            tuple(each["parts"]),
            known(each["before"]),
            known(each["after"]),
            tuple(map(tuple, each["folders"])),
        )
        for each in json.loads(files.read(folder / PLAN))
    ]


def _words(files: Files, folder: Path) -> set[str]:
    """Return the first words of the log's whole lines."""
    if not files.entry(folder / LOG):
        return set()
    lines = files.read(folder / LOG).decode("utf-8", "replace").split("\n")[:-1]
    return {line.split(" ")[0] for line in lines}


def _log(log: Log, word: str, nth: int | None = None, *, durable: bool = True) -> None:
    log.append((word if nth is None else f"{word} {nth}").encode() + b"\n", durable=durable)
