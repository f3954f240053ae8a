"""What became of file operations that the PM carried out for agents that touch no file, in the set form (F6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import local_minute
from orchestrator.scribe.escaping import TEXT_LENGTH, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orchestrator.model.file_operations import OperationDone, OperationsRecord

SHOWN: Final = 30
"""How many operations of one run are listed."""

_UNITS: Final = (("MB", 1_000_000), ("KB", 1_000))


def operation_lines(records: Iterable[OperationsRecord]) -> Iterator[str]:
    """Yield the lines that tell of each run's file operations, in the order in which they were handed in."""
    for nth, record in enumerate(records):
        yield from [""] * bool(nth)
        yield f"### [{local_minute(record.at)}] File Operations {_how(record)}"
        yield ""
        yield f"**Specialist**: @{shown(record.agent)}"
        yield f"**Task**: {shown(record.title, TEXT_LENGTH)}"
        yield ""
        yield "**Operations**:"
        yield from _operations(record)
        yield ""
        yield f"**Summary**: {_summary(record)}"


def _how(record: OperationsRecord) -> str:
    if record.done:
        return "Undone" if record.undone else "Executed"
    return "Waiting for Confirmation" if record.unconfirmed else "Refused"


def _operations(record: OperationsRecord) -> Iterator[str]:
    for number, done in enumerate(record.done[:SHOWN], 1):
        size = "" if done.size is None else f" ({_size(done.size)})"
        yield f"{number}. ✅ {done.kind} {shown(done.path)}{size}"
        yield f"   - Description: {shown(done.description)}"
        yield f"   - Verified: {_verified(done)}"
        yield from (f"   - Note: {shown(note)}" for note in done.notes)
    if record.count > SHOWN and record.done:
        yield f"- and {record.count - SHOWN} more"
    for fault in record.faults:
        yield f"- ❌ {shown(fault, TEXT_LENGTH)}"
    for path, _ in record.unconfirmed[:SHOWN]:
        yield f"- ⚠️ DELETE REQUESTED: {shown(path)}"


def _verified(done: OperationDone) -> str:
    return "File is gone" if done.size is None else "File exists, its size and its hash are as they should be"


def _summary(record: OperationsRecord) -> str:
    if record.done:
        undone = f"; undone at {local_minute(record.undone)}" if record.undone else ""
        return f"{record.count}/{record.count} operations successful, 0 failed{undone}"
    if record.unconfirmed:
        return f"0/{record.count} operations carried out: somebody must confirm the deletes"
    undone = "; what had been carried out was rolled back" if record.rolled_back else ""
    return f"nothing was carried out{undone}"


def _size(count: int) -> str:
    unit, by = next(((unit, by) for unit, by in _UNITS if count >= by), ("bytes", 1))
    return f"{count / by:.1f} {unit}" if by > 1 else f"{count} {unit}"
