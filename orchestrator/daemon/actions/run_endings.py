"""The runs of one task that are being ended: asked, asked once more, and killed after their grace."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator.daemon.actions.end import end as end_run
from orchestrator.daemon.actions.end import fence as fence_run
from orchestrator.daemon.actions.outcomes import carry_out, look_at
from orchestrator.daemon.core.context import Context
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.model.run import Ending, Run
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.host import Host

log = logging.getLogger(__name__)

SECOND_LOOK: Final = 0.1
"""Seconds after which a run that was asked to end is looked at again: one look serves many runs, and finds processes
that began in the milliseconds after the first and were not asked. Their grace begins then.
"""


@dataclass(slots=True)
class RunEndings:
    """Ends runs. Its moments are of the monotonic clock.

    `_ending` are the runs that were asked to end, and when; `_asked_twice` those that were looked at again.
    """

    context: Context
    task: str
    home: Path
    _ending: dict[str, float] = field(default_factory=dict)
    _asked_twice: set[str] = field(default_factory=set)

    @property
    def busy(self) -> bool:
        """Return whether a run is being ended."""
        return bool(self._ending)

    def forget(self, run: str) -> None:
        """Forget a run that is gone."""
        self._ending.pop(run, None)
        self._asked_twice.discard(run)

    def fence(self, state: PMState, run: str) -> None:
        """Fence a run whose launcher has not come: it must start nothing if it comes later.

        A launcher that came meanwhile, because it was sent again, is left alone.
        """
        if run not in self._ending:
            self._see_off(state, run, fence_run)

    def see_what_is_due(self, state: PMState) -> None:
        """Kill runs that were asked to end and did not in time; ask those again that may have missed it."""
        at, grace = self.context.clock.monotonic(), self.context.adapters.settings.limits.termination_grace
        self._asked_twice &= state.runs.live.keys()
        missed = list[Run]()
        for run, since in list(self._ending.items()):
            if run not in state.runs.live:  # it was never launched
                del self._ending[run]
            elif self._is_asked_again(state.runs[run]):
                if at - since >= SECOND_LOOK:
                    self._asked_twice.add(run)
                    self._ending[run] = at
                    missed.append(state.runs[run])
            elif at - since >= grace:
                if state.runs[run].ending is Ending.NOT:
                    # Fenced on its box, or not: whether it still must be depends on what is seen there now.
                    del self._ending[run]
                    continue
                self._ending[run] = at
                self.end(state, run, kill=True)
        if missed:
            self._ask_again(missed)

    def moments(self, state: PMState) -> list[float]:
        """Return when something is due, by the wall clock."""
        clock, grace = self.context.clock, self.context.adapters.settings.limits.termination_grace
        apart = clock.now() - clock.monotonic()
        return [
            since + (SECOND_LOOK if self._is_asked_again(state.runs[run]) else grace) + apart
            for run, since in self._ending.items()
        ]

    def _is_asked_again(self, run: Run) -> bool:
        """Return whether processes of a run may have missed the request to end, and must be asked again.

        A box checks each of its runs itself. If the grace is no longer than this check takes, all are killed then.
        """
        return (
            run.id not in self._asked_twice
            and run.ending is not Ending.NOT
            and not run.on_box
            and self.context.adapters.settings.limits.termination_grace > SECOND_LOOK
        )

    def end(self, state: PMState, run: str, *, kill: bool) -> None:
        """Have a run asked to end, or killed."""
        self._see_off(state, run, partial(end_run, kill=kill))
        known = state.runs[run]
        if known.on_box and (kill or known.ending is Ending.LEFT):
            # A box reports the end of a program, but not the end of processes that it left behind.
            executor = self.context.executor_for(known.host)
            carry_out(
                self.context,
                self.task,
                f"{known.step}/end",
                lambda _: self.context.adapters.boxes.hurry(known.host),
                executor,
            )

    def _ask_again(self, runs: list[Run]) -> None:
        """Ask those processes to end that the first request missed: one look for all runs, not one for each."""
        adapters, home = self.context.adapters, self.home

        def work() -> None:
            for run in runs:
                try:
                    end_run(adapters.host_of(run), home, run.id, kill=False)
                except (OrchestratorError, OSError) as error:
                    log.info("run %s is killed after its grace, if need be: %s", run.id, error)

        self.context.executor.do(f"{self.task}/end-again", work)

    def _see_off(self, state: PMState, run: str, deed: Callable[[Host, Path, str], None]) -> None:
        self._ending.setdefault(run, self.context.clock.monotonic())
        adapters, home, known = self.context.adapters, self.home, state.runs[run]

        def work(_: float) -> None:
            try:
                deed(adapters.host_of(known), home, run)
            except Unavailable as error:
                log.info("run %s will be ended later: %s", run, error)
            except (OrchestratorError, OSError):
                log.exception("run %s could not be ended just now", run)

        # Not in the step's queue: a hanging launch must not prevent the end of its run.
        key = f"{state.runs[run].step}/end"
        executor = self.context.executor_for(known.host)
        carry_out(self.context, self.task, key, work, executor)
        look_at(self.context, self.task, key, run, executor)
