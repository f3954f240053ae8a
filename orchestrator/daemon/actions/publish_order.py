"""The order of a run: written where everybody can read it, and with its preamble where its agent does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.files_shown import files_shown
from orchestrator.daemon.core.memories_there import memory_folder
from orchestrator.daemon.core.task_paths import (
    Adapters,
    TaskPaths,
    artifacts_of,
    hands_in_to,
    operation_roots,
    status_script,
    worked_in,
    workspace_of,
)
from orchestrator.daemon.ingest.task_folder import is_right
from orchestrator.formats.coordination.memory import offer
from orchestrator.formats.handoff import render_order
from orchestrator.formats.operations.preamble import operations_preamble
from orchestrator.formats.pm_preamble import pm_preamble
from orchestrator.formats.preamble import AgentOrder, preamble, remote_setup, report_form
from orchestrator.formats.skill.preamble import PhaseOrder, skill_preamble
from orchestrator.formats.skill.prompt import memory_request
from orchestrator.formats.text import local_time
from orchestrator.formats.workflow_preamble import WorkflowOrder, workflow_preamble
from orchestrator.model.errors import Unavailable
from orchestrator.model.plan import Gate
from orchestrator.pm.plan.families import handoffs_of
from orchestrator.pm.plan.families.skills import phase_of
from orchestrator.pm.plan.families.workflow import agents_now, resolution_file
from orchestrator.pm.policies.gates import sections_for
from orchestrator.pm.policies.operations import hands_in_by_operations
from orchestrator.pm.policies.turn_ends import hands_in_by_files, subjects_of
from orchestrator.runtimes import ReadOnly
from orchestrator.runtimes.registry import runtime_of

if TYPE_CHECKING:
    from orchestrator.daemon.actions.launch_context import LaunchContext
    from orchestrator.pm.state.task_state import PMState


_JUDGING: Final = {Gate.VERDICT, Gate.CRITERIA, Gate.CHECKPOINT}

KEPT_NAMED: Final = 5
"""How many refs that keep earlier work an order lists, the newest first."""


def publish_order(context: LaunchContext) -> str:
    """Write the order where everybody can read it, and with its preamble where its agent does; return the latter."""
    adapters, state, run, where = context.adapters, context.state, context.run, context.where
    order, gates = state.orders[run.order], context.step.gates
    rendered = render_order(order)
    _publish(adapters, state, where, order.name, rendered)
    if Gate.DECISION in gates:
        text = _pm_text(context, rendered)
    elif hands_in_by_operations(state, run):
        text = _text_only(context, rendered)
    elif Gate.MEMORY in gates:
        text = _phase_text(context, rendered)
    elif hands_in_by_files(context.step):
        text = workflow_preamble(_workflow_order(context, rendered))
    else:
        text = _text(context, rendered)
    adapters.files.write(layout.run_order(layout.run_home(where.home, run.id)), text.encode(), durable=False)
    return text


def _publish(adapters: Adapters, state: PMState, where: TaskPaths, name: str, rendered: str) -> None:
    """Write an order into `handoffs/`. Raises Unavailable: something else is in its place."""
    public = layout.handoffs(where.task) / name
    adapters.files.make_folder(public.parent, 0o755)
    if not is_right(adapters.files, where.task, public.parent.name, state.links):
        raise Unavailable(f"{public.parent} leads elsewhere: it is put right ahead of the next try")
    if (
        not adapters.files.create(public, rendered.encode(), 0o644, durable=False)
        and adapters.files.read(public) != rendered.encode()
    ):
        raise Unavailable(f"{public} was written by somebody else")


def _pm_text(context: LaunchContext, rendered: str) -> str:
    """Return the order of a PM agent, with its preamble."""
    state, run, where = context.state, context.run, context.where
    limits = context.adapters.settings.limits
    return pm_preamble(
        agent=run.instance,
        task=state.name,
        at=state.orders[run.order].at,
        cwd=str(context.workspace),
        task_dir=str(where.task),
        handoffs=str(hands_in_to(state, run, where.task)),
        scratchpad=str(layout.scratchpad(where.task, run.instance)),
        run=run.id,
        order=rendered,
        wait=limits.pm_hold_timeout,
        patience=limits.pm_timeout,
        definition=context.agent.prompt,
    )


def _text(context: LaunchContext, rendered: str) -> str:
    """Return the order of an agent that hands in by a report, with its preamble."""
    state, run, where, step = context.state, context.run, context.where, context.step
    agent, branch = context.agent, context.branch
    seen, order = context.there.where, state.orders[run.order]
    script = status_script(state, run)
    return preamble(
        AgentOrder(
            agent=run.instance,
            role=agent.role,
            task=state.name,
            at=order.at,
            cwd=str(context.workspace),
            task_dir=str(seen.task),
            handoffs=str(hands_in_to(state, run, seen.task)),
            artifacts=str(artifacts_of(state, run, seen.task)),
            scratchpad=str(layout.scratchpad(seen.task, run.instance)),
            run=run.id,
            order_name=order.name,
            # What it says of the task's folder must be found where its agent works (H8).
            order=rendered.replace(str(where.task), str(seen.task)),
            remote_host=context.there.name,
            branch="" if branch is None else str(branch),
            gates=step.gates,
            criteria=state.brief.criteria,
            definition=agent.prompt,
            earlier=_earlier_work(context),
            learned=_learned(context),
            asked=sections_for(step.gates),
            handoff_format=handoffs_of(state.brief),
            status_script=str(script) if script else "",
        )
    )


def _text_only(context: LaunchContext, rendered: str) -> str:
    """Return the order of an agent whose file operations the PM carries out, with its preamble."""
    adapters, state, run = context.adapters, context.state, context.run
    agent, where = context.agent, context.where
    step, roots = context.step, operation_roots(adapters.files, state, run, where)
    beside = (layout.handoffs(where.task), layout.artifacts(where.task))
    shown_of = roots[:1] if len(roots) > 1 else (workspace_of(state, run, where),)
    gates = step.gates
    return operations_preamble(
        agent=run.instance,
        task=state.name,
        at=state.orders[run.order].at,
        roots=[str(each) for each in roots],
        files=files_shown(adapters.files, shown_of, beside, rendered),
        form=report_form(
            run.instance,
            run.id,
            run.order,
            agent.role,
            gates,
            state.brief.criteria,
            sections_for(gates),
        ),
        writes=len(roots) > 1,
        deletes=agent.deletes,
        order=rendered,
        definition=agent.prompt,
        earlier=_earlier_work(context),
        handoff_format=handoffs_of(state.brief),
        reads=isinstance(runtime_of(agent, adapters.settings.runtimes), ReadOnly),
    )


def _workflow_order(context: LaunchContext, order: str) -> WorkflowOrder:
    state, run, step = context.state, context.run, context.step
    task = context.there.where.task
    plan = state.brief.workflow
    planned = agents_now(plan, state.records) if plan else {}
    return WorkflowOrder(
        agent=planned[run.agent],
        subjects=[planned[each] for each in subjects_of(state, step)],
        resolution=resolution_file(int(step.id.rpartition(":")[2])) if Gate.RESOLUTION in step.gates else "",
        joint=step.done_when if Gate.CHECKPOINT in step.gates else "",
        needs=planned[run.agent].needs,
        task=state.name,
        at=state.orders[run.order].at,
        cwd=str(context.workspace),
        folder=str(layout.orchestration(task)),
        scratchpad=str(layout.scratchpad(task, run.instance)),
        order=order,
        definition=state.agents[run.agent].prompt,
        earlier=_earlier_work(context),
        learned=_learned(context),
        remote=_remote(context),
    )


def _phase_text(context: LaunchContext, order: str) -> str:
    """Return the order of the agent of a phase of a composite skill, with its preamble."""
    state, run, seen = context.state, context.run, context.there.where
    plan, phase = state.brief.skill, phase_of(state.brief, context.step)
    if plan is None or phase is None:
        raise ValueError(f"{run.step} is no phase of a skill")
    return skill_preamble(
        PhaseOrder(
            agent=run.instance,
            task=state.name,
            at=state.orders[run.order].at,
            cwd=str(context.workspace),
            scratchpad=str(layout.scratchpad(seen.task, run.instance)),
            order=order.replace(str(context.where.task), str(seen.task)),
            memory=memory_request(plan.session, phase, str(memory_folder(seen.task)) if run.on_box else ""),
            definition=context.agent.prompt,
            earlier=_earlier_work(context),
            remote=_remote(context),
        )
    )


def _remote(context: LaunchContext) -> str:
    """Return what an agent on a box is told of its machine; empty for one here."""
    if not context.run.on_box:
        return ""
    branch = "" if context.branch is None else str(context.branch)
    return remote_setup(context.there.name, str(context.there.where.task), branch, context.step.gates)


def _learned(context: LaunchContext) -> str:
    """Return what was learned in this project, for an agent that does work. A judge goes by what it finds itself."""
    state, step = context.state, context.step
    most = context.adapters.settings.limits.max_offered_memories
    data = Path(state.project) / layout.DATA
    if _JUDGING & set(step.gates) or not (data / layout.MEMORIES).is_dir():
        return ""
    # Imported late, with SQLite: most projects have no memories.
    from orchestrator.records.memory_offers import offered_memories

    about = f"{step.title}\n{step.instructions}\n{state.brief.title}\n{state.brief.goal}"
    now = state.orders[context.run.order].at
    return offer(offered_memories(str(layout.state_above(context.where.home)), data, about, now, most))


def _earlier_work(context: LaunchContext) -> str:
    """Return where work of earlier tries is: in the tree, or on the refs that keep what was removed from it."""
    run, step = context.run, context.step
    tree = worked_in(context.state, run, context.where)
    if tree is None or tree.detached or run.on_box or Gate.COMMIT not in step.gates:
        return ""
    lines = []
    if step.keep_tree or step.carries:
        lines.append(
            "Your working directory begins with the work of the last try, uncommitted: see `git diff`."
        )
    kept = context.adapters.workspaces.kept(tree)[:KEPT_NAMED]
    if kept:
        lines.append(
            "Work of earlier tries that is not in your working directory is kept. Take what is of use:"
        )
        lines += [f"- {local_time(each.at)}: `git diff HEAD {each.ref}`" for each in kept]
    return "\n".join(lines)
