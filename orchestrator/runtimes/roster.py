"""Which agents a task can spawn: those of its template, of its project, and those that ship, in that order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator.formats.agent_file import filled, read_agent, read_kiro_agent
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.agents import Agent, Role
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.names import checked_name
from orchestrator.model.programs import Program
from orchestrator.model.task import AgentOverrides, Config
from orchestrator.pm.plan.work_location import location_of
from orchestrator.ports.files import Files
from orchestrator.runtimes.cli_inventory import first_installed
from orchestrator.runtimes.registry import runtime_known

CLAUDE_FOLDER: Final = Path(".claude", "agents")
KIRO_FOLDER: Final = Path(".kiro", "agents")

PM: Final = Role.PM.value

FAR_PYTHON: Final = "python3"
"""What `{python}` in a command stands for on a box."""

_LARGEST: Final = 262_144
_MOST: Final = 500
_READERS: Final[dict[str, Callable[..., Agent]]] = {".md": read_agent, ".json": read_kiro_agent}


@dataclass(frozen=True, slots=True)
class Roster:
    """The agents by name, and what a user should be told of those that were passed over."""

    agents: dict[str, Agent]
    warnings: tuple[str, ...] = ()


def undefined(name: str, project: object) -> str:
    """Return that no agent has this name, and how to define one. Those that ship are always found."""
    return (
        f"there is no agent {name[:64]!a}: define it in a file of {project}/{CLAUDE_FOLDER}, "
        "or name its program in task.md (`AGENT.command:`)"
    )


def find_agents(  # noqa: PLR0913 (it gathers what many places say)
    project: Path,
    template: Path | None,
    config: Config,
    shipped: Path,
    *,
    python: str = sys.executable,
    files: Files | None = None,
    path: str = "",
    defined: Sequence[Program] = (),
) -> Roster:
    """Find every agent that a task can spawn, with what its task.md overrides of each.

    Args:
        project: the user's project. What its files define may come from anybody: they cannot name programs.
        template: the folder of the task's template, whose `agents/` may.
        config: the Agent Config of task.md.
        shipped: the folder of the definitions that ship.
        python: what `{python}` in a command stands for.
        files: the disk, if it is not this machine's.
        path: the PATH on which `auto` looks for an agent CLI, if an agent names none.
        defined: the agent programs of the settings.

    Raises:
        Refused: task.md overrides something of an agent that nobody defines, or that makes no sense.

    """
    files = files or DiskFiles()
    agents: dict[str, Agent] = {}
    warnings: list[str] = []
    places = [(template / "agents", True)] if template else []
    places += [(project / CLAUDE_FOLDER, False), (project / KIRO_FOLDER, False), (shipped, True)]
    for folder, trusted in places:
        for agent in _defined(files, folder, warnings, trusted=trusted):
            agents.setdefault(agent.name, agent)
    for name, overrides in config.agents.items():
        agents[checked_name(name, "agent name")] = _wished(agents.get(name), name, overrides)
    if config.pm:
        agents[PM] = replace(agents.get(PM) or Agent(PM, Role.PM, source="task.md"), runtime=config.pm)
    folder_text = str(template) if template else ""
    return Roster(
        {
            name: _ready(agent, config, python, folder_text, path, defined)
            for name, agent in sorted(agents.items())
        },
        tuple(warnings),
    )


def _defined(files: Files, folder: Path, warnings: list[str], *, trusted: bool) -> Iterator[Agent]:
    """Yield what the files of one folder define. One that does not read is passed over, with a warning."""
    try:
        entries = files.entries(folder)
    except (Refused, OSError) as error:
        warnings.append(f"{folder} does not read as a folder of agents: {error}")
        return
    names = sorted(entry.name for entry in entries if Path(entry.name).suffix in _READERS)
    if len(names) > _MOST:
        warnings.append(f"{folder} holds {len(names)} definitions: only the first {_MOST} are read")
    for name in names[:_MOST]:
        path = folder / name
        try:
            agent = _READERS[path.suffix](files.read(path, _LARGEST), str(path), trusted=trusted)
        except (Refused, OSError) as error:
            warnings.append(
                f"passed over: {error}" if isinstance(error, BadFile) else f"passed over {path}: {error}"
            )
            continue
        if agent.name != path.stem:
            warnings.append(f"{path} defines {agent.name}, not {path.stem}: rename one of the two")
        yield agent


def _wished(agent: Agent | None, name: str, overrides: AgentOverrides) -> Agent:
    """Return an agent as task.md wants it. One that is defined nowhere else must have a command there."""
    if agent is None:
        if not overrides.command:
            raise Refused(
                f"task.md speaks of the agent {name}, which nobody defines: add .claude/agents/{name}.md, "
                f"or `{name}.command: …`"
            )
        agent = Agent(name, source="task.md")
    runtime = overrides.runtime or ("command" if overrides.command else agent.runtime)
    return replace(
        agent,
        runtime=runtime,
        command=overrides.command or agent.command,
        check=overrides.check or agent.check,
        model=overrides.model or agent.model,
        listens=agent.listens if overrides.listens is None else overrides.listens,
        hands=overrides.hands or agent.hands,
        deletes=overrides.deletes or agent.deletes,
    )


def _ready(
    agent: Agent, config: Config, python: str, template: str, path: str, defined: Sequence[Program]
) -> Agent:
    """Return an agent with the task's runtime, if it has none of its own, and with its places filled in."""
    words = (*agent.command, *agent.check)
    place = location_of(config, agent.name)
    if place is not None and place.host:
        python = FAR_PYTHON
        if any("{template}" in word for word in words):
            raise Refused(
                f"{agent.name} asks for {{template}}, which lies here, and works on {place.host}: "
                f"give it a `{agent.name}.command:` that is there"
            )
    if not template and any("{template}" in word for word in words):
        raise Refused(
            f"{agent.name} asks for {{template}}, but task.md names no template: write `template: …`"
        )
    chosen = config.runtime if config.runtime and agent.runtime == "auto" else agent.runtime
    if chosen == "auto" and not agent.command:
        chosen = first_installed(path) or chosen
    return replace(
        agent,
        runtime=chosen,
        receipts=runtime_known(replace(agent, runtime=chosen), defined).receipts,
        command=filled(agent.command, python=python, template=template),
        check=filled(agent.check, python=python, template=template),
    )
