"""Launch a run: its workspace, its order, its pane. All parts may be repeated; the claim file decides (law 4).

Paths that a run gets are valid on the machine on which it lives: `where` is here, `there` as the run sees them.

The file `launched` in the run's folder marks the boundary: before it the workspace may be made anew; after it the agent
may be at work there, so that only the launcher is tried again.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from orchestrator import layout
from orchestrator.daemon.actions.finish import bring_judged
from orchestrator.daemon.actions.inspect import look_ahead, look_before
from orchestrator.daemon.actions.launch_times import LaunchTimes
from orchestrator.daemon.actions.workflow_launch import prepare_agent
from orchestrator.daemon.core.task_paths import (
    Adapters,
    RunView,
    TaskPaths,
    artifacts_of,
    granted,
    hands_in_to,
    remote_task_of,
    task_folder_of,
    worked_in,
    workspace_of,
)
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.daemon.ingest.task_folder import is_right, make_run_folders
from orchestrator.daemon.ingest.transcripts import remembered
from orchestrator.formats.handoff import render_order
from orchestrator.formats.pm_preamble import pm_preamble
from orchestrator.formats.preamble import preamble
from orchestrator.formats.text import local_time
from orchestrator.formats.workflow_preamble import WorkflowOrder, workflow_preamble
from orchestrator.hosts.tmux_failures import TmuxFailed
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.facts import RunStarted
from orchestrator.model.plan import Gate, Step
from orchestrator.model.run import Purpose, Run
from orchestrator.pm.plan.tree_lives import begins_work, makes_ready
from orchestrator.pm.plan.work_location import only_looks
from orchestrator.pm.policies.gates import sections_for
from orchestrator.pm.policies.turn_ends import hands_in_by_files, subjects_of
from orchestrator.ports.box_link import NotLetIn, Unreachable
from orchestrator.ports.host import LaunchSpec, Standing
from orchestrator.ports.workspaces import TreeLost
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.environment import Assignment, passed, run_environment
from orchestrator.runtimes.registry import runtime_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.model.agents import Agent
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.boxes import RemoteTask
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.host import Host
    from orchestrator.ports.workspaces import Tree
    from orchestrator.runtimes import Runtime

log = logging.getLogger(__name__)

_SESSIONS: Final = UUID("6f1c9c1e-6d0b-5c6e-9a53-9d7f4f1f6a10")

KEPT_NAMED: Final = 5
"""How many refs that keep earlier work an order lists, the newest first."""

CLAIM_PATIENCE: Final = 0.5
CLAIM_LOOK: Final = 0.001
"""Seconds: how long to wait for a launcher's report, and how often to look. It comes within 10 ms (measured)."""


def launch(
    adapters: Adapters, state: PMState, run: Run, where: TaskPaths, clock: Clock, asked: float | None = None
) -> RunStarted | None:
    """Launch a run, or continue an interrupted launch. `asked`: since when it waits for its turn, on `clock`.

    Returns that it lives, if its launcher reports soon; otherwise that is seen later, or missed
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
        raise Refused(f"there is no agent named {run.agent}: run `task setup-agents` or add its definition")
    if run.purpose is Purpose.WORK and run.order not in state.orders:
        # It has reported, and a power cut lost the files that show that it lived.
        raise Refused(f"its order {run.order} is closed already")
    adapters.files.make_folder(folder)
    there = _there(adapters, state, run, where)
    times.ended("folders")
    workspace = _workspace(adapters, state, step, run, where)
    times.ended("tree")
    spec = _spec(adapters, state, run, step, agent, where, there, workspace)
    if (remote_task := remote_task_of(state, where, run)) is not None:
        adapters.boxes.send(remote_task, run.instance)
        adapters.files.write(layout.run_outstanding(folder), b"")
    # A run's folder describes processes: it means nothing after a power cut here, so it is not fsynced. Processes on a
    # box survive a power cut here.
    first = adapters.files.entry(folder / LAUNCHED) is None
    adapters.files.write(folder / LAUNCHED, b"", durable=run.on_box)
    times.ended("order and files")
    try:
        _open(state, where, host, spec)
    except Unavailable as error:
        if run.on_box and first and _was_not_opened(host, folder, error):
            adapters.files.remove(folder / LAUNCHED)
        raise
    times.ended("window")
    if remote_task is not None:
        _show(adapters, state, where, remote_task)
    patience = clock.monotonic() + CLAIM_PATIENCE
    while (seen := host.observe(folder)).pid is None and clock.monotonic() < patience:
        clock.sleep(CLAIM_LOOK)
    times.ended("launcher")
    times.tell(run.id)
    return None if seen.pid is None else RunStarted(clock.now(), run.id, seen.pid, seen.pane)


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


def _workspace(adapters: Adapters, state: PMState, step: Step, run: Run, where: TaskPaths) -> Path:
    """Return the folder that a run works in, prepared if the run may still change nothing in it."""
    tree = worked_in(state, run, where)
    launched = adapters.files.entry(layout.run_home(where.home, run.id) / LAUNCHED) is not None
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
        if not launched:
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


def _spec(  # noqa: PLR0913, PLR0917 (it gathers many values)
    adapters: Adapters,
    state: PMState,
    run: Run,
    step: Step,
    agent: Agent,
    where: TaskPaths,
    there: RunView,
    workspace: Path,
) -> LaunchSpec:
    seen = there.where
    folder = layout.run_home(seen.home, run.id)
    order_file = layout.run_order(folder)
    if aside := make_run_folders(adapters.files, where.task, state, run):
        log.warning("task %s: %s", state.id, aside)
    if run.purpose is Purpose.WORK:
        prepare_agent(adapters.files, where, state, step, run.opened_at)
    assignment = _assignment(state, run, step, seen, workspace)
    launching, variables, text = Launching(agent.check), tuple[str, ...](), ""
    if run.purpose is Purpose.WORK:
        runtime = runtime_of(agent, adapters.settings.runtimes)
        variables = runtime.variables
        text = _publish_order(adapters, state, run, agent, where, there, workspace)
        launching = runtime.launching(
            Spawn(
                agent=agent,
                folder=folder,
                workspace=workspace,
                granted=granted(state, run, seen.task),
                order=order_file,
                prompt=text,
                session=session_of(run),
                resumes=_session_to_resume(adapters, state, run, runtime),
                environ=passed(there.environ, (*adapters.settings.environment.passed, *variables)),
            )
        )
    names = (*adapters.settings.environment.passed, *variables)
    return LaunchSpec(
        run=run.id,
        folder=layout.run_home(where.home, run.id),
        argv=launching.argv,
        cwd=workspace,
        session=state.id,
        window=run.instance,
        environment=({} if run.on_box else _folders_for_cli(adapters.environ))
        | run_environment(there.environ, names, assignment, launching.environment),
        files=dict(launching.files),
        order=text.encode() if run.on_box else b"",
        writable=(folder, layout.task_events(seen.home), workspace, *granted(state, run, seen.task)),
    )


def _assignment(state: PMState, run: Run, step: Step, seen: TaskPaths, workspace: Path) -> Assignment:
    """Return what a run must know of itself, with paths as it sees them."""
    return Assignment(
        run=run.id,
        task=state.name,
        instance=run.instance,
        agent=run.agent,
        step=step.id,
        attempt=state.runs.tries(step.id),
        order=layout.run_order(layout.run_home(seen.home, run.id)),
        reply_to=run.order,
        task_dir=seen.task,
        handoffs=hands_in_to(state, run, seen.task),
        workspace=workspace,
        artifacts=artifacts_of(state, run, seen.task),
        scratchpad=layout.scratchpad(seen.task, run.instance),
        subtask=step.subtask,
        template=seen.template,
        base=state.base,
        branch=state.branch,
        check_exit=step.check_exit,
        resumes=run.resumes,
    )


def session_of(run: Run) -> str:
    """Return the name of a new conversation of a run, if its program lets us choose: always the same."""
    return str(uuid5(_SESSIONS, run.id))


def _session_to_resume(adapters: Adapters, state: PMState, run: Run, runtime: Runtime) -> str:
    """Return the conversation that a run resumes; none if it is used up, or its program has lost it."""
    before = state.runs.get(run.resumes) if run.resumes else None
    if before is None or before.spent or not before.session:
        return ""
    if not remembered(adapters.files, before, runtime):
        log.warning("%s begins a new conversation: %s lost that of %s", run.id, runtime.name, before.id)
        return ""
    return before.session


def _folders_for_cli(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables by which `task status` inside a run finds the user's PM folder and settings."""
    ours = (layout.HOME_VARIABLE, layout.CONFIG_VARIABLE)
    return {variable: environ[variable] for variable in ours if variable in environ}


def _publish_order(
    adapters: Adapters,
    state: PMState,
    run: Run,
    agent: Agent,
    where: TaskPaths,
    there: RunView,
    workspace: Path,
) -> str:
    """Write the order where everybody can read it, and with its preamble where its agent does; return the latter."""
    seen = there.where
    order = state.orders[run.order]
    rendered = render_order(order)
    public = layout.handoffs(where.task) / order.name
    adapters.files.make_folder(public.parent, 0o755)
    if not is_right(adapters.files, where.task, public.parent.name, state.links):
        raise Unavailable(f"{public.parent} leads elsewhere: it is put right ahead of the next try")
    if (
        not adapters.files.create(public, rendered.encode(), 0o644, durable=False)
        and adapters.files.read(public) != rendered.encode()
    ):
        raise Unavailable(f"{public} was written by somebody else")
    if Gate.DECISION in state.steps[run.step].gates:
        text = pm_preamble(
            agent=run.instance,
            task=state.name,
            at=order.at,
            cwd=str(workspace),
            task_dir=str(where.task),
            handoffs=str(hands_in_to(state, run, where.task)),
            scratchpad=str(layout.scratchpad(where.task, run.instance)),
            run=run.id,
            order=rendered,
            wait=adapters.settings.limits.pm_hold_timeout,
            patience=adapters.settings.limits.pm_timeout,
            definition=agent.prompt,
        )
        return _kept(adapters, where, run, text)
    if hands_in_by_files(state.steps[run.step]):
        text = workflow_preamble(_workflow_order(adapters, state, run, agent, where, rendered, workspace))
        return _kept(adapters, where, run, text)
    text = preamble(
        agent=run.instance,
        role=agent.role,
        task=state.name,
        at=order.at,
        cwd=str(workspace),
        task_dir=str(seen.task),
        handoffs=str(hands_in_to(state, run, seen.task)),
        artifacts=str(artifacts_of(state, run, seen.task)),
        scratchpad=str(layout.scratchpad(seen.task, run.instance)),
        run=run.id,
        order_name=order.name,
        # What it says of the task's folder must be found where its agent works (H8).
        order=rendered.replace(str(where.task), str(seen.task)),
        remote_host=there.name,
        gates=state.steps[run.step].gates,
        criteria=state.brief.criteria,
        definition=agent.prompt,
        earlier=_earlier_work(adapters, state, run, where),
        asked=sections_for(state.steps[run.step].gates),
        handoff_format=state.brief.config.handoffs,
    )
    return _kept(adapters, where, run, text)


def _workflow_order(
    adapters: Adapters,
    state: PMState,
    run: Run,
    agent: Agent,
    where: TaskPaths,
    order: str,
    workspace: Path,
) -> WorkflowOrder:
    plan, step = state.brief.workflow, state.steps[run.step]
    planned = {each.id: each for each in plan.agents} if plan else {}
    return WorkflowOrder(
        agent=planned[run.agent],
        subjects=[planned[each] for each in subjects_of(state, step)],
        joint=step.done_when if Gate.CHECKPOINT in step.gates else "",
        needs=planned[run.agent].needs,
        task=state.name,
        at=state.orders[run.order].at,
        cwd=str(workspace),
        folder=str(layout.orchestration(where.task)),
        scratchpad=str(layout.scratchpad(where.task, run.instance)),
        order=order,
        definition=agent.prompt,
        earlier=_earlier_work(adapters, state, run, where),
    )


def _earlier_work(adapters: Adapters, state: PMState, run: Run, where: TaskPaths) -> str:
    """Return where work of earlier tries is: in the tree, or on the refs that keep what was removed from it."""
    step = state.steps[run.step]
    tree = worked_in(state, run, where)
    if tree is None or tree.detached or run.on_box or Gate.COMMIT not in step.gates:
        return ""
    lines = []
    if step.keep_tree or step.carries:
        lines.append(
            "Your working directory begins with the work of the last try, uncommitted: see `git diff`."
        )
    kept = adapters.workspaces.kept(tree)[:KEPT_NAMED]
    if kept:
        lines.append(
            "Work of earlier tries that is not in your working directory is kept. Take what is of use:"
        )
        lines += [f"- {local_time(each.at)}: `git diff HEAD {each.ref}`" for each in kept]
    return "\n".join(lines)


def _kept(adapters: Adapters, where: TaskPaths, run: Run, text: str) -> str:
    """Write a text for an agent into its run's folder, and return it."""
    adapters.files.write(layout.run_order(layout.run_home(where.home, run.id)), text.encode(), durable=False)
    return text
