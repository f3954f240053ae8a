"""The containers and clusters on which agents work or worked, and whether they can be used now: for `task hosts`."""

from __future__ import annotations

from orchestrator.cli.tasks import tasks

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_MARK = "://"
_MOST = 8
"""How many are tried at the same time: each trial is some calls of an engine's program."""


def engine_hosts(state: str) -> list[dict[str, Any]]:
    """Return each host of a kind that a task in the state folder names, tried now, in the order of their names."""
    found = _in_use(state)
    if not found:
        return []
    from concurrent.futures import ThreadPoolExecutor  # most have none

    with ThreadPoolExecutor(_MOST) as pool:
        lacking = list(pool.map(_lacking, found))
    return [
        {
            "host": host.replace(_MARK, ":", 1),
            "usable": not why,
            "why": why,
            "runs": runs,
            "tasks": sorted(names),
        }
        for (host, (runs, names)), why in zip(found.items(), lacking, strict=True)
    ]


def rows(hosts: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """Return what a table shows of them, below `HEADINGS`."""
    return [
        (
            each["host"],
            "usable" if each["usable"] else "not usable",
            each["runs"] or "",
            ", ".join(each["tasks"]),
            each["why"],
        )
        for each in hosts
    ]


HEADINGS = ("HOST", "STATE", "RUNS", "TASKS", "WHY")


def _in_use(state: str) -> dict[str, tuple[int, set[str]]]:
    """Return for each host how many runs live there and which tasks have or had some, by what the daemon wrote."""
    found: dict[str, tuple[int, set[str]]] = {}
    for task in tasks(state):
        agents = task.view.get("agents")
        for agent in agents if isinstance(agents, list) else ():
            host = agent.get("host") if isinstance(agent, dict) else None
            if isinstance(host, str) and _MARK in host:
                runs, names = found.get(host, (0, set()))
                found[host] = (runs + (agent.get("state") != "gone"), names | {task.name})
    return dict(sorted(found.items()))


def _lacking(host: str) -> str:
    """Return what keeps agents from a host now; empty if nothing does."""
    from orchestrator.cli.host_kind_check import lacking
    from orchestrator.model.errors import OrchestratorError

    try:
        return lacking(host)
    except OrchestratorError as problem:
        return str(problem)
