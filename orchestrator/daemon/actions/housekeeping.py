"""Housekeeping: panes that nobody needs to see any more, and trees in which nobody will work again."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import TaskPaths, tree_of
from orchestrator.daemon.journal.segments import compress_closed
from orchestrator.model.actions import Inspect
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.host_names import is_box
from orchestrator.ports.boxes import reached

if TYPE_CHECKING:
    from orchestrator.pm.state.steps import Marks
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.host import Host, PaneSeen
    from orchestrator.ports.worktree import Tree

log = logging.getLogger(__name__)


def spent_panes(state: PMState, panes: list[PaneSeen]) -> list[PaneSeen]:
    """Return the dead panes of a task whose instance has a later run: each instance's last pane stays."""
    latest = state.runs.latest
    return [
        pane
        for pane in panes
        if pane.session == state.id
        and pane.dead
        and (run := state.runs.get(pane.run)) is not None
        and latest[run.instance] != run.id
    ]


def boxes_of(state: PMState) -> list[str]:
    """Return the boxes on which the last runs of instances are, or were."""
    return sorted(
        host for host in {state.runs[run].host for run in state.runs.latest.values()} if is_box(host)
    )


def close_spent(state: PMState, host: Host) -> None:
    """Close spent panes on this machine, or on a box.

    Raises:
        Unavailable: tmux, or the box, cannot do it now.

    """
    for pane in spent_panes(state, host.panes()):
        host.close_pane(pane.id, pane.run)


def settled(state: PMState) -> Marks:
    """Return the settled steps, without those whose trees are still used by a run or a look."""
    others = state.steps.unsettled
    for run in state.live_runs:
        step = state.steps[run.step]
        if step.settled:
            others |= state.steps.of_tree(step.kind, step.workspace)
    for action in state.outbox.values():
        if isinstance(action, Inspect):
            step = state.steps[action.step]
            others |= state.steps.of_tree(step.kind, step.workspace)
    return state.steps.all & ~others


def spent_trees(state: PMState, where: TaskPaths, done: Marks, since: Marks) -> list[Tree]:
    """Return the worktrees whose steps are all `done`.

    `since` are the steps that have become done: only their trees are checked, each once. In a large plan all steps may
    share one tree, and it comes up again whenever a run leaves it.
    """
    trees: dict[str, Tree] = {}
    while (step := state.steps.first(since)) is not None:
        others = state.steps.of_tree(step.kind, step.workspace)
        since &= ~(others | state.steps.mark(step.id))
        if not others & ~done and (tree := tree_of(state, step, where)) is not None:
            trees[step.workspace] = tree
    return list(trees.values())


@dataclass(slots=True)
class Housekeeping:
    """Keeps house for one task.

    `_left` are the settled steps whose trees were cleaned up, `_put_off` those where that failed, `_swept` how many
    runs were gone the last time.
    """

    context: Context
    task: str
    home: Path
    _left: Marks = 0
    _put_off: list[Marks] = field(default_factory=list)
    _swept: int = 0

    @property
    def is_put_off(self) -> bool:
        """Return whether something has to be done again."""
        return bool(self._put_off)

    def keep_house(self, state: PMState, where: TaskPaths) -> None:
        """Close panes and remove trees that are not needed any more; compress closed segments of the journal.

        Nothing waits for it, and it may be repeated.
        """
        adapters = self.context.adapters
        while self._put_off:
            self._left &= ~self._put_off.pop()
        done = settled(state)
        left, self._left = done & ~self._left, done
        trees = {tree.name: tree for tree in spent_trees(state, where, done, left)}
        gone = len(state.runs) - len(state.live_runs)
        sweep, self._swept = gone != self._swept, gone
        journal = layout.task_journal(self.home)

        def work() -> None:
            try:
                # Leftovers of a tree that a killed daemon was removing are swept as well, even if its folder is gone.
                there = adapters.workspaces.remains(where.code, where.trees, state.branch) if trees else ()
                for name in trees.keys() & there:
                    adapters.workspaces.release(trees[name], 0)
                if sweep:
                    compress_closed(adapters.files, journal)
                    close_spent(state, adapters.host)
            except (OrchestratorError, OSError) as error:
                log.info("housekeeping of %s was put off: %s", state.id, error)
                self._put_off.append(left)

        def work_on(box: str) -> None:
            try:
                close_spent(state, adapters.boxes.host(box))
            except (OrchestratorError, OSError) as error:
                log.info("panes of %s on %s will be closed later: %s", state.id, box, error)
                self._put_off.append(left)

        if trees or sweep:
            self.context.executor.do(f"{self.task}/house", work)
        for box in boxes_of(state) if sweep else ():
            if reached(adapters.boxes, box):
                self.context.executor_for(box).do(f"{self.task}/house", partial(work_on, box))
