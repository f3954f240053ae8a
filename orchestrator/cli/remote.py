"""The boxes on which a task will work: each is checked before the task starts, and what is missing stops it (H3)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import layout
from orchestrator.cli.box import BoxReport, Wanted, look_at, screen
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.precheck import Case
from orchestrator.cli.progress import doing
from orchestrator.cli.screen import coloured, columns
from orchestrator.formats.location import address_of
from orchestrator.formats.settings import load_settings
from orchestrator.model.agents import Agent
from orchestrator.model.pools import Pool
from orchestrator.model.programs import Program
from orchestrator.model.task import Bring, Location
from orchestrator.pm.plan.families import family_of
from orchestrator.pm.plan.work_location import location_of
from orchestrator.runtimes.cli_inventory import AGENT_CLIS
from orchestrator.runtimes.roster import find_agents
from orchestrator.runtimes.templates import template_folder
from orchestrator.shipped import shipped


def check_boxes(case: Case) -> list[str]:
    """Check every box on which agents of a task would work, and print its findings.

    Returns the locations on boxes of pools that cannot be used as they are, in the notation of task.md.

    Raises:
        CommandError: a box cannot be used, or no box of a pool can; all were checked.
        Refused: task.md asks for agents that cannot exist.

    """
    unfit, stopped = list[BoxReport](), list[BoxReport]()
    for alternatives in boxes_wanted(case):
        lacking = [found for wanted in alternatives if not (found := _checked(wanted)).can_run]
        unfit += lacking
        stopped += lacking if len(lacking) == len(alternatives) else []
    if stopped:
        raise CommandError(Exit.FAILED, f"{case.name} was not started: {_why(stopped)}")
    return [str(each.wanted) for each in unfit]


def _checked(wanted: Wanted) -> BoxReport:
    with doing(f"checking {wanted}"):
        found = look_at(wanted, os.environ)
    print("\n".join([*screen(found, columns(), colour=coloured(sys.stdout)), ""]), flush=True)
    return found


def boxes_wanted(case: Case) -> list[list[Wanted]]:
    """Return the needs of each location on a box: the folder, and the programs of all agents that work there.

    If the location names a pool, the inner list has each of its boxes, and one of them is enough.

    Raises:
        Refused: task.md asks for agents that cannot exist.

    """
    brief = case.brief
    there: dict[Location, list[str]] = {}
    for agent in dict.fromkeys((*family_of(brief).agents(brief), *brief.config.agents)):
        place = location_of(brief.config, agent)
        if place is not None and place.host:
            there.setdefault(place, []).append(agent)
    if not there:
        return []
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    named = brief.config.template
    template = template_folder(named, settings.templates.folders, os.environ) if named else None
    path = os.environ.get("PATH", "")
    defined = settings.runtimes
    agents = find_agents(
        case.project, template, brief.config, shipped("agents"), path=path, defined=defined
    ).agents
    base = case.begins if brief.config.bring is Bring.BRANCH else ""
    return [
        [
            _wanted(each, [agents[name] for name in names if name in agents], defined, base, case.code)
            for each in _alternatives(place, settings.hosts)
        ]
        for place, names in there.items()
    ]


def _alternatives(place: Location, pools: Sequence[Pool]) -> list[Location]:
    """Return the locations of which one will be used for the location in task.md."""
    pool = next((pool for pool in pools if pool.name == place.host), None)
    return [place] if pool is None else [Location(place.path, box) for box in pool.boxes]


def _wanted(
    place: Location, agents: Sequence[Agent], defined: Sequence[Program], base: str, code: Path
) -> Wanted:
    programs, commands = list[str](), list[str]()
    for agent in agents:
        programs += _cli(agent)
        commands += _command(agent, defined)
    return Wanted(
        address_of(place),
        place.path,
        tuple(dict.fromkeys(programs)),
        tuple(dict.fromkeys(commands)),
        base=base,
        code=code,
    )


def _cli(agent: Agent) -> Iterator[str]:
    """Yield the program of an agent's CLI, which can be asked for its version."""
    yield from (cli.program for cli in AGENT_CLIS if cli.name == agent.runtime)


def _command(agent: Agent, defined: Sequence[Program]) -> Iterator[str]:
    """Yield a program of the user's own. It is not asked for its version: it might begin to work."""
    if agent.command and agent.runtime in {"command", "auto"}:
        yield agent.command[0]
    yield from (program.command[0] for program in defined if program.name == agent.runtime)


def _why(stopped: Sequence[BoxReport]) -> str:
    silent = [str(each.wanted.address) for each in stopped if each.box is None]
    lacking = [str(each.wanted) for each in stopped if each.box is not None]
    parts = [f"no connection to {', '.join(dict.fromkeys(silent))}"] if silent else []
    parts += [f"provide first what is marked `missing` on {', '.join(lacking)}"] if lacking else []
    return "; ".join(parts) + " (to check again: `task doctor HOST`)"
