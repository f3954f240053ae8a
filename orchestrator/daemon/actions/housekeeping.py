"""Housekeeping: panes that nobody needs to see any more, and trees in which nobody will work again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.daemon.core.task_paths import TaskPaths, tree_of
from orchestrator.model.actions import Inspect
from orchestrator.model.host_names import is_box

if TYPE_CHECKING:
    from orchestrator.pm.state.steps import Marks
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.host import Host, PaneSeen
    from orchestrator.ports.workspaces import Tree


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
