"""The state file of a composite skill that the daemon drives: written from its state, by the machine (S4)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.daemon.core.memory_files import MemoryFolder, kept_copy
from orchestrator.formats.skill.state import write_session
from orchestrator.model.composite import SkillState, agent_memory_file
from orchestrator.model.errors import BadFile
from orchestrator.pm.plan.composite.driven import driven, handed_in
from orchestrator.ports.files import Unreadable
from orchestrator.records.skill_store import SkillStore

if TYPE_CHECKING:
    from orchestrator.model.composite import SkillPlan, SkillSession
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SkillFiles:
    """Shows the session of one task. `home` is the task's own folder.

    The journal has what the file says: a daemon that begins writes it anew, whatever became of it meanwhile.
    """

    files: Files
    home: Path
    _shown: SkillSession | None = None
    _seen: PMState | None = field(default=None, repr=False)

    def show(self, state: PMState) -> None:
        """Write the state file if the session has changed; nothing for a task of another family. Raises OSError."""
        plan = state.brief.skill
        if plan is None or state is self._seen:
            return
        folder = MemoryFolder(self.files, Path(state.project))
        try:
            session = driven(plan, state, lambda agent: self._memory(folder, plan, state, agent))
        except BadFile as problem:
            log.warning(
                "the state file of the skill stays as it is, as what was handed in is lost: %s", problem
            )
            return
        store = SkillStore(self.files, Path(plan.state_file))
        if session != self._shown and not self._is_like(store, session):
            if session.state is SkillState.COMPLETE:
                self._restore(folder, plan, state)
            self.files.make_folder(store.path.parent, 0o755)
            store.save(session)
        self._shown, self._seen = session, state

    def _memory(self, folder: MemoryFolder, plan: SkillPlan, state: PMState, agent: str) -> bytes | None:
        digest = handed_in(plan, state, agent)
        path = agent_memory_file(plan.task_id, agent)
        return kept_copy(self.files, self.home, folder, path, digest) if digest else None

    def _restore(self, folder: MemoryFolder, plan: SkillPlan, state: PMState) -> None:
        """Put all memory files back to what was handed in: whoever validates the session finds it complete."""
        for phase in plan.skill.phases:
            data = self._memory(folder, plan, state, phase.agent)
            try:
                if data is not None:
                    folder.restore(agent_memory_file(plan.task_id, phase.agent), data)
            except Unreadable as problem:
                log.warning("the memory file of %s cannot be put back: %s", phase.agent, problem)

    def _is_like(self, store: SkillStore, session: SkillSession) -> bool:
        try:
            return store.is_there() and self.files.read(store.path) == write_session(session)
        except Unreadable:
            return False
