"""Launch a run: its workspace, its order, its pane. All parts may be repeated; the claim file decides (law 4).

The file `launched` in the run's folder divides it: before it the workspace may be made anew, after it the
agent may be at work there, so that nothing but the launcher is tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from orchestrator import places
from orchestrator.daemon.lives import LAUNCHED
from orchestrator.formats.handoff import render_order
from orchestrator.formats.pm_preamble import pm_preamble
from orchestrator.formats.preamble import preamble
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.facts import RunStarted
from orchestrator.model.plan import Gate, Step
from orchestrator.model.run import Purpose, Run
from orchestrator.model.task import WorkspaceKind
from orchestrator.ports.host import Host, LaunchSpec, Standing
from orchestrator.ports.workspaces import Tree, Workspaces
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.choice import runtime_of
from orchestrator.runtimes.environment import Assignment, passed, run_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.model.agents import Agent
    from orchestrator.model.settings import Settings
    from orchestrator.model.task import Brief
    from orchestrator.pm.state import PMState
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.files import Files


_SESSIONS: Final = UUID("6f1c9c1e-6d0b-5c6e-9a53-9d7f4f1f6a10")

CLAIM_PATIENCE: Final = 0.5
CLAIM_LOOK: Final = 0.001
"""Seconds: how long to wait for a launcher's word, and how often to look. It comes within 10 ms (measured)."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where one task lies: its code, its own folder, its folder in the project, its worktrees, its template."""

    code: Path
    home: Path
    task: Path
    trees: Path
    template: Path | None = None


def code_of(project: str, brief: Brief) -> Path:
    """Return the folder whose code a task works on: the `cwd:` of task.md, or the project itself (HUB 5.2)."""
    return Path(brief.config.cwd.path).expanduser() if brief.config.cwd else Path(project)


@dataclass(frozen=True, slots=True)
class World:
    """What launching needs of the world."""

    files: Files
    host: Host
    workspaces: Workspaces
    settings: Settings
    environ: Mapping[str, str]


def tree_of(state: PMState, step: Step, where: Places) -> Tree | None:
    """Return the worktree that a step works in, or None where it works in the user's own tree."""
    if not step.workspace:
        return None
    return Tree(
        project=where.code,
        root=where.trees,
        name=step.workspace,
        branch=state.branch,
        base=state.base,
        detached=step.kind is WorkspaceKind.READ_ONLY,
    )


def launch(world: World, state: PMState, run: Run, where: Places, clock: Clock) -> RunStarted | None:
    """Launch a run, or go on with a launch that was cut off.

    Returns that it lives, if its launcher says so soon; else that is seen later, or missed (`limits.start_time`).

    Raises:
        Refused: it can never be launched as it stands.
        Unavailable: tmux or git cannot do it now.
        OSError: the disk cannot do it now.

    """
    folder = places.run_home(where.home, run.id)
    if world.host.observe(folder).standing is not Standing.NOT_CLAIMED:
        return None
    step, agent = state.steps[run.step], state.agents.get(run.agent)
    if agent is None:
        raise Refused(f"there is no agent named {run.agent}: run `task setup-agents` or add its definition")
    world.files.make_folder(folder)
    workspace = _workspace(world, state, step, run, where)
    spec = _spec(world, state, run, step, agent, where, workspace)
    # What lies in a run's folder speaks of processes: after a power cut it means nothing, and is not fsynced.
    world.files.write(folder / LAUNCHED, b"", durable=False)
    try:
        world.host.launch(spec)
    except Unavailable:  # most likely there is no session yet; if not, this fails in the same way
        world.host.open_session(state.id, state.name, places.task_log(where.home))
        world.host.launch(spec)
    patience = clock.monotonic() + CLAIM_PATIENCE
    while (seen := world.host.observe(folder)).pid is None and clock.monotonic() < patience:
        clock.sleep(CLAIM_LOOK)
    return None if seen.pid is None else RunStarted(clock.now(), run.id, seen.pid, seen.pane)


def _workspace(world: World, state: PMState, step: Step, run: Run, where: Places) -> Path:
    """Return the folder that a run works in, made ready if the run may still change nothing in it."""
    tree = tree_of(state, step, where)
    if tree is None:
        return where.code
    launched = world.files.entry(places.run_home(where.home, run.id) / LAUNCHED) is not None
    if launched or step.keep_tree or not _makes_ready(step, run, state):
        return world.workspaces.where(tree)
    return world.workspaces.prepare(tree, step.attempt)


def _makes_ready(step: Step, run: Run, state: PMState) -> bool:
    """Tell whether this run begins in a clean tree: it looks at the tip, or is the one that does the work."""
    first = run.purpose is Purpose.CHECK or not state.agents[run.agent].check
    if step.kind is WorkspaceKind.READ_ONLY:
        return first
    return Gate.COMMIT in step.gates and first


def _spec(
    world: World, state: PMState, run: Run, step: Step, agent: Agent, where: Places, workspace: Path
) -> LaunchSpec:
    folder = places.run_home(where.home, run.id)
    order_file = places.run_order(folder)
    artifacts = places.artifacts(where.task, agent.artifact_folder)
    scratchpad = places.scratchpad(where.task, run.instance)
    for each in (artifacts, scratchpad):
        world.files.make_folder(each, 0o755)
    assignment = Assignment(
        run=run.id,
        task=state.name,
        instance=run.instance,
        step=step.id,
        attempt=step.attempt,
        order=order_file,
        reply_to=run.order,
        task_dir=where.task,
        workspace=workspace,
        artifacts=artifacts,
        scratchpad=scratchpad,
        subtask=step.subtask,
        template=where.template,
        base=state.base,
        branch=state.branch,
        check_exit=step.check_exit,
        resumes=run.resumes,
    )
    launching, variables = Launching(agent.check), tuple[str, ...]()
    if run.purpose is Purpose.WORK:
        runtime = runtime_of(agent, world.settings.runtimes)
        variables = runtime.variables
        text = _publish_order(world, state, run, agent, where, workspace)
        launching = runtime.launching(
            Spawn(
                agent=agent,
                folder=folder,
                workspace=workspace,
                granted=granted(where.task, agent, run),
                order=order_file,
                prompt=text,
                session=session_of(run),
                resumes=_session_to_resume(state, run),
                environ=passed(world.environ, (*world.settings.environment.passed, *variables)),
            )
        )
    names = (*world.settings.environment.passed, *variables)
    return LaunchSpec(
        run=run.id,
        folder=folder,
        argv=launching.argv,
        cwd=workspace,
        session=state.id,
        window=run.instance,
        environment=_way_back(world.environ)
        | run_environment(world.environ, names, assignment, launching.environment),
        files=dict(launching.files),
    )


def granted(task: Path, agent: Agent, run: Run) -> tuple[Path, ...]:
    """Return the folders that a run must write besides its workspace, and no others (H8)."""
    return (
        places.handoffs(task),
        places.artifacts(task, agent.artifact_folder),
        places.scratchpad(task, run.instance),
    )


def session_of(run: Run) -> str:
    """Return what a new conversation of a run is called, where its program lets us choose: always the same."""
    return str(uuid5(_SESSIONS, run.id))


def _session_to_resume(state: PMState, run: Run) -> str:
    """Return the conversation that a run goes on with; none where that is used up, or another program's."""
    before = state.runs.get(run.resumes) if run.resumes else None
    return "" if before is None or before.spent else before.session


def _way_back(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what lets `task status` inside a run look where the user has put the PM's folder and the settings."""
    ours = (places.HOME_VARIABLE, places.CONFIG_VARIABLE)
    return {variable: environ[variable] for variable in ours if variable in environ}


def _publish_order(
    world: World, state: PMState, run: Run, agent: Agent, where: Places, workspace: Path
) -> str:
    """Put the order where everybody can read it, and with its preamble where its agent does; return the latter."""
    order = state.orders[run.order]
    rendered = render_order(order)
    public = places.handoffs(where.task) / order.name
    world.files.make_folder(public.parent, 0o755)
    if (
        not world.files.create(public, rendered.encode(), 0o644, durable=False)
        and world.files.read(public) != rendered.encode()
    ):
        raise Unavailable(f"{public} was written by somebody else")
    if Gate.DECISION in state.steps[run.step].gates:
        text = pm_preamble(
            agent=run.instance,
            task=state.name,
            at=order.at,
            cwd=str(workspace),
            task_dir=str(where.task),
            scratchpad=str(places.scratchpad(where.task, run.instance)),
            run=run.id,
            order=rendered,
            wait=world.settings.limits.pm_wait,
            patience=world.settings.limits.pm_patience,
            definition=agent.prompt,
        )
        return _kept(world, where, run, text)
    text = preamble(
        agent=run.instance,
        role=agent.role,
        task=state.name,
        at=order.at,
        cwd=str(workspace),
        task_dir=str(where.task),
        artifacts=str(places.artifacts(where.task, agent.artifact_folder)),
        scratchpad=str(places.scratchpad(where.task, run.instance)),
        run=run.id,
        order_name=order.name,
        order=rendered,
        gates=state.steps[run.step].gates,
        criteria=state.brief.criteria,
        definition=agent.prompt,
    )
    return _kept(world, where, run, text)


def _kept(world: World, where: Places, run: Run, text: str) -> str:
    """Put what an agent is told into its run's folder, and return it."""
    world.files.write(places.run_order(places.run_home(where.home, run.id)), text.encode(), durable=False)
    return text
