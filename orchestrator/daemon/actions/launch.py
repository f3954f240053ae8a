"""Launch a run: its workspace, its order, its pane. All parts may be repeated; the claim file decides (law 4).

Paths that a run gets are valid on the machine on which it lives: `where` is here, `there` as the run sees them.

The file `launched` in the run's folder marks the boundary: before it the workspace may be made anew; after it the agent
may be at work there, so that only the launcher is tried again.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.branch_there import branch_there
from orchestrator.daemon.actions.launch_context import LaunchContext
from orchestrator.daemon.actions.launch_spec import launch_spec
from orchestrator.daemon.actions.launch_times import LaunchTimes
from orchestrator.daemon.actions.launch_workspace import prepared_workspace
from orchestrator.daemon.core.hand_ins import keep_sent
from orchestrator.daemon.core.memories_there import keep_memories
from orchestrator.daemon.core.task_paths import (
    Adapters,
    RunView,
    TaskPaths,
    remote_task_of,
    task_folder_of,
)
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.daemon.ingest.task_folder import trouble
from orchestrator.hosts.tmux_failures import TmuxFailed
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.facts import RunQueued, RunStarted
from orchestrator.model.run import Purpose, Run
from orchestrator.pm.plan.families.skills import phase_of
from orchestrator.pm.policies.turn_ends import hands_in_by_files
from orchestrator.ports.box_link import NotLetIn, Unreachable
from orchestrator.ports.host import LaunchSpec, Standing
from orchestrator.runtimes.roster import undefined

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.boxes import RemoteTask
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.host import Host

log = logging.getLogger(__name__)


CLAIM_PATIENCE: Final = 0.5
CLAIM_LOOK: Final = 0.001
"""Seconds: how long to wait for a launcher's report, and how often to look. It comes within 10 ms (measured)."""


def launch(
    adapters: Adapters,
    state: PMState,
    run: Run,
    where: TaskPaths,
    clock: Clock,
    asked: float | None = None,
    tell: Callable[[Fact], None] = lambda _: None,
) -> RunStarted | RunQueued | None:
    """Launch a run, or continue an interrupted launch. `asked`: since when it waits for its turn, on `clock`.

    `tell` is told of what a person has to know, beside the outcome.

    Returns that it lives, or waits in a queue, if its launcher reports soon; otherwise that is seen later, or missed
    (`limits.start_timeout`).

    Raises:
        Refused: it can never be launched as it is.
        Unavailable: tmux or git cannot do it now.
        OSError: the disk cannot do it now.

    """
    folder, host = layout.run_home(where.home, run.id), adapters.host_of(run)
    times = LaunchTimes(clock, clock.monotonic() if asked is None else asked)
    times.ended("queue")
    if host.observe(folder).standing is not Standing.NOT_CLAIMED:
        return None
    step, agent = state.steps[run.step], state.agents.get(run.agent)
    if agent is None:
        raise Refused(undefined(run.agent, state.project))
    if run.purpose is Purpose.WORK and run.order not in state.orders:
        # It has reported, and a power cut lost the files that show that it lived.
        raise Refused(f"its order {run.order} is closed already")
    if why := trouble(adapters.files, where.task, state.links, closely=False):
        # Made here, it would be another folder, without task.md and handoffs, and nobody would ask about the real one.
        raise Unavailable(f"the task's folder {where.task} {why}")
    adapters.files.make_folder(folder)
    there = _there(adapters, state, run, where)
    times.ended("folders")
    workspace = prepared_workspace(adapters, state, step, run, where, tell)
    times.ended("tree")
    launched = adapters.files.entry(folder / LAUNCHED) is not None
    branch = branch_there(adapters, state, step, run, where, launched=launched)
    times.ended("branch")
    spec = launch_spec(LaunchContext(adapters, state, run, agent, where, there, workspace, branch, tell))
    if (remote_task := remote_task_of(state, where, run)) is not None:
        adapters.boxes.send(remote_task, run.instance)
        if not launched and hands_in_by_files(step):
            adapters.boxes.send_workflow(remote_task, _kept(adapters, state, run, where))
        adapters.files.write(layout.run_outstanding(folder), b"")
    # A run's folder describes processes: it means nothing after a power cut here, so it is not fsynced. Processes on a
    # box survive a power cut here.
    adapters.files.write(folder / LAUNCHED, b"", durable=run.on_box)
    times.ended("order and files")
    try:
        _open(state, where, host, spec)
    except Unavailable as error:
        if run.on_box and not launched and _was_not_opened(host, folder, error):
            adapters.files.remove(folder / LAUNCHED)
        raise
    times.ended("window")
    if remote_task is not None:
        _show(adapters, state, where, remote_task)
    patience = clock.monotonic() + CLAIM_PATIENCE
    while (seen := host.observe(folder)).pid is None and clock.monotonic() < patience:
        clock.sleep(CLAIM_LOOK)
    times.ended("launcher")
    times.log_if_slow(run.id)
    if seen.queued:
        return RunQueued(clock.now(), run.id, seen.queued)
    return None if seen.pid is None else RunStarted(clock.now(), run.id, seen.pid, seen.pane)


def _kept(adapters: Adapters, state: PMState, run: Run, where: TaskPaths) -> Path:
    """Return the folder with the files that a run on a box is to find there. Raises Unreadable, OSError."""
    home = layout.run_home(where.home, run.id)
    plan, phase = state.brief.skill, phase_of(state.brief, state.steps[run.step])
    if plan is None or phase is None:
        return keep_sent(adapters.files, where.task, home, run.id)
    return keep_memories(adapters.files, Path(state.project), home, run.id, plan, phase)


def _open(state: PMState, where: TaskPaths, host: Host, spec: LaunchSpec) -> None:
    """Open a run's window. Raises as `Host.launch` does."""
    try:
        host.launch(spec)
    except Unreachable:
        raise
    except Unavailable:  # most likely there is no session yet; otherwise this fails in the same way
        host.open_session(state.id, state.name, layout.task_log(where.home))
        host.launch(spec)


def _was_not_opened(host: Host, folder: Path, error: Unavailable) -> bool:
    """Return whether it is certain that no launcher of a run comes on its box after its first try failed like this.

    Nothing is begun there before tmux is asked. If tmux refused, our claim makes it certain.
    """
    if isinstance(error, Unreachable | NotLetIn):
        return False
    if not isinstance(error, TmuxFailed):
        return True
    try:
        host.fence(folder)
    except Unavailable:
        return False
    return True


def _show(adapters: Adapters, state: PMState, where: TaskPaths, remote_task: RemoteTask) -> None:
    """Make a window here that shows the agents on a box. They do not need it, so a failure is only logged."""
    try:
        adapters.host.open_session(state.id, state.name, layout.task_log(where.home))
        adapters.boxes.show(remote_task)
    except Unavailable as error:
        log.info("%s has no window here: %s", remote_task.box, error)


def _there(adapters: Adapters, state: PMState, run: Run, where: TaskPaths) -> RunView:
    """Return a run's view of its task; on a box, prepare everything for it."""
    remote_task = remote_task_of(state, where, run)
    if remote_task is None:
        return RunView(where, adapters.environ)
    ground = adapters.boxes.ground(remote_task)
    task = task_folder_of(state, run, where.task)
    return RunView(
        TaskPaths(Path(remote_task.place), ground.home, task, ground.home), ground.environ, run.host
    )
