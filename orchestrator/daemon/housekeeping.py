"""Housekeeping: panes that nobody needs to look at any more, trees that nobody will work in again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.daemon.act.launch import Places, tree_of

if TYPE_CHECKING:
    from orchestrator.pm.state import PMState
    from orchestrator.ports.host import PaneSeen
    from orchestrator.ports.workspaces import Tree


def spent_panes(state: PMState, panes: list[PaneSeen]) -> list[PaneSeen]:
    """Return the dead panes of a task whose instance has a later run: the last words of each stay to be read."""
    latest = {run.instance: run.id for run in state.runs.values()}
    return [
        pane
        for pane in panes
        if pane.session == state.id
        and pane.dead
        and (run := state.runs.get(pane.run)) is not None
        and latest[run.instance] != run.id
    ]


def spent_trees(state: PMState, where: Places) -> list[Tree]:
    """Return the worktrees whose steps are all settled and that no live run stands in."""
    used = {state.steps[run.step].workspace for run in state.live_runs}
    used |= {step.workspace for step in state.steps.values() if not step.settled}
    spent = {
        step.workspace: tree
        for step in state.steps.values()
        if step.workspace not in used and (tree := tree_of(state, step, where)) is not None
    }
    return list(spent.values())
