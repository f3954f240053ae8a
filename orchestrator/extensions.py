"""What installed packages bring, found by their entry points: families, gates, handoff formats, host kinds, runtimes.

A package names what it brings in its `pyproject.toml`; nothing else has to be done::

    [project.entry-points."agent_orchestrator.gates"]
    sources = "my_package:SourcesGate"

The object is a module, an instance, or a class that is made without arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.handoff_format import HANDOFF_FORMATS
from orchestrator.hosts.host_kinds import HOST_KINDS
from orchestrator.model.errors import Refused
from orchestrator.pm.plan.families import FAMILIES
from orchestrator.pm.policies.gates import GATES
from orchestrator.ports.host_kind import kind_and_name
from orchestrator.runtimes.registry import RUNTIMES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from orchestrator.model.registry import Registry
    from orchestrator.model.task import Brief
    from orchestrator.pm.state.task_state import PMState

PREFIX: Final = "agent_orchestrator."
FAULT_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Door:
    """One kind of thing that packages may bring: its registry, and what each such object must have."""

    registry: Registry[Any]
    needed: tuple[str, ...]


DOORS: Final = {
    "families": Door(FAMILIES, ("agents", "first_steps", "subtask_steps", "loose_steps")),
    "gates": Door(GATES, ("form", "sections", "judge", "take", "holds", "order")),
    "formats": Door(HANDOFF_FORMATS, ("suffix", "read", "write", "form", "within")),
    "hosts": Door(HOST_KINDS, ("lacks", "host")),
    "runtimes": Door(
        RUNTIMES,
        (
            *("name", "receipts", "unruled", "variables", "screens", "listens"),
            *("launching", "event", "answer", "transcripts", "appended"),
        ),
    ),
}
"""The doors by the last word of their entry point group."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One thing that a package brings. `fault` says why it cannot be used; empty if it can, as far as is known."""

    door: str
    name: str
    package: str
    fault: str = ""

    @property
    def what(self) -> str:
        """The word for such a thing."""
        return DOORS[self.door].registry.what


@cache
def discover() -> tuple[Extension, ...]:
    """Register what installed packages bring, once per process. Nothing of it is imported before it is used."""
    from importlib.metadata import entry_points  # imports `email` and more

    there = entry_points()  # all at once: each call looks through every installed package
    return tuple(
        _registered(door, entry)
        for door in DOORS
        for entry in sorted(there.select(group=f"{PREFIX}{door}"), key=lambda each: each.name)
    )


@cache
def load_all() -> tuple[Extension, ...]:
    """Import everything that packages bring, and withdraw what cannot be used. The daemon does so when it starts."""
    return tuple(each if each.fault else _loaded(each) for each in discover())


def missing_for(brief: Brief, gates: frozenset[str] = frozenset()) -> str:
    """Return what a task needs that is not installed, in words; empty if nothing is missing.

    Args:
        brief: What its task.md asks for.
        gates: The gates that its steps name.

    """
    hosts = dict.fromkeys(
        (brief.config.host, *(overrides.host for overrides in brief.config.agents.values()))
    )
    wanted: list[tuple[Registry[Any], str]] = [
        (FAMILIES, brief.config.family),
        (HANDOFF_FORMATS, brief.config.handoffs),
        *((HOST_KINDS, kind_and_name(host)[0]) for host in hosts if host),
        *((GATES, gate) for gate in sorted(gates)),
    ]
    if not all(name in known for known, name in wanted):
        discover()
    lacking = [f"the {known.what} {name}" for known, name in wanted if name not in known]
    return f"{' and '.join(lacking)} {_not_installed(len(lacking))}" if lacking else ""


def missing_for_state(state: PMState) -> str:
    """Return what a task that was begun needs and is not installed, in words; empty if nothing is missing."""
    return missing_for(state.brief, frozenset(gate for step in state.steps.values() for gate in step.gates))


def _not_installed(count: int) -> str:
    what = "is" if count == 1 else "are"
    return f"{what} not installed: install the package that brings it where this program is installed, and restart"


def _registered(door: str, entry: EntryPoint) -> Extension:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
    found = Extension(door, entry.name, package)
    try:
        DOORS[door].registry.register(entry.name, partial(_load, door, entry), package)
    except Refused as problem:
        return replace(found, fault=str(problem))
    return found


def _loaded(each: Extension) -> Extension:
    registry = DOORS[each.door].registry
    try:
        registry[each.name]
    except (Exception, SystemExit) as problem:  # noqa: BLE001 (what a stranger's import raises ends nothing of ours)
        registry.unregister(each.name)
        return replace(each, fault=f"{type(problem).__name__}: {problem}"[:FAULT_LENGTH])
    return each


def _load(door: str, entry: EntryPoint) -> object:
    """Return the object of an entry point. Raises Refused if it lacks what such an object must have."""
    found = entry.load()
    made = found() if isinstance(found, type) else found
    lacking = [name for name in DOORS[door].needed if not hasattr(made, name)]
    if lacking:
        raise Refused(f"{entry.value} has no {', '.join(lacking)}")
    return made
