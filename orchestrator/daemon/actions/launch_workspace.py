"""The folder that a run works in: prepared if the run may still change nothing in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.finish import bring_judged
from orchestrator.daemon.actions.inspect import look_ahead, look_before
from orchestrator.daemon.actions.own_artifacts import list_before
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths, worked_in, workspace_of
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.model.facts import EditsRefused
from orchestrator.model.plan import Gate, Step
from orchestrator.model.run import Purpose, Run
from orchestrator.pm.plan.tree_lives import begins_work, makes_ready
from orchestrator.pm.plan.work_location import only_looks
from orchestrator.ports.worktree import TreeLost
from orchestrator.workspaces.branch_files import commit_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.worktree import Tree


SHORT: Final = 10
"""Characters of a commit's hash that are shown."""


def prepared_workspace(
    adapters: Adapters,
    state: PMState,
    step: Step,
    run: Run,
    where: TaskPaths,
    tell: Callable[[Fact], None] = lambda _: None,
) -> Path:
    """Return the folder that a run works in, prepared if the run may still change nothing in it.

    `tell` is told if the task's branch was deleted or set back, and is put back.
    """
    before = commit_of(str(where.code), state.branch) if state.tip else None
    workspace = _prepared(adapters, state, step, run, where)
    if before not in {None, state.tip} and commit_of(str(where.code), state.branch) == state.tip:
        found = f"was set back to {before[:SHORT]}" if before else "was deleted"
        said = f"it {found}, and is at {state.tip[:SHORT]} again, where the PM left it"
        tell(EditsRefused(run.opened_at, f"{run.id}:branch", (said,), f"the branch {state.branch}"))
    return workspace


def _prepared(adapters: Adapters, state: PMState, step: Step, run: Run, where: TaskPaths) -> Path:
    tree = worked_in(state, run, where)
    launched = adapters.files.entry(layout.run_home(where.home, run.id) / LAUNCHED) is not None
    if not launched:
        list_before(adapters.files, step, run, where)
    if tree is None:
        looks = run.purpose is Purpose.WORK and only_looks(state.brief.config, step)
        if (Gate.CHANGED in step.gates or looks) and not launched:
            look_ahead(adapters, state, step, run, where)
        return workspace_of(state, run, where)
    workspace = _made_ready(adapters, state, step, run, where, tree, launched=launched)
    if not launched and run.purpose is Purpose.WORK and only_looks(state.brief.config, step):
        look_before(adapters, tree, run, where)
    return workspace


def _made_ready(
    adapters: Adapters, state: PMState, step: Step, run: Run, where: TaskPaths, tree: Tree, *, launched: bool
) -> Path:
    """Return the worktree that a run works in, as it is, or reset to where the run must begin."""
    if launched or not begins_work(state, step, run.purpose):
        if not launched and not step.prepared:
            bring_judged(adapters, state, step, tree)
            if _is_over(adapters, state, step, tree):
                return adapters.workspaces.prepare(tree, step.attempt)
        return adapters.workspaces.where(tree)
    if not makes_ready(state, step, run.purpose):
        try:
            return adapters.workspaces.where(tree)
        except TreeLost:
            if tree.name in adapters.workspaces.remains(where.code, where.trees, state.branch):
                raise
            # The tree was never made: its step got no further than its first launch.
    return adapters.workspaces.prepare(tree, step.attempt, step.starts_from)


def _is_over(adapters: Adapters, state: PMState, step: Step, tree: Tree) -> bool:
    """Return whether a step judges work that is on the task's branch, and whose tree was therefore removed.

    It is judged again at the tip of that branch, with all later work.
    """
    judged = state.steps.get(step.judges)
    if judged is None or not judged.commit or adapters.files.entry(tree.path) is not None:
        return False
    return adapters.workspaces.holds(tree, judged.commit)
