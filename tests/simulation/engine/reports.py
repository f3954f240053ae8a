"""The report of a task must say what its journal says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator import layout
from orchestrator.daemon.journal.segments import MOST, segments, unpacked
from orchestrator.daemon.journal.store import unsealed
from orchestrator.reporting.build import report_of
from orchestrator.reporting.history import History
from orchestrator.reporting.shape import document_of
from tests.report_audit import faults
from tests.simulation.engine.law import Finding, Law, findings

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files
    from tests.simulation.engine.user_task import UserTask
    from tests.simulation.engine.world import World


def lines_of(files: Files, home: Path) -> list[dict[str, Any]]:
    """Return all lines of a task's journal, oldest first."""
    folder = layout.task_journal(home)
    contents = (
        unsealed(raw)
        for name in segments(entry.name for entry in files.entries(folder))
        for raw in unpacked(name, files.read(folder / name, MOST)).rstrip(b"\n").split(b"\n")
    )
    return [content for content in contents if "fact" in content]


def reported_otherwise(world: World, user_task: UserTask) -> list[Finding]:
    """Return where the report of a task differs from its journal."""
    lines, history = lines_of(world.files, user_task.home), History()
    for line in lines:
        history.take(line)
    state = world.shown(user_task)
    document = document_of(report_of(state, history, made_at=world.clock.now()))
    return findings(Law.REPORT_TRUE, faults(lines, state, document))
