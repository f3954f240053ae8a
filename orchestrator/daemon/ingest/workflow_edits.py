"""Edits of a workflow's files between two turn ends: notes as they land, and forbidden edits of the shared status.

Nothing is read again whose size and time are as they were. What does not read is looked at when a turn ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.core.workflow_folder import WorkflowFolder, spoken_for_in
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES, cut
from orchestrator.formats.workflow.session import read_session, render_session
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import EditsRefused, NotesLanded
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import SESSION_FILE, STATUS_FILE
from orchestrator.pm.plan.families.workflow import agents_now
from orchestrator.pm.plan.workflow_status import shared_status_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from orchestrator.model.facts import Fact
    from orchestrator.model.workflow import WorkflowPlan
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

_LONGEST: Final = 60


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
        edits = self._refused(root, folder, state, plan) if shown and not only else ()
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
        if not own and record.session is not None:
            root.write(
                path, render_session(record.session, data)
            )  # what is accepted of it is written by the next show
        return NotesLanded(at, nonce(), agent, session, own)

    def _refused(
        self, root: WorkflowFolder, folder: Path, state: PMState, plan: WorkflowPlan
    ) -> tuple[str, ...]:
        if not self._changed(folder, STATUS_FILE):
            return ()
        try:
            document: Any = load_json(root.read(STATUS_FILE), STATUS_FILE, FILE_BYTES)
        except (BadFile, Unreadable):
            return ()
        return tuple(_forbidden(document, state, plan, spoken_for_in(state)))

    def _changed(self, folder: Path, path: str) -> bool:
        """Return whether a file is another one than at the last look."""
        entry = self.files.entry(layout.orchestration(folder) / path)
        now = (entry.inode, entry.mtime_ns, entry.size) if entry is not None else (0, 0, 0)
        if self._known.get(path) == now:
            return False
        self._known[path] = now
        return True


def _forbidden(
    document: object, state: PMState, plan: WorkflowPlan, spoken_for: Collection[str]
) -> Iterator[str]:
    """Yield what a shared status says otherwise than the state, where no live run may say it."""
    entries = document.get("agents") if isinstance(document, dict) else None
    entries = entries if isinstance(entries, dict) else {}
    for entry in shared_status_of(state, plan).agents:
        written = entries.get(entry.name)
        if not isinstance(written, dict):
            yield f"the entry of {entry.name} was removed"
            continue
        said, wanted = written.get("status"), entry.status.value
        if said != wanted and entry.name not in spoken_for:
            yield f"{entry.name}.status was set to {cut(str(said), _LONGEST)}; it is {wanted}"
        if list(written.get("dependencies", [])) != list(entry.dependencies):
            yield f"{entry.name}.dependencies were changed; they are those of the plan"
