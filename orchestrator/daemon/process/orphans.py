"""Runs that work for a task and that no journal knows: the state folder was deleted while they worked.

Nobody listens to them, and the next start of the task would begin others beside them. So they are ended, as runs are
that a damaged journal has forgotten. A run whose own folder lies under another state folder is another daemon's: it is
left alone, and the start is refused.

Killed processes may take seconds to vanish. A worker waits for that, and the request to start is handled once more when
it is done: the deciding thread has other tasks.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.hints import RequestHint
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.ports.marked_runs import MarkedRun

log = logging.getLogger(__name__)


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

    def end(self, task: str, folder: Path, known: Collection[str]) -> tuple[str, ...] | None:
        """End the runs for a task's folder that are not `known`; return their ids, or None while they end.

        Raises:
            Refused: another daemon knows one of them, or one cannot be ended.

        """
        if task not in self._outcomes:
            if not (unknown := self._unknown(folder, known)):
                return ()
            self._outcomes[task] = None
            self.context.executor.do(f"{task}/orphans", partial(self._work, task, folder.name, unknown))
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

    def _work(self, task: str, name: str, unknown: Sequence[MarkedRun]) -> None:
        refused = "what works for it and is in no journal could not be ended: see the daemon's log"
        try:
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


def _named(run: MarkedRun) -> str:
    return f"run {run.run} (its launcher is {run.launcher.partition('@')[0]})"
