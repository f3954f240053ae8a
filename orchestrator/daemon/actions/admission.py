"""Whether a run may be launched now, of all tasks: its tree is free, and there is a place on its host and with its CLI.

Runs are admitted in the order in which they were opened. The earliest waits for no other, so none waits in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.daemon.core.task_paths import shared_place
from orchestrator.model.actions import Inspect
from orchestrator.model.pools import pool_of
from orchestrator.model.programs import Program
from orchestrator.model.run import Run
from orchestrator.model.settings import Settings
from orchestrator.pm.state.task_state import PMState
from orchestrator.runtimes.registry import COMMAND, runtime_known
from orchestrator.workspaces.leases import Lease, is_full, is_used, may_take


def obstacle_of(state: PMState, run: Run, settings: Settings, held: Callable[[], Sequence[Lease]]) -> str:
    """Return what a run waits for, if anything.

    Args:
        state: the state of its task.
        run: the run.
        settings: with the caps of hosts and agent CLIs.
        held: returns the leases of all runs that were opened before it. Called only if something is limited.

    """
    place, limits = shared_place(state, run), settings.limits
    cap = _cap_of(run, settings)
    if not place and cap is None and limits.max_runs_per_cli is None:
        return ""
    leases = held()
    if place and (holder := may_take(leases, place)) is not None:
        return f"task {holder.task} writes in {holder.path}"
    if cap is not None and is_full(leases, run.host if run.on_box else "", cap):
        return f"{_of_all(cap)} on {run.host if run.on_box else 'this machine'}"
    if (most := limits.max_runs_per_cli) is not None:
        cli = _cli_of(state, run, settings.runtimes)
        if cli and is_used(leases, cli, most):
            return f"{_of_all(most)} with {cli}"
    return ""


def leases_of(state: PMState, opened_at: float, run: str, defined: Sequence[Program] = ()) -> list[Lease]:
    """Return the shared trees and the places that runs of a task hold, of those opened before another.

    The tree of a run that has left is held until it was looked at what it changed there: what the next one changes is
    not its own. `defined` are the programs of the settings.
    """
    earlier = [other for other in state.live_runs if (other.opened_at, other.id) < (opened_at, run)]
    held = [
        Lease(
            shared_place(state, other),
            other.id,
            state.name,
            other.host if other.on_box else "",
            _cli_of(state, other, defined),
        )
        for other in earlier
    ]
    inspected = (
        state.runs.last_at_work_on(each.step) for each in state.outbox.values() if isinstance(each, Inspect)
    )
    return held + [
        Lease(place, other.id, state.name, place=False)
        for other in inspected
        if other is not None and not other.live and (place := shared_place(state, other))
    ]


def _cap_of(run: Run, settings: Settings) -> int | None:
    """Return how many runs may be on the host of one; None: any number."""
    if not run.on_box:
        return settings.limits.max_local_runs
    pool = pool_of(settings.hosts, run.host)
    return None if pool is None else pool.cap


def _cli_of(state: PMState, run: Run, defined: Sequence[Program]) -> str:
    """Return the agent CLI that a run is a process of, and whose account it uses; empty for a plain command."""
    agent = state.agents.get(run.agent)
    name = COMMAND if agent is None else runtime_known(agent, defined).name
    return "" if name == COMMAND else name


def _of_all(most: int) -> str:
    if most == 1:
        return "1 agent of all tasks, the most at once, works or waits"
    return f"{most} agents of all tasks, the most at once, work or wait"
