"""The runs of a task, and of them those that live: what is long gone costs nothing any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from orchestrator.model.run import Purpose, Run
from orchestrator.pm.tables import Table

_DERIVED: Final = ("live", "latest", "_by_order", "_by_step")


class Runs(Table[str, Run]):
    """A task's runs by id, in the order in which they were opened.

    live: those that are not known to be gone, by id. latest: the last run of each instance.
    """

    __slots__ = _DERIVED

    live: dict[str, Run]
    latest: dict[str, str]
    _by_order: Table[str, str]
    _by_step: Table[str, str]

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        told = {run.id: run for run in runs}
        super().__init__(told)
        self.live = {run.id: run for run in told.values() if run.live}
        self.latest = {run.instance: run.id for run in told.values()}
        self._by_order = Table({run.order: run.id for run in told.values()})
        self._by_step = Table({run.step: run.id for run in told.values() if run.purpose is Purpose.WORK})

    def with_order(self, order: str) -> Run | None:
        """Return the run that was given an order of this name, or None."""
        run = self._by_order.get(order) if order else None
        return None if run is None else self[run]

    def last_at_work_on(self, step: str) -> Run | None:
        """Return the last run in which an agent worked on a step, or None."""
        run = self._by_step.get(step)
        return None if run is None else self[run]

    def with_run(self, run: Run) -> Self:
        """Return a copy with one run set."""
        new = run.id not in self
        copy = self.with_entry(run.id, run)
        if run.live:
            copy.live = {**self.live, run.id: run}
        elif run.id in self.live:
            copy.live = {each: live for each, live in self.live.items() if each != run.id}
        if new:
            copy.latest = {**self.latest, run.instance: run.id}
            copy._by_order = self._by_order.with_entry(run.order, run.id)
            if run.purpose is Purpose.WORK:
                copy._by_step = self._by_step.with_entry(run.step, run.id)
        return copy

    def _copy(self) -> Self:
        copy = super()._copy()
        copy.live, copy.latest = self.live, self.latest
        copy._by_order, copy._by_step = self._by_order, self._by_step
        return copy
