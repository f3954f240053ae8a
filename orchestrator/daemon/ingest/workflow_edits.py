"""Edits of a workflow's files between two turn ends: notes as they land, and forbidden edits of the shared status.

Nothing is read again whose size and time are as they were. What does not read is looked at when a turn ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.workflow.session import read_session, render_session
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import EditsRefused, NotesLanded
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import SESSION_FILE, STATUS_FILE
from orchestrator.pm.plan.families.workflow import agents_now
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


@dataclass(slots=True)
class WorkflowEdits:
    """Looks for edits of one workflow. `_known` is how each file was when it was read last."""

    files: Files
    _known: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def look(
        self,
        folder: Path,
        state: PMState,
        at: float,
        nonce: Callable[[], str],
        only: str | None = None,
        *,
        shown: bool,
    ) -> Iterator[Fact]:
        """Yield what was edited since the last look; `only` the notes of one agent, or (empty) the shared status.

        `shown`: the files say what the state says, so that a difference is an edit. Raises OSError.
        """
        plan = state.brief.workflow
        if plan is None:
            return
        root = WorkflowFolder(self.files, folder)
        for agent in plan.agents:
            if only in {None, agent.id}:
                fact = self._notes(root, state, agent.id, at, nonce, shown=shown)
                if fact is not None:
                    yield fact
        edits = self._refused(root, state) if shown and not only else ()
        if edits:
            yield EditsRefused(at, nonce(), edits)

    def _notes(
        self,
        root: WorkflowFolder,
        state: PMState,
        agent: str,
        at: float,
        nonce: Callable[[], str],
        *,
        shown: bool,
    ) -> NotesLanded | None:
        path = f"agents/{agent}/{SESSION_FILE}"
        runs = [run for run in state.live_runs if run.agent == agent]
        own = any(run.order in state.orders for run in runs)
        if not own and (runs or not shown):
            return None  # its notes are about to be written as they were accepted
        if not self._changed(root.task, path):
            return None
        try:
            data = root.read(path)
            session = read_session(data, path) if data else None
        except (BadFile, Unreadable):
            return None  # it is half written, or its agent is asked when its turn ends
        plan = state.brief.workflow
        record = state.records.get(agent, AgentRecord())
        task_id = agents_now(plan, state.records)[agent].task_id if plan else ""
        if session is None or session == record.session or session.task_id != task_id:
            return None
        put_back = not own and record.session is not None
        # What is accepted of it is written by the next show.
        if put_back and not root.replace(path, render_session(record.session or session, data), data):
            del self._known[path]
            return None
        return NotesLanded(at, nonce(), agent, session, own)

    def _refused(self, root: WorkflowFolder, state: PMState) -> tuple[str, ...]:
        """Return what nobody may write into the shared status; what an old copy took back is written again."""
        status = SharedStatusFile(root)
        if not self._changed(root.task, STATUS_FILE) and not status.waits:
            return ()
        try:
            edits = status.refused(state)
            if not edits:  # else it is published when the state shows that they are told
                status.publish(state)
        except Unreadable:
            return ()
        return edits

    def _changed(self, folder: Path, path: str) -> bool:
        """Return whether a file is another one than at the last look."""
        entry = self.files.entry(layout.orchestration(folder) / path)
        now = (entry.inode, entry.mtime_ns, entry.size) if entry is not None else (0, 0, 0)
        if self._known.get(path) == now:
            return False
        self._known[path] = now
        return True
