"""What agents hand in for a task: files in `handoffs/`, and what an agent of a workflow left when its turn ended."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hand_ins import take_hand_in
from orchestrator.daemon.core.memories_there import take_memory
from orchestrator.daemon.core.task_paths import TaskPaths, remote_task_of, workspace_of
from orchestrator.daemon.ingest.handoffs import HandoffIngest
from orchestrator.daemon.ingest.outboxes import Outboxes
from orchestrator.daemon.ingest.turn_ends import turn_end
from orchestrator.daemon.journal.engine import Engine
from orchestrator.hosts.ssh.withheld import withheld
from orchestrator.model.composite import agent_memory_file
from orchestrator.pm.plan.families.skills import phase_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from orchestrator.daemon.ingest.finished_writers import Done
    from orchestrator.model.facts import Fact
    from orchestrator.model.run import Exit, Run

log = logging.getLogger(__name__)


class TaskIntake:
    """Reads what the agents of one task hand in. Copies are kept by a worker thread."""

    def __init__(self, context: Context, home: Path, engine: Engine) -> None:
        self._context = context
        self._home = home
        self._engine = engine
        self._where: TaskPaths | None = None
        self._handoffs: HandoffIngest | None = None
        self._outboxes: Outboxes | None = None

    def forget(self) -> None:
        """Forget what was seen but not journaled."""
        self._handoffs = self._outboxes = None

    @property
    def unsettled(self) -> Collection[str]:
        """The files that may still be incomplete."""
        return () if self._handoffs is None else self._handoffs.unsettled

    def look_again(self, at: float) -> float | None:
        """Return when to look at those again."""
        return None if self._handoffs is None else self._handoffs.look_again(at)

    def saving(self, where: TaskPaths, instance: str) -> str:
        """Return the temporary name under which an agent's handoff was found, if any."""
        return self._of(where).saving(instance)

    def look(self, where: TaskPaths, name: str, done: Done) -> Iterable[Fact]:
        """Return the facts of one file, or of all new ones. Raises Unreadable, PermissionError."""
        at, state, handoffs = self._context.clock.now(), self._engine.state, self._of(where)
        return handoffs.look(name, state, at) if name else handoffs.scan(state, at, done)

    def publish(self, where: TaskPaths, done: Done) -> Iterable[Fact]:
        """Publish what agents handed in through folders of their own, and return the facts of what cannot be."""
        if self._outboxes is None:
            adapters, nonce = self._context.adapters, self._context.nonce
            self._outboxes = Outboxes(adapters.files, where.task, adapters.settings.limits, nonce)
        return self._outboxes.publish(self._engine.state, self._context.clock.now(), done)

    def publish_again(self, at: float) -> float | None:
        """Return when to look again at what may still be incomplete there."""
        return None if self._outboxes is None else self._outboxes.look_again(at)

    def turn_end(self, where: TaskPaths, run: str, words: str, how: Exit | None) -> Fact | None:
        """Return the fact that an agent left which hands in by files, when its turn, or its process, ended.

        Raises OSError: the disk cannot do it now.
        """
        adapters = self._context.adapters
        # A memory file lies where its agent wrote it, which nobody made durable: its phase ends once the copy is.
        keep = self._keep if self._engine.state.brief.skill is None else self._keep_now
        return turn_end(
            adapters.files,
            where.task,
            self._engine.state,
            run,
            self._context.clock.now(),
            adapters.settings.limits,
            keep,
            words,
            how,
            partial(self._take_hand_in, where),
        )

    def _take_hand_in(self, where: TaskPaths, run: Run, wanted: Sequence[str]) -> None:
        """Bring here what a run on a box left in the files of its workflow, or in its memory file."""
        adapters, state = self._context.adapters, self._engine.state
        task, phase = remote_task_of(state, where, run), phase_of(state.brief, state.steps[run.step])
        brought = None if task is None else adapters.boxes.handed_in(task)
        if brought is not None and phase is not None and (plan := state.brief.skill) is not None:
            path = agent_memory_file(plan.task_id, phase.agent)
            take_memory(adapters.files, Path(state.project), brought, run.id, path)
        elif brought is not None:
            home = layout.run_home(where.home, run.id)
            take_hand_in(adapters.files, where.task, home, brought, run.id, run.agent, wanted)

    def _of(self, where: TaskPaths) -> HandoffIngest:
        self._where = where
        if self._handoffs is None:
            adapters = self._context.adapters
            known = partial(withheld, adapters.files, layout.task_withheld(self._home))
            self._handoffs = HandoffIngest(
                adapters.files,
                where.task,
                self._keep,
                adapters.settings.limits,
                self._context.nonce,
                self._trees,
                known,
            )
        return self._handoffs

    def _trees(self, run: Run) -> tuple[Path, ...]:
        """Return the folders where the work of a run here may be, besides the task's folder."""
        if run.on_box or self._where is None:
            return ()
        return workspace_of(self._engine.state, run, self._where), self._where.code

    def _keep(self, digest: str, report: bytes) -> None:
        """Keep a copy of a report, by its hash. Not waited for: the journal has what the decision needs."""
        work = partial(self._keep_now, digest, report)
        self._context.executor.do(f"{self._home.name}/reports", work)

    def _keep_now(self, digest: str, report: bytes) -> None:
        """Keep a copy of what was handed in, by its hash, before anything follows from it. Raises OSError."""
        files, accepted = self._context.adapters.files, layout.task_reports(self._home)
        files.make_folder(accepted)
        files.write(accepted / digest, report)
