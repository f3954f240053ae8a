"""What a run is launched with: its program, environment, folders, and the session that it resumes."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from orchestrator import layout
from orchestrator.daemon.actions.phase_launch import prepare_phase
from orchestrator.daemon.actions.preparation import preparation_of, shared_caches, tree_variables
from orchestrator.daemon.actions.publish_order import publish_order
from orchestrator.daemon.actions.workflow_launch import prepare_agent
from orchestrator.daemon.core.memory_files import CHANGED
from orchestrator.daemon.core.task_paths import (
    Adapters,
    TaskPaths,
    artifacts_of,
    granted,
    hands_in_to,
    worked_in,
)
from orchestrator.daemon.ingest.task_folder import make_run_folders
from orchestrator.daemon.ingest.transcripts import remembered
from orchestrator.model.errors import Refused
from orchestrator.model.facts import EditsRefused
from orchestrator.model.host_names import HERE
from orchestrator.model.run import Purpose, Run
from orchestrator.pm.policies.operations import (
    cannot_hand_in_by_operations,
    confirmed_record,
    hands_in_by_operations,
)
from orchestrator.ports.host import LaunchSpec
from orchestrator.runtimes import Launching, ReadOnly, Spawn
from orchestrator.runtimes.command import ANSWER, Command
from orchestrator.runtimes.environment import Assignment, passed, run_environment
from orchestrator.runtimes.registry import RUNTIMES, runtime_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.daemon.actions.launch_context import LaunchContext
    from orchestrator.model.agents import Agent
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.runtimes import Runtime


log = logging.getLogger(__name__)

_SESSIONS: Final = UUID("6f1c9c1e-6d0b-5c6e-9a53-9d7f4f1f6a10")


def launch_spec(context: LaunchContext) -> LaunchSpec:
    """Return what a run is launched with, and make its folders and files, here or as they will be on its box.

    Raises:
        Refused: its program, its agent or its order cannot be used as they are.

    """
    adapters, state, run, step = context.adapters, context.state, context.run, context.step
    where, seen, workspace = context.where, context.there.where, context.workspace
    folder = layout.run_home(seen.home, run.id)
    if aside := make_run_folders(adapters.files, where.task, state, run):
        log.warning("task %s: %s", state.id, aside)
    if run.purpose is Purpose.WORK:
        put_back = prepare_agent(adapters.files, where, state, step, run.opened_at)
        put_back += prepare_phase(adapters.files, where, state, run)
        for path in put_back:
            context.tell(EditsRefused(run.opened_at, f"{run.id}:{path}", (CHANGED,), path))
    assignment = _assignment(state, run, step, seen, workspace)
    launching, variables, text = Launching(context.agent.check), tuple[str, ...](), ""
    if run.purpose is Purpose.PREPARE:
        launching = preparation_of(adapters, state, run, where, seen)
    if run.purpose is Purpose.WORK:
        launching, variables, text = _program(context)
    names = (*adapters.settings.environment.passed, *variables)
    return LaunchSpec(
        run=run.id,
        folder=layout.run_home(where.home, run.id),
        argv=launching.argv,
        cwd=workspace,
        session=state.id,
        window=run.instance,
        environment=({} if run.on_box else _folders_for_cli(adapters.environ))
        | run_environment(
            context.there.environ,
            names,
            assignment,
            {**tree_variables(adapters, state, step, where, seen), **launching.environment},
        ),
        files=dict(launching.files),
        order=text.encode() if run.on_box else b"",
        writable=(
            folder,
            layout.task_events(seen.home),
            workspace,
            *granted(state, run, seen.task),
            *shared_caches(state, step, seen),
        ),
        readable=_readable(adapters, state, run, where, workspace),
    )


def _readable(
    adapters: Adapters, state: PMState, run: Run, where: TaskPaths, workspace: Path
) -> tuple[Path, ...]:
    """Return the folders that a run on a host of a kind must see: the task's, its template, and git's.

    What a worktree says of its repository is not asked: whoever worked there may have written that.
    """
    if run.host == HERE or run.on_box:
        return ()
    project = workspace if worked_in(state, run, where) is None else where.code
    repository: tuple[Path, ...] = ()
    with suppress(Refused):  # there is none
        repository = (adapters.workspaces.folder(project),)
    template = () if where.template is None else (where.template,)
    return (where.task, *template, *repository)


def _program(context: LaunchContext) -> tuple[Launching, tuple[str, ...], str]:
    """Return how an agent's program is launched, the variables that it gets besides, and its order, which is published.

    Raises:
        Refused: the agent cannot work in this way.

    """
    adapters, state, run, there = context.adapters, context.state, context.run, context.there
    runtime = runtime_of(context.agent, adapters.settings.runtimes)
    if hands_in_by_operations(state, run):
        context = replace(context, agent=_text_only(context, runtime))
        runtime = runtime_of(context.agent, adapters.settings.runtimes)
    variables = runtime.variables
    text = publish_order(context)
    folder = layout.run_home(there.where.home, run.id)
    spawn = Spawn(
        agent=context.agent,
        folder=folder,
        workspace=context.workspace,
        granted=granted(state, run, there.where.task),
        order=layout.run_order(folder),
        prompt=text,
        session=session_of(run),
        resumes=_session_to_resume(adapters, state, run, runtime),
        environ=passed(there.environ, (*adapters.settings.environment.passed, *variables)),
    )
    return runtime.launching(spawn), variables, text


def _text_only(context: LaunchContext, runtime: Runtime) -> Agent:
    """Return the agent of a run of `hands: operations`: where deletes were confirmed, it hands in the same once more.

    Raises:
        Refused: it cannot hand in in this way.

    """
    run, agent = context.run, context.agent
    why = cannot_hand_in_by_operations(context.step)
    if runtime.name != Command.name and not isinstance(runtime, ReadOnly):
        able = ", ".join(name for name in RUNTIMES if isinstance(RUNTIMES[name], ReadOnly))
        why = f"its runtime is {runtime.name}, and the PM cannot read what that writes: only {Command.name}, {able}"
    elif run.on_box:
        why = "it works on another machine, and the PM carries out file operations here alone"
    if why:
        raise Refused(f"agent {agent.name} has `hands: operations`: {why}")
    confirmed = confirmed_record(context.state, run)
    if confirmed is None:
        return agent
    again = ("cat", str(layout.run_home(context.where.home, confirmed.run) / ANSWER))
    return replace(agent, runtime=Command.name, command=again)


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
    if before.session.startswith("-") or not before.session.isprintable():
        # It came from outside (law 7): as an argument it would be an option of the program.
        log.warning("%s begins a new conversation: that of %s has no name that can be one", run.id, before.id)
        return ""
    if not remembered(adapters.files, before, runtime):
        log.warning("%s begins a new conversation: %s lost that of %s", run.id, runtime.name, before.id)
        return ""
    return before.session


def _folders_for_cli(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables by which `task status` inside a run finds the user's PM folder and settings."""
    ours = (layout.HOME_VARIABLE, layout.CONFIG_VARIABLE)
    return {variable: environ[variable] for variable in ours if variable in environ}
