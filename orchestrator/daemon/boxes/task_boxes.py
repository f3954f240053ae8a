"""What a task has on boxes: who is to bring its files, what is missing, and whether its runs can be reached."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.daemon.boxes.box_cleanup import BoxCleanup
from orchestrator.daemon.boxes.transfer_status import behind
from orchestrator.daemon.boxes.unfetched import Unfetched
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import TaskPaths, remote_task_of
from orchestrator.daemon.journal.engine import Engine
from orchestrator.model.facts import BoxBack, BoxLost
from orchestrator.model.run import Life

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from orchestrator.daemon.boxes.transfer_status import TransferStatus
    from orchestrator.ports.boxes import Belief, RemoteTask

log = logging.getLogger(__name__)


class TaskBoxes:
    """The boxes of one task."""

    def __init__(self, context: Context, home: Path, engine: Engine) -> None:
        self._context = context
        self._home = home
        self._engine = engine
        self._unfetched = Unfetched(context.adapters.files, home)
        self._cleanup = BoxCleanup(context, home)
        self._remote_tasks: tuple[RemoteTask, ...] = ()
        self._lost: dict[str, Belief] = {}
        self.behind: tuple[TransferStatus, ...] = ()

    @property
    def unfetched(self) -> Unfetched:
        """The runs that have ended and whose files are not all here."""
        return self._unfetched

    @property
    def due(self) -> dict[str, str]:
        """The boxes that are not cleaned up yet, each with its last run there."""
        return self._cleanup.due(self._engine.state)

    def look(self, where: TaskPaths, *, rests: bool) -> Iterator[BoxBack | BoxLost]:
        """Tell the boxes which runs, or files of runs, the task has there; yield what is believed of them anew."""
        boxes, state = self._context.adapters.boxes, self._engine.state
        far = [run for run in state.live_runs if run.on_box]
        over = self._unfetched.look(state, self._context.clock.now())
        self._see_behind(run.host for run in (*far, *over))
        if rests and not over:
            self._cleanup.leave_all(state)
        if not (far or over or self._remote_tasks):
            return
        remote_tasks = tuple(
            dict.fromkeys(
                remote_task
                for run in (*far, *over)
                if (remote_task := remote_task_of(state, where, run, over))
            )
        )
        if remote_tasks != self._remote_tasks:
            self._remote_tasks = remote_tasks
            boxes.keep(self._home.name, remote_tasks)
        for box in dict.fromkeys(run.host for run in far):
            belief, at = boxes.belief(box, self._home.name), self._context.clock.now()
            lives = {run.life for run in far if run.host == box}
            if belief is None:
                continue
            if belief.reachable and Life.UNREACHABLE in lives:
                yield BoxBack(at, self._context.nonce(), box)
            elif not belief.reachable and (lives != {Life.UNREACHABLE} or belief != self._lost.get(box)):
                self._lost[box] = belief
                yield BoxLost(at, self._context.nonce(), box, belief.why, belief.refused)

    def keep_again(self) -> None:
        """Have files brought again: the task was released, and stays."""
        self._context.adapters.boxes.keep(self._home.name, self._remote_tasks)

    def let_go(self) -> None:
        """Have nothing brought any more."""
        if self._remote_tasks:
            self._remote_tasks = ()
            self._context.adapters.boxes.keep(self._home.name, ())

    def _see_behind(self, names: Iterable[str]) -> None:
        """Report which runs' files are missing, and refresh the projections when that changed."""
        boxes, names = self._context.adapters.boxes, set(names)

        def why(box: str) -> str:
            return "".join(each.why for each in behind(boxes, self._home.name, [box], ()))

        for text in self._unfetched.said(self._context.clock.now(), why):
            self._engine.say(text)
        if (now := behind(boxes, self._home.name, names, self._unfetched.missing())) != self.behind:
            self.behind = now
            self._engine.dirty = True
