"""The report that ends every run: one handoff, written whole, never over another."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from errors import TidyError
from order import Order
from wording import plain

NAMES_TO_TRY = 3600


class Status(StrEnum):
    """How a run ended."""

    COMPLETE = "COMPLETE"
    BLOCKED = "BLOCKED"


class Verdict(StrEnum):
    """What test or review decided."""

    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


@dataclass(frozen=True)
class Report:
    """What a run has to say.

    `sections` are further ones, heading to text, in their order; `artifacts` are files in the task's folder.
    """

    done: str
    status: Status = Status.COMPLETE
    verdict: Verdict | None = None
    artifacts: tuple[Path, ...] = ()
    blockers: str = ""
    sections: dict[str, str] = field(default_factory=dict)


def render(report: Report, order: Order, moment: datetime) -> str:
    """The handoff as text (H6)."""
    head = [
        f"# Handoff: {order.agent}",
        f"**Timestamp:** {moment:%Y-%m-%d %H:%M:%S %Z}",
        f"**Status:** {report.status}",
        f"**Run:** {order.run}",
    ]
    if order.reply_to:
        head.append(f"**In reply to:** {order.reply_to}")
    if report.verdict is not None:
        head.append(f"**Verdict:** {report.verdict}")
    named = [f"- {plain(_relative(path, order.task_dir))}" for path in report.artifacts if path.is_file()]
    sections = {"Completed Work": report.done.strip(), "Artifacts Generated": "\n".join(named) or "None"}
    if report.status is Status.BLOCKED:
        sections["Blockers"] = report.blockers.strip()
    sections |= report.sections
    return "\n".join([*head, "", *(f"## {title}\n{text}\n" for title, text in sections.items())])


def deliver(report: Report, order: Order, now: datetime | None = None) -> Path:
    """Write the report into the task's handoffs, under the first free second from `now` on.

    Returns:
        The handoff's path.

    Raises:
        TidyError: an hour of names is taken.
        OSError: the folder cannot be written.
    """
    now = now or datetime.now(tz=UTC).astimezone()
    handoffs = order.task_dir / "handoffs"
    for later in range(NAMES_TO_TRY):
        moment = now + timedelta(seconds=later)
        target = handoffs / f"{order.agent}-{moment:%Y%m%d-%H%M%S}.md"
        if not os.path.lexists(target) and _appear(target, render(report, order, moment), order.scratchpad):
            return target
    raise TidyError(f"{handoffs} has a handoff of {order.agent} for each second of an hour.")


def _appear(target: Path, text: str, scratchpad: Path) -> bool:
    """Let the whole text appear at `target`; False if the name was taken meanwhile."""
    scratchpad.mkdir(parents=True, exist_ok=True)
    temporary = scratchpad / f".{target.name}.{os.getpid()}.part"
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return _linked(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _linked(temporary: Path, target: Path) -> bool:
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    except OSError as error:
        # A file system without hard links: only this agent's runs write this name, one at a time.
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK}:
            raise
        temporary.rename(target)
    return True


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
