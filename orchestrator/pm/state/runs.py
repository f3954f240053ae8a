"""The runs of a task. Runs that ended long ago keep only a summary, to save memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

from orchestrator.model.activity import Stage
from orchestrator.model.quick_replace import replace
from orchestrator.model.run import Exit, Purpose, Run, Turn
from orchestrator.model.usage import Spent, Usage
from orchestrator.pm.state.persistent_map import PersistentMap

_DERIVED: Final = ("live", "latest", "spent", "_by_order", "_by_step")
_NONE: Final = Spent()


@dataclass(frozen=True, slots=True)
class _OfStep:
    """The runs of one step in short: the last at work on it, the attempt of the last, and the number of attempts."""

    at_work: str = ""
    attempt: int = 0
    tries: int = 0

    def with_run(self, run: Run) -> _OfStep:
        """Return the same with a further run."""
        return _OfStep(
            at_work=run.id if run.purpose is Purpose.WORK else self.at_work,
            attempt=run.attempt,
            tries=self.tries + (run.attempt != self.attempt),
        )


_UNTRIED: Final = _OfStep()


class Runs(PersistentMap[str, Run]):
    """A task's runs by id, in the order in which they were opened.

    live: runs that may still exist, by id. latest: the last run of each instance. spent: the totals of each agent's
    runs, by agent name. A run that is gone and has a successor of the same instance keeps only its totals; its
    location and everything observed of it are in the journal.
    """

    __slots__ = _DERIVED

    live: dict[str, Run]
    latest: dict[str, str]
    spent: dict[str, Spent]
    _by_order: PersistentMap[str, str]
    _by_step: PersistentMap[str, _OfStep]

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        by_id = {run.id: run for run in runs}
        self.latest = {run.instance: run.id for run in by_id.values()}
        by_id = {
            run.id: run if run.live or self.latest[run.instance] == run.id else _past(run)
            for run in by_id.values()
        }
        super().__init__(by_id)
        self.live = {run.id: run for run in by_id.values() if run.live}
        self.spent = {}
        for run in by_id.values():
            self.spent = _with_spent(self.spent, None, run)
        self._by_order = PersistentMap({run.order: run.id for run in by_id.values()})
        by_step: dict[str, _OfStep] = {}
        for run in by_id.values():
            by_step[run.step] = by_step.get(run.step, _UNTRIED).with_run(run)
        self._by_step = PersistentMap(by_step)

    @property
    def usage(self) -> Usage:
        """The usage of all runs together."""
        used = Usage()
        for spent in self.spent.values():
            used += spent.usage
        return used

    def with_order(self, order: str) -> Run | None:
        """Return the run that has the order of this name, or None."""
        run = self._by_order.get(order) if order else None
        return None if run is None else self[run]

    def last_at_work_on(self, step: str) -> Run | None:
        """Return the last run in which an agent worked on a step, or None."""
        run = self._by_step.get(step, _UNTRIED).at_work
        return self[run] if run else None

    def tries(self, step: str) -> int:
        """Return how many attempts of a step any run was opened for: one that nobody has begun is none yet."""
        return self._by_step.get(step, _UNTRIED).tries

    def with_run(self, run: Run) -> Self:
        """Return a copy with one run set."""
        was, before = self.get(run.id), self.latest.get(run.instance, run.id)
        is_past = was is not None and not run.live and before != run.id
        copy = self.with_entry(run.id, _past(run) if is_past else run)
        if run.live:
            copy.live = {**self.live, run.id: run}
        elif run.id in self.live:
            copy.live = {each: live for each, live in self.live.items() if each != run.id}
        copy.spent = _with_spent(self.spent, was, run)
        if was is None:
            if before != run.id and not self[before].live:
                copy = copy.with_entry(before, _past(self[before]))
            copy.latest = {**self.latest, run.instance: run.id}
            copy._by_order = self._by_order.with_entry(run.order, run.id)
            of_step = self._by_step.get(run.step, _UNTRIED).with_run(run)
            copy._by_step = self._by_step.with_entry(run.step, of_step)
        return copy

    def _copy(self) -> Self:
        copy = super()._copy()
        copy.live, copy.latest, copy.spent = self.live, self.latest, self.spent
        copy._by_order, copy._by_step = self._by_order, self._by_step
        return copy


def _past(run: Run) -> Run:
    """Return a summary of a run that is gone and has a successor, without its process and screen state.

    The conversation stays: the successor may continue it, and checks first whether it still exists.
    """
    return replace(
        run,
        agent=_same(run.agent),
        instance=_same(run.instance),
        host=_same(run.host),
        turn=Turn.UNKNOWN,
        evidence="",
        since=0.0,
        pid=None,
        pane="",
        exit=_alike(run.exit),
        progress_at=0.0,
        uncounted=0.0,
        looked_at=0.0,
        watched_at=0.0,
        looks=0,
        quiet=None,
        cpu=None,
        printed=0,
        acknowledged=(),
        waits_for="",
        turn_since=0.0,
        event_at=0.0,
        said="",
        said_at=0.0,
        screen_changed_at=0.0,
        stage=Stage.UNKNOWN,
        records=0,
        recorded_at=0.0,
        novel_at=0.0,
        returned_at=0.0,
        cautioned_at=0.0,
        repeated="",
    )


@lru_cache(1024)
def _same(name: str) -> str:
    """Return one shared string for equal names: there are few names and many runs."""
    return name


@lru_cache(64)
def _alike(how: Exit | None) -> Exit | None:
    """Return one shared value for equal exits: there are few kinds and many runs."""
    return how


def _with_spent(spent: dict[str, Spent], was: Run | None, run: Run) -> dict[str, Spent]:
    """Return the totals by agent, updated by what a run has used since it was `was`. Checks count for no agent."""
    if run.purpose is not Purpose.WORK:
        return spent
    if was is not None and (was.usage, was.lasted) == (run.usage, run.lasted):
        return spent
    usage, lasted = (Usage(), 0.0) if was is None else (was.usage, was.lasted)
    so_far = spent.get(run.agent, _NONE)
    sum_ = replace(
        so_far,
        runs=so_far.runs + (was is None),
        time=so_far.time + run.lasted - lasted,
        usage=so_far.usage + run.usage.since(usage),
    )
    return {**spent, run.agent: sum_}
