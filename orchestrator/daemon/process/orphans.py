"""Runs that work for a task and that no journal knows: the state folder was deleted while they worked.

Nobody listens to them, and the next start of the task would begin others beside them. So they are ended, as runs are
that a damaged journal has forgotten. A run whose own folder lies under another state folder is another daemon's: it is
left alone, and the start is refused.

Killed processes may take seconds to vanish. A worker waits for that, and the request to start is handled once more when
it is done: the deciding thread has other tasks. After damage to a journal it is the same: the recovery of that task
waits.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.hints import RequestHint
from orchestrator.model.errors import Refused
from orchestrator.ports.host import Standing

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.ports.host import Host
    from orchestrator.ports.marked_runs import MarkedRun

log = logging.getLogger(__name__)

KILLS: Final = 3
"""How often a run that no journal knows is killed until it is gone: its processes may start others meanwhile."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """The runs that were ended, or why the start is refused."""

    runs: tuple[str, ...] = ()
    refused: str = ""


@dataclass(slots=True)
class Orphans:
    """Ends the orphans of tasks that are to begin. `_outcomes` has those that a worker was given, by task."""

    context: Context
    _outcomes: dict[str, _Ended | None] = field(default_factory=dict)

    def end(
        self, task: str, folder: Path, known: Collection[str], strangers: Sequence[Path]
    ) -> tuple[str, ...] | None:
        """End the runs for a task's folder that are not `known`; return their ids, or None while they end.

        `strangers` are folders of runs below the task's own that no journal knows: what lives of them ends too.

        Raises:
            Refused: another daemon knows one of them, or one cannot be ended.

        """
        if task not in self._outcomes:
            unknown, host = self._unknown(folder, known), self.context.adapters.host
            living = [each for each in strangers if host.observe(each).standing is not Standing.GONE]
            if not (unknown or living):
                return ()
            self._outcomes[task] = None
            work = partial(self._work, task, folder.name, unknown, living)
            self.context.executor.do(f"{task}/orphans", work)
            return None
        if (outcome := self._outcomes[task]) is None:
            return None
        del self._outcomes[task]
        if outcome.refused:
            raise Refused(outcome.refused)
        return outcome.runs

    def _unknown(self, folder: Path, known: Collection[str]) -> list[MarkedRun]:
        adapters, state = self.context.adapters, self.context.state_folder
        unknown = [each for each in adapters.marked_runs.of_task(folder) if each.run not in known]
        for each in unknown:
            if not each.folder.is_relative_to(state) and adapters.files.entry(each.folder) is not None:
                raise Refused(
                    f"{folder.name} is at work under another state folder, in {each.folder}: end it there first "
                    f"({layout.HOME_VARIABLE}=… task stop {folder.name})"
                )
        return unknown

    def _work(self, task: str, name: str, unknown: Sequence[MarkedRun], strangers: Sequence[Path]) -> None:
        refused = "what works for it and is in no journal could not be ended: see the daemon's log"
        try:
            for folder in strangers:
                end_stranger(self.context.adapters.host, folder)
            left = [each for each in unknown if not self.context.adapters.marked_runs.end(each)]
            refused = (
                f"{_named(left[0])} works for {name}, is in no journal, and cannot be ended: end it"
                if left
                else ""
            )
        except Exception:
            log.exception("task %s: runs that no journal knows could not be ended", task)
        self._outcomes[task] = _Ended(tuple(each.run for each in unknown), refused)
        self.context.post(RequestHint(task))


@dataclass(slots=True)
class Strangers:
    """Ends runs below one task's own folder that its journal does not know, as after damage.

    `is_busy`: a worker ends them at this moment.
    """

    context: Context
    task: str
    is_busy: bool = False
    _is_tried: bool = False

    def ended(self, folders: Sequence[Path]) -> bool:
        """Return whether they were ended, or that was tried; if not, a worker does it, and a hint tells when it has.

        Raises:
            Unavailable: it cannot be determined whether they live.

        """
        host = self.context.adapters.host
        if not (self.is_busy or self._is_tried):
            living = [each for each in folders if host.observe(each).standing is not Standing.GONE]
            if not living:
                return True
            self.is_busy = self._is_tried = True
            self.context.executor.do(f"{self.task}/orphans", partial(self._work, living))
        if self.is_busy:
            return False
        self._is_tried = False
        return True

    def _work(self, folders: Sequence[Path]) -> None:
        try:
            for folder in folders:
                end_stranger(self.context.adapters.host, folder)
        except Exception:
            log.exception("task %s: runs that its journal does not know could not be ended", self.task)
        self.is_busy = False
        self.context.post(RequestHint(self.task))


def end_stranger(host: Host, folder: Path) -> None:
    """Kill a run that no journal knows. Raises Unavailable."""
    for _ in range(KILLS):
        if host.observe(folder).standing is Standing.GONE:
            break
        log.warning("run %s is in no journal and is ended", folder.name)
        host.end(folder, kill=True)


def _named(run: MarkedRun) -> str:
    return f"run {run.run} (its launcher is {run.launcher.partition('@')[0]})"
