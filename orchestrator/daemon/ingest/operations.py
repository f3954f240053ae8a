"""What runs of `hands: operations` handed in is carried out when their programs have ended, ahead of their end (law 5).

::

    process gone ─▶ a worker carries its operations out ─▶ hint ─▶ OperationsSettled, its handoff, RunGone
    turn ended ─▶ answer.txt ─▶ the same ─▶ hint ─▶ OperationsSettled, its handoff, EventLanded

Until that is done the run lives on for the PM, and holds its workspace. An agent CLI does not end by itself: there the
last message of its turn is the answer, and the event that has it stays where it is until then. Whatever ends the daemon
meanwhile, the next one finds the process gone, or the event, and goes on by what `workspaces.operations.settle` finds.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.hints import EventHint, RunHint
from orchestrator.daemon.core.task_paths import operation_roots
from orchestrator.model.facts import OperationsSettled
from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.run import Ending
from orchestrator.pm.plan.families import handoffs_of
from orchestrator.pm.policies.gates import sections_read
from orchestrator.pm.policies.operations import confirmed_record, hands_in_by_operations
from orchestrator.runtimes import ReadOnly
from orchestrator.runtimes.command import ANSWER
from orchestrator.runtimes.registry import runtime_known
from orchestrator.workspaces.operations.plan import Policy
from orchestrator.workspaces.operations.settle import Job, Settled, publish, settle

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.daemon.journal.engine import Engine
    from orchestrator.model.run import Exit, Run

log = logging.getLogger(__name__)


@dataclass(slots=True)
class OperationsIntake:
    """Has the file operations of one task's runs carried out. Called by the deciding thread; workers do the work."""

    context: Context
    home: Path
    engine: Engine
    _begun: set[str] = field(default_factory=set)
    _outcomes: dict[str, tuple[Job, Settled | OSError]] = field(default_factory=dict)

    def forget(self) -> None:
        """Forget what was found and not journaled: it is found again. Work that has begun goes on."""
        self._begun.difference_update(self._outcomes)
        self._outcomes.clear()

    def settled(self, where: TaskPaths, run: Run, how: Exit) -> bool:
        """Return whether the end of a run's process may be handled; if not yet, a hint comes when it may.

        Raises:
            OSError: the disk cannot do it now; the next call tries again.

        """
        if not self._reports_turns(run):
            return self._settled(where, run, ended_well=how.clean and run.ending is Ending.NOT)
        # Without an answer its turn never ended.
        answered = self.context.adapters.files.entry(layout.run_home(self.home, run.id) / ANSWER) is not None
        return not answered or self._settled(where, run, ended_well=run.ending is Ending.NOT)

    def answered(self, where: TaskPaths, run: Run, text: str) -> bool:
        """Return whether the end of a turn, with its last message, may be handled; if not, a hint comes once it may.

        Raises:
            OSError: the disk cannot do it now; the next call tries again.

        """
        if not (hands_in_by_operations(self.engine.state, run) and self._reports_turns(run)):
            return True
        answer = layout.run_home(self.home, run.id) / ANSWER
        if run.order in self.engine.state.orders and self.context.adapters.files.entry(answer) is None:
            self.context.adapters.files.write(answer, text.encode("utf-8", "replace"))
        return self._settled(where, run, ended_well=run.ending is Ending.NOT)

    def _reports_turns(self, run: Run) -> bool:
        """Return whether a run's program reports the end of its turn, with its last message."""
        state, defined = self.engine.state, self.context.adapters.settings.runtimes
        agent = state.agents.get(run.agent)
        if agent is None or confirmed_record(state, run) is not None:  # that one only hands in the same again
            return False
        return isinstance(runtime_known(agent, defined), ReadOnly)

    def _settled(self, where: TaskPaths, run: Run, *, ended_well: bool) -> bool:
        if run.id not in self._begun and run.id not in self._outcomes:
            state = self.engine.state
            if not hands_in_by_operations(state, run) or run.order not in state.orders:
                return True
            self._begun.add(run.id)
            work = partial(self._work, self._job(where, run), ended_well=ended_well)
            self.context.executor.do(f"{self.home.name}/operations/{run.id}", work)
        if run.id not in self._outcomes:
            return False
        job, outcome = self._outcomes.pop(run.id)
        self._begun.discard(run.id)
        if isinstance(outcome, OSError):
            raise outcome
        if (record := outcome.record) is not None:  # told ahead of the handoff, by which the run hands in
            self.engine.feed(OperationsSettled(job.at, self.context.nonce(), run.id, record))
        if outcome.handoff:
            publish(self.context.adapters.files, job, outcome)
        return True

    def _work(self, job: Job, *, ended_well: bool) -> None:
        outcome: Settled | OSError
        try:
            outcome = settle(self.context.adapters.files, job, ended_well=ended_well)
        except OSError as error:
            outcome = error
        except Exception:
            log.exception("the file operations of run %s", job.run)
            faults = ("the PM erred on them: see its log",)
            outcome = Settled(OperationsRecord(job.at, job.run, job.agent, job.title, 0, faults=faults))
        self._outcomes[job.run] = job, outcome
        self.context.post(EventHint(self.home.name))
        self.context.post(RunHint(self.home.name, job.run))

    def _job(self, where: TaskPaths, run: Run) -> Job:
        state, files = self.engine.state, self.context.adapters.files
        confirmed, step = confirmed_record(state, run), state.steps[run.step]
        paths = frozenset(path for path, _ in confirmed.unconfirmed) if confirmed else frozenset[str]()
        folder = layout.run_home(self.home, run.id)
        return Job(
            folder=folder,
            answer=folder / ANSWER,
            handoffs=layout.handoffs(where.task),
            policy=Policy(operation_roots(files, state, run, where), state.agents[run.agent].deletes, paths),
            at=self.context.clock.now(),
            run=run.id,
            order=run.order,
            agent=run.instance,
            title=step.title,
            handoff_format=handoffs_of(state.brief),
            sections=sections_read(step.gates),
        )
