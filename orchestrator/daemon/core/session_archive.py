"""Puts sessions of a workflow's agents away: each under a name of its own, with a line in the log and in the index.

A session that cannot be put away is named in the log with the reason, and stays where it is: it is not tried again.
"""

from __future__ import annotations

import logging
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator.formats.workflow.archives import (
    INDEX_FILE,
    LOG_FILE,
    archive_name,
    render_archive_index,
    render_cleanup_log,
)
from orchestrator.formats.workflow.session import read_session
from orchestrator.model.errors import BadFile
from orchestrator.model.workflow import ARCHIVAL_AGENT, SESSION_FILE
from orchestrator.model.workflow_records import ArchivedSession, CleanupOperation
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.daemon.core.workflow_folder import WorkflowFolder
    from orchestrator.model.workflow_records import ArchivalOperation

log = logging.getLogger(__name__)

_LARGEST: Final = 16_777_216


def archive_sessions(
    folder: WorkflowFolder, agents: Iterable[str], operation: ArchivalOperation, at: int
) -> list[CleanupOperation]:
    """Put the sessions of these agents away, where they have any, and return what became of each.

    Raises OSError if the log cannot be written.
    """
    operations, archived = list[CleanupOperation](), list[ArchivedSession]()
    for agent in agents:
        path = f"agents/{agent}/{SESSION_FILE}"
        try:
            data = folder.read(path)
        except Unreadable as error:
            operations.append(
                CleanupOperation(at, operation, agent, path, "", "", done=False, reason=str(error))
            )
            continue
        if not data:
            continue
        digest = sha256(data).hexdigest()
        try:
            session = read_session(data, path)
            wanted = f"agents/{agent}/completion_drive/{archive_name(session.task_id, at)}"
            moved = folder.move(path, wanted)
        except (BadFile, Unreadable, OSError) as error:
            operations.append(
                CleanupOperation(at, operation, agent, path, "", digest, done=False, reason=str(error))
            )
            continue
        operations.append(CleanupOperation(at, operation, agent, path, moved, digest, done=True))
        archived.append(
            ArchivedSession(
                agent, session.task_id, session.session_start, at, moved, digest, len(session.notes)
            )
        )
    for failed in (each for each in operations if not each.done):
        log.warning("the session of %s was not put away: %s", failed.agent, failed.reason)
    if operations:
        _record(folder, operations, archived)
    return operations


def _record(
    folder: WorkflowFolder, operations: list[CleanupOperation], archived: list[ArchivedSession]
) -> None:
    logged, index = f"agents/{ARCHIVAL_AGENT}/{LOG_FILE}", f"agents/{ARCHIVAL_AGENT}/{INDEX_FILE}"
    try:
        folder.write(logged, render_cleanup_log(tuple(operations), folder.read(logged, _LARGEST)))
        folder.write(index, render_archive_index(tuple(archived), folder.read(index, _LARGEST)))
    except (BadFile, Unreadable) as error:
        log.warning("what was put away could not be recorded: %s", error)
