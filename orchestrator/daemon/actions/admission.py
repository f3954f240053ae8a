"""Whether a run may be launched now, of all tasks: its tree is free, and there is a place with its CLI and on its host.

Who waits for what, and what it keeps meanwhile, is in `workspaces.leases`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.daemon.core.task_paths import shared_place
from orchestrator.model.actions import Commit, Inspect
from orchestrator.model.pools import pool_of
from orchestrator.model.programs import Program
from orchestrator.model.run import Life, Purpose, Run
from orchestrator.model.settings import Settings
from orchestrator.pm.state.task_state import PMState
from orchestrator.runtimes.registry import COMMAND, runtime_known
from orchestrator.workspaces.leases import Lease, Queue, queue_of


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The queue in which a run waits, and for what, in words."""

    queue: Queue
    text: str


def obstacle_of(
    state: PMState, run: Run, settings: Settings, held: Callable[[], Sequence[Lease] | None]
) -> Obstacle | None:
    """Return what a run waits for; None if it may be launched.

    Args:
        state: the state of its task.
        run: the run.
        settings: with the caps of hosts and agent CLIs.
        held: returns what the live runs of all tasks hold or wait for; None while that is not known. Called only if
            something is limited.

    """
    wanted = _lease(state, run, settings.runtimes)
    on_host, per_cli = _cap_of(run, settings), settings.limits.max_runs_per_cli
    if not wanted.path and on_host is None and per_cli is None:
        return None
    leases = held()
    if leases is None:
        return Obstacle(Queue.NONE, "the daemon has not read all tasks yet")
    queue, holder = queue_of(wanted, leases, on_host, per_cli)
    match queue:
        case Queue.NONE:
            return None
        case Queue.TREE:
            text = f"task {holder.task} writes in {holder.path}" if holder else "another run works there"
        case Queue.CLI:
            text = _of_all(per_cli or 0, f"with {wanted.cli}")
        case Queue.HOST:
            text = _of_all(on_host or 0, f"on {wanted.box or 'this machine'}")
    return Obstacle(queue, text)


def leases_of(
    state: PMState,
    waits: Mapping[str, Queue],
    tried: Collection[str],
    defined: Sequence[Program] = (),
) -> Iterator[Lease]:
    """Yield the shared trees and the places that the live runs of a task hold or wait for.

    The tree of a run that has left is held until it was looked at what it changed there, or until what it committed
    there was fetched: what the next one makes is not its own.

    Args:
        state: the state of the task.
        waits: which of its runs wait, in which queue.
        tried: the runs whose launch was tried.
        defined: the programs of the settings.

    """
    for run in state.live_runs:
        begun = run.life is not Life.STARTING or run.id in tried
        yield replace(_lease(state, run, defined), waits=waits.get(run.id, Queue.NONE), begun=begun)
    for action in state.outbox.values():
        last = state.runs.last_at_work_on(action.step) if isinstance(action, Inspect | Commit) else None
        if last is not None and not last.live and (place := shared_place(state, last)):
            yield Lease(place, last.id, state.name, place=False)


def _lease(state: PMState, run: Run, defined: Sequence[Program]) -> Lease:
    """Return what a run holds once it works."""
    return Lease(
        shared_place(state, run),
        run.id,
        state.name,
        run.host if run.on_box else "",
        _cli_of(state, run, defined),
        opened_at=run.opened_at,
    )


def _cap_of(run: Run, settings: Settings) -> int | None:
    """Return how many runs may be on the host of one; None: any number."""
    if not run.on_box:
        return settings.limits.max_local_runs
    pool = pool_of(settings.hosts, run.host)
    return None if pool is None else pool.cap


def _cli_of(state: PMState, run: Run, defined: Sequence[Program]) -> str:
    """Return the agent CLI whose account a run uses; empty for a plain command, and for a check."""
    agent = state.agents.get(run.agent)
    is_command = agent is None or run.purpose is Purpose.CHECK
    name = COMMAND if agent is None or is_command else runtime_known(agent, defined).name
    return "" if name == COMMAND else name


def _of_all(most: int, where: str) -> str:
    if most == 1:
        return f"1 agent of all tasks, the most at once, works {where} or waits ahead of it"
    return f"{most} agents of all tasks, the most at once, work {where} or wait ahead of it"
