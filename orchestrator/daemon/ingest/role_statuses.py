"""What was written into the records of a task of roles, as facts: what an agent says, and what is put back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.archived_handoffs import ArchivedHandoffs
from orchestrator.daemon.core.role_statuses import SUFFIX, RoleStatusFiles
from orchestrator.daemon.core.workflow_folder import DataFolder
from orchestrator.model.errors import Refused
from orchestrator.model.facts import EditsRefused, RoleHandoffEdited, RoleStatusLanded
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)


def status_facts(
    context: Context, folder: Path, state: PMState, at: float, *, last: bool = False
) -> Iterator[Fact]:
    """Yield what was written since the last look into the statuses of a task; `folder` is the task's.

    Where the folder of the statuses is a link, or something else lies in its place, nothing is read.

    Args:
        context: The daemon's.
        folder: The folder of the task in its project.
        state: The task's state.
        at: Seconds since the epoch.
        last: A run is about to be recorded as gone: its last words are taken.

    """
    try:
        edits = RoleStatusFiles(DataFolder(context.adapters.files, folder)).look(state, at, last=last)
    except (Unreadable, OSError) as error:
        log.warning("the statuses of the role agents of %s cannot be read: %s", state.id, error)
        return
    for edit in edits:
        if edit.said is not None:
            yield RoleStatusLanded(at, context.nonce(), edit.run, edit.said)
        if edit.refused:
            yield EditsRefused(
                at, context.nonce(), edit.refused, f"{layout.DATA}/{layout.STATUSES}/{edit.agent}{SUFFIX}"
            )


def archived_handoffs(context: Context, folder: Path) -> ArchivedHandoffs:
    """Return the archived handoffs of the task whose folder in its project is `folder`."""
    archive = context.adapters.settings.daemon.archive
    root = folder.__class__(archive) if archive else layout.role_handoffs(folder)
    return ArchivedHandoffs(context.adapters.files, root)


def handoff_facts(
    context: Context,
    folder: Path,
    state: PMState,
    at: float,
    names: Collection[str] | None = (),
    *,
    last: bool = False,
) -> Iterator[Fact]:
    """Yield what was written since the last look into the archived handoffs of a task.

    The arguments are those of `status_facts`; `names` are the handoffs to look at beside the open ones, None for all.
    """
    try:
        edits = archived_handoffs(context, folder).look(state, at, names, last=last)
    except (Refused, OSError) as error:
        log.warning("the archived handoffs of %s cannot be read: %s", state.id, error)
        return
    for each in edits:
        if each.edit.refused:
            yield EditsRefused(at, context.nonce(), each.edit.refused, each.file, each.handoff)
        else:
            yield RoleHandoffEdited(
                at, context.nonce(), each.run, each.handoff, each.edit.status, each.edit.issues
            )
