"""`task start`, on the daemon's side: task.md, the agents and the base become the first fact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.task_paths import code_of
from orchestrator.daemon.ingest.handoff_files import history
from orchestrator.daemon.ingest.skill_plan import with_skill
from orchestrator.daemon.ingest.task_folder import links_of
from orchestrator.daemon.ingest.workflow_plan import check_workflow, with_workflow
from orchestrator.extensions import missing_for
from orchestrator.formats.location import read_location
from orchestrator.formats.task_file import read_brief
from orchestrator.model.errors import Refused
from orchestrator.model.facts import TaskStarted
from orchestrator.model.names import checked_name
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.permissions import policy_for
from orchestrator.pm.plan.families import cast_of, family_of
from orchestrator.pm.plan.pools import placed, shared_places, standings
from orchestrator.runtimes.registry import denied_in_vain, runtime_of
from orchestrator.runtimes.roster import PM, Roster, find_agents, undefined
from orchestrator.runtimes.skills import Skills, find_skills
from orchestrator.runtimes.templates import template_folder
from orchestrator.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orchestrator.daemon.core.context import Context
    from orchestrator.daemon.task import Task
    from orchestrator.model.agents import Agent
    from orchestrator.model.task import Brief
    from orchestrator.pm.state.task_state import PMState


@dataclass(frozen=True, slots=True)
class StartRequest:
    """A start request; `unfit` are locations on boxes of pools, one a line, where something is missing.

    `confirmed` is the digest of the Agent Config that the user confirmed.
    """

    request: str
    project: str
    name: str
    unfit: str = ""
    confirmed: str = ""


def started(context: Context, task: Task, asked: StartRequest, states: Iterable[PMState]) -> TaskStarted:
    """Return the fact that a start request leads to. `states` are those of all tasks.

    Raises:
        Refused: it cannot be started as it is; the message says what to do.
        Unavailable: git cannot answer now.

    """
    files = context.adapters.files
    root = Path(asked.project)
    if not root.is_absolute():
        raise Refused(f"{asked.project[:80]!a} is no absolute path: start the task from its project's folder")
    folder = layout.task_folder(root, checked_name(asked.name, "task name"))
    brief = read_brief(files.read(layout.task_brief(folder), 1 << 20), "task.md")
    if brief.unfilled:
        raise Refused(
            f"{layout.task_brief(folder)} is still the blank template: fill it in, then start again"
        )
    if missing := missing_for(brief):
        raise Refused(f"task.md: {missing}")
    brief = with_workflow(files, folder, brief, task.engine.state.brief.workflow)
    brief = with_skill(files, root, task.home, asked.name, brief, task.engine.state.brief.skill)
    states = tuple(states)
    brief, chosen = _placed(context, task, brief, asked, states)
    chosen += shared_places(brief.config, task.id, states)
    found = roster(context, root, brief)
    for warning in found.warnings:
        task.engine.say(f"an agent's definition was {warning}")
    for agent in (*family_of(brief).agents(brief), *([PM] if brief.config.pm else [])):
        if agent not in found.agents:
            why = "".join(f"; {warning}" for warning in found.warnings if f"/{agent}." in warning)
            raise Refused(f"{undefined(agent, asked.project)}{why}")
        check_agent(context, brief, found.agents[agent])
    if brief.workflow is not None and not task.begun:
        check_workflow(files, folder, asked.name, brief, _as_written(context, root, brief))
    agents = cast_of(brief, found.agents)
    skills = skills_of(context, root)
    for warning in _of_skills(skills, brief):
        task.engine.say(warning)
    code = code_of(asked.project, brief)
    base = context.adapters.workspaces.head(code) if brief.config.workspace is WorkspaceKind.WORKTREE else ""
    branch = f"task/{asked.name}"
    seen = None if task.begun or not base else context.adapters.workspaces.survey(code, branch, base)
    return TaskStarted(
        at=(now := context.clock.now()),
        nonce=context.nonce(),
        request=asked.request,
        task=task.id,
        name=asked.name,
        project=str(root),
        brief=brief,
        agents=agents,
        base=base,
        skills=skills.found,
        chosen=chosen,
        confirmed=asked.confirmed,
        utc_offset=context.clock.utc_offset(now),
        history={} if task.begun else history(files, folder, context.adapters.settings.limits),
        links=None if task.begun else links_of(files, folder),
        found=seen.tip if seen is not None and seen.count else "",
    )


def _as_written(context: Context, root: Path, brief: Brief) -> dict[str, Agent]:
    """Return the definitions of a task, whatever they stand for on this machine: an approval signs them like that."""
    settings, template = context.adapters.settings, template_of(context, brief)
    return find_agents(
        root, template, brief.config, shipped("agents"), python="{python}", defined=settings.runtimes
    ).agents


def check_agent(context: Context, brief: Brief, agent: Agent) -> None:
    """Check that an agent has a program, and that this asks before it does what a rule denies it.

    Raises:
        Refused: it has none, or the program does not ask.

    """
    runtime = runtime_of(agent, context.adapters.settings.runtimes)
    own = brief.config.agents.get(agent.name)
    said = (own.permissions, brief.config.permissions) if own else (brief.config.permissions,)
    rule = denied_in_vain(runtime, policy_for(context.adapters.settings.permissions, *said))
    if rule is not None:
        raise Refused(
            f"the rule `{rule}` would not hold for {agent.name}: the program `{runtime.name}` does not ask before "
            f"that. Give it another (`{agent.name}.runtime: …`), or take the rule out of {rule.source or 'task.md'}"
        )


def _placed(
    context: Context, task: Task, brief: Brief, asked: StartRequest, states: Iterable[PMState]
) -> tuple[Brief, tuple[str, ...]]:
    """Return the brief with a box for each pool that it names, and a sentence for each choice."""
    pools = context.adapters.settings.hosts
    if not pools:
        return brief, ()
    beliefs = {box: context.adapters.boxes.belief(box) for pool in pools for box in pool.boxes}
    lost = [box for box, belief in beliefs.items() if belief is not None and not belief.reachable]
    seen = standings(states, lost, [read_location(line) for line in asked.unfit.splitlines()])
    config, chosen = placed(brief.config, task.engine.state.brief.config, pools, seen)
    return replace(brief, config=config), chosen


def skills_of(context: Context, project: Path) -> Skills:
    """Return the skills that an agent of a project could load."""
    home = context.adapters.environ.get("HOME", "")
    return find_skills(project, Path(home) if home.startswith("/") else None, context.adapters.files)


def _of_skills(skills: Skills, brief: Brief) -> Iterator[str]:
    """Yield messages for the user: skills that were skipped, and skills that task.md asks for and do not exist."""
    yield from skills.warnings
    known = {skill.name for skill in skills.found}
    asked = [
        *brief.config.skills,
        *(name for overrides in brief.config.agents.values() for name in overrides.skills),
    ]
    for name in dict.fromkeys(asked):
        if name not in known:
            yield f"task.md asks for the skill {name}, which was not found: orders name it all the same"


def roster(context: Context, project: Path, brief: Brief) -> Roster:
    """Return the agents that a task can spawn."""
    path = context.adapters.environ.get("PATH", "")
    defined = context.adapters.settings.runtimes
    template = template_of(context, brief)
    return find_agents(project, template, brief.config, shipped("agents"), path=path, defined=defined)


def template_of(context: Context, brief: Brief) -> Path | None:
    """Return the folder of the template that task.md names, or None if it names none."""
    if not brief.config.template:
        return None
    return template_folder(
        brief.config.template, context.adapters.settings.templates.folders, context.adapters.environ
    )
