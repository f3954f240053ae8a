"""Carries out what a run of `hands: operations` handed in: once, whatever ends the daemon meanwhile (F2, F4, F6).

::

    answer ─▶ operations ─▶ plan ─▶ NNNN/ready.json ─▶ transaction in NNNN/ ─▶ handoff in handoffs/
       └─────────┴──────────┴─▶ faults, each with its operation's index: nothing was written

`ready.json` has the record and the handoff before the first write. After a kill, a transaction that is whole is handed
in by it; one that is not is rolled back, and all begins anew.
"""

from __future__ import annotations

import errno
import json
import logging
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from orchestrator.formats.handoff import handoff_name, read_any_report
from orchestrator.formats.handoff_format import HANDOFF_FORMATS
from orchestrator.formats.operations.candidates import TEXT_BYTES, candidates
from orchestrator.formats.operations.read import BadOperations, read_operations
from orchestrator.formats.text import FAULTS_SHOWN, cut, one_line
from orchestrator.model.errors import BadFile
from orchestrator.model.file_operations import OperationDone, OperationFault, OperationsRecord
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.model.task import MARKDOWN
from orchestrator.ports.files import Unreadable
from orchestrator.workspaces.operations.plan import planned
from orchestrator.workspaces.operations.transaction import Failed, apply, is_whole, recover

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.file_operations import FileOperations
    from orchestrator.ports.files import Files
    from orchestrator.workspaces.operations.plan import Plan, Policy

log = logging.getLogger(__name__)

FOLDER: Final = "operations"
READY: Final = "ready.json"
TRIES: Final = 60
"""How many seconds ahead a free name for the handoff is looked for."""

RECORDED: Final = 30
NAMED: Final = 100
"""How many operations a record lists, and how many a handoff names."""

PREVIEWED: Final = 5
PREVIEW_LENGTH: Final = 160
"""Of how many files the first lines are kept that are to be deleted, and how many characters of each line."""

_DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE})
"""What the disk cannot do now: no fault of the operations."""

_RECORD: Final = TypeAdapter(OperationsRecord)


@dataclass(frozen=True, slots=True)
class Job:
    """What a run handed in, and where that goes. `folder` is the run's own, in the PM's state.

    `answer` is the file with the text that its program wrote. `at` is now, in seconds since the epoch. `order` is the
    file name of its order, `title` that of its step. `sections` are the titles of further sections that gates read.
    """

    folder: Path
    answer: Path
    handoffs: Path
    policy: Policy
    at: float
    run: str
    order: str
    agent: str
    title: str
    handoff_format: str = MARKDOWN
    sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of what a run handed in: `record` tells of its operations, None if there were none.

    `handoff` is what it hands in now, of the moment `at`; empty if nothing.
    """

    record: OperationsRecord | None = None
    handoff: str = ""
    at: float = 0.0


def settle(files: Files, job: Job, *, ended_well: bool) -> Settled:
    """Carry out what a run handed in, or find out that this was done; return what became of it.

    Where its program failed (not `ended_well`), nothing is carried out.

    Raises:
        OSError: the disk cannot do it now; the next call goes on.

    """
    base = job.folder / FOLDER
    earlier = sorted(each.name for each in files.entries(base) if each.is_folder)
    if earlier and is_whole(files, base / earlier[-1]):
        return _ready(files, base / earlier[-1])
    if earlier and (left := recover(files, base / earlier[-1])):
        log.warning("run %s: left as somebody else changed them: %s", job.run, ", ".join(left))
    if not ended_well:
        return Settled()
    transaction = base / f"{len(earlier) + 1:04}"
    try:
        return _carried_out(files, job, transaction)
    except BadOperations as error:
        return Settled(_refused(job, error.faults))
    except Failed as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _DISK:
            raise error.__cause__ from error
        return Settled(replace(_refused(job, (OperationFault(None, str(error)),)), rolled_back=True))


def _carried_out(files: Files, job: Job, transaction: Path) -> Settled:
    text = _answer(files, job)
    operations, report = _read(job, text)
    if operations is None:
        return Settled(None, _written(job, report), job.at)
    try:
        plan = planned(operations, job.policy)
    except OSError as error:
        if error.errno in _DISK:
            raise
        raise BadOperations([OperationFault(None, f"the files cannot be read: {error}")]) from error
    record = OperationsRecord(job.at, job.run, job.agent, job.title, len(plan.steps))
    if plan.unconfirmed:
        return Settled(replace(record, unconfirmed=_asked(plan)))
    record = replace(record, done=_done(plan))
    handoff = _written(job, _report(operations, plan, report))
    files.make_folder(transaction)
    ready = {"record": asdict(record), "at": job.at, "handoff": handoff}
    files.write(transaction / READY, json.dumps(ready).encode())
    apply(files, transaction, plan)
    return _ready(files, transaction)


def publish(files: Files, job: Job, settled: Settled) -> None:
    """Put the handoff of a run into `handoffs/`, under the next free name; one that lies there already is left.

    Raises:
        OSError: the disk cannot do it now.

    """
    suffix, data = HANDOFF_FORMATS.find(job.handoff_format).suffix, settled.handoff.encode()
    for second in range(TRIES):
        path = job.handoffs / handoff_name(job.agent, settled.at + second, suffix)
        if files.create(path, data, 0o644) or _holds(files, path, data):
            return
    raise FileExistsError(f"no name is free for the handoff of run {job.run} in {job.handoffs}")


def last_transaction(files: Files, folder: Path) -> Path | None:
    """Return the folder of a run's last transaction; None if there is none, or none any more.

    `folder` is the run's own.
    """
    earlier = sorted(each.name for each in files.entries(folder / FOLDER) if each.is_folder)
    return folder / FOLDER / earlier[-1] if earlier else None


def _ready(files: Files, transaction: Path) -> Settled:
    """Return what a transaction that is whole hands in."""
    ready = json.loads(files.read(transaction / READY))
    return Settled(_RECORD.validate_python(ready["record"]), ready["handoff"], ready["at"])


def _holds(files: Files, path: Path, data: bytes) -> bool:
    try:
        return files.read(path, len(data)) == data
    except Unreadable:
        return False


def _answer(files: Files, job: Job) -> str:
    try:
        return files.read(job.answer, TEXT_BYTES).decode()
    except Unreadable as error:
        fault = str(error).replace(str(job.answer), "what was written to standard output")
    except UnicodeDecodeError:
        fault = "what was written to standard output is not UTF-8"
    raise BadOperations([OperationFault(None, fault)])


def _read(job: Job, text: str) -> tuple[FileOperations | None, Report | None]:
    """Return the operations and the handoff that a text holds. Raises BadOperations: neither, or faulty ones."""
    found = [each for each in candidates(text) if each.end]
    rest, at = "", 0
    for each in found:
        rest, at = rest + text[at : each.begin], max(at, each.end)
    handoffs = HANDOFF_FORMATS.find(job.handoff_format)
    written, report = handoffs.within(rest + text[at:]), None
    if written:
        data = written.encode("utf-8", "replace")
        try:
            report = read_any_report(data, f"the handoff{handoffs.suffix}", sections=job.sections)
        except BadFile as error:
            faults = [OperationFault(None, f"the handoff, {fault}") for fault in error.faults]
            raise BadOperations(faults) from error
    try:
        return read_operations(text), report
    except BadOperations:
        if found or report is None:
            raise
        return None, report


def _report(operations: FileOperations, plan: Plan, report: Report | None) -> Report:
    """Return the report of what is about to be carried out; the agent's own words, if it wrote any."""
    last = {step.operation.path: step for step in plan.steps}
    there = [path for path, step in last.items() if step.after is not None][:NAMED]
    if report is None:
        said = [f"- {each.kind} {each.path}: {one_line(each.description)}" for each in operations.operations]
        more = [f"- and {len(said) - NAMED} more"] if len(said) > NAMED else []
        completed = "\n".join(filter(None, [operations.summary.strip(), "", *said[:NAMED], *more]))
        return Report(ReportStatus.COMPLETE, completed=completed, artifacts=tuple(there))
    return replace(report, artifacts=tuple(dict.fromkeys([*report.artifacts, *there])))


def _written(job: Job, report: Report | None) -> str:
    """Return a report as the file that it will be: of this run, in reply to its order, whatever its text says."""
    own = replace(report or Report(ReportStatus.COMPLETE), run=job.run, in_reply_to=job.order)
    return HANDOFF_FORMATS.find(job.handoff_format).write(job.agent, job.at, own).decode("utf-8", "replace")


def _asked(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return the files that are to be deleted, the first ones with their first lines."""
    return tuple(
        (path, "\n".join(cut(one_line(line), PREVIEW_LENGTH) for line in text.splitlines()))
        for nth, (_, path, preview) in enumerate(plan.unconfirmed)
        for text in [preview if nth < PREVIEWED else ""]
    )


def _done(plan: Plan) -> tuple[OperationDone, ...]:
    return tuple(
        OperationDone(
            step.operation.kind,
            step.operation.path,
            cut(one_line(step.operation.description), 200),
            None if step.after is None else step.after.size,
            step.notes[:3],
        )
        for step in plan.steps[:RECORDED]
    )


def _refused(job: Job, faults: tuple[OperationFault, ...]) -> OperationsRecord:
    said = tuple(cut(one_line(str(fault)), 400) for fault in faults[:FAULTS_SHOWN])
    more = (f"and {len(faults) - FAULTS_SHOWN} more",) if len(faults) > FAULTS_SHOWN else ()
    return OperationsRecord(job.at, job.run, job.agent, job.title, 0, faults=(*said, *more))
