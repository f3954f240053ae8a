"""The state file of a composite skill that the daemon drives: written from its state, by the machine (S4)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.memory_files import MemoryFolder, kept_copy, set_aside
from orchestrator.model.composite import SkillState, agent_memory_file
from orchestrator.model.errors import BadFile, Refused
from orchestrator.pm.plan.composite.driven import driven, handed_in, phases_to_do
from orchestrator.ports.files import Unreadable
from orchestrator.records.skill_key import skill_key
from orchestrator.records.skill_store import SkillStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from orchestrator.model.composite import SkillPhase, SkillPlan, SkillSession
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SkillFiles:
    """Shows the session of one task. `home` is the task's own folder.

    The journal has what the file says: a daemon that begins writes it anew, whatever became of it meanwhile. A session
    that was given back, and that others drive since, is left alone. `put_back` is told of each memory file that had
    been changed.
    """

    files: Files
    home: Path
    put_back: Callable[[str], None] = lambda _: None
    _shown: SkillSession | None = None
    _seen: PMState | None = field(default=None, repr=False)

    def show(self, state: PMState) -> None:
        """Write the state file if the session has changed; nothing for a task of another family. Raises OSError."""
        plan = state.brief.skill
        if plan is None or state is self._seen:
            return
        folder = MemoryFolder(self.files, Path(state.project))
        store = self._store(plan)
        if plan.returned and _has_another_driver(store, plan):
            self._seen = state
            return
        try:
            session = driven(plan, state, lambda agent: self._memory(folder, plan, state, agent))
        except BadFile as problem:
            log.warning(
                "the state file of the skill does not go on, as what was handed in is lost: %s", problem
            )
            if not plan.returned:
                return
            session = replace(
                plan.session, task=""
            )  # its phases end again by the memory files that there are
        if session != self._shown and not self._is_like(store, session):
            if plan.returned:
                self._let_go(folder, plan, state)
            elif session.state is SkillState.COMPLETE:
                self._restore(folder, plan, state, plan.skill.phases)
            self.files.make_folder(store.path.parent, 0o755)
            store.save(session)
        self._shown, self._seen = session, state

    def _store(self, plan: SkillPlan) -> SkillStore:
        key = skill_key(self.files, layout.state_above(self.home))
        return SkillStore(self.files, Path(plan.state_file), key)

    def _memory(self, folder: MemoryFolder, plan: SkillPlan, state: PMState, agent: str) -> bytes | None:
        digest = handed_in(plan, state, agent)
        path = agent_memory_file(plan.task_id, agent)
        return kept_copy(self.files, self.home, folder, path, digest) if digest else None

    def _let_go(self, folder: MemoryFolder, plan: SkillPlan, state: PMState) -> None:
        """Have commands find what was handed in, and no complete memory file of a phase that has not passed."""
        to_do = phases_to_do(plan, state)
        self._restore(folder, plan, state, [each for each in plan.skill.phases if each not in to_do])
        for phase in to_do:
            set_aside(folder, plan.task_id, phase, f"before-{state.id}")

    def _restore(
        self, folder: MemoryFolder, plan: SkillPlan, state: PMState, phases: Iterable[SkillPhase]
    ) -> None:
        """Put memory files back to what was handed in, to stay: whoever reads on finds them complete."""
        for phase in phases:
            data = self._memory(folder, plan, state, phase.agent)
            try:
                if data is not None:
                    path = agent_memory_file(plan.task_id, phase.agent)
                    if folder.restore(path, data):
                        self.put_back(path)
                    self._store(plan).keep(plan.session, phase.agent)
            except Unreadable as problem:
                log.warning("the memory file of %s cannot be put back: %s", phase.agent, problem)

    def _is_like(self, store: SkillStore, session: SkillSession) -> bool:
        try:
            return store.is_there() and self.files.read(store.path) == store.rendered(session)
        except Unreadable:
            return False


def _has_another_driver(store: SkillStore, plan: SkillPlan) -> bool:
    """Return whether commands drive the session, or another task does. A file that does not read says nothing."""
    try:
        return store.load().task != plan.session.task
    except (BadFile, Refused, Unreadable):
        return False
