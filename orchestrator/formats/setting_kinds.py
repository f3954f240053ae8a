"""What may be set: the sections and keys of the settings file, and which values each takes.

A section per field of `model.settings.Settings`, a key per field of that section's dataclass: what can be set
is written there once. A section's dataclass is imported only when the section is read, as most commands read one.
"""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.durations import read_duration
from orchestrator.model.environment import NEVER_PASSED
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.permission import PermissionDecision, PermissionRule

_FILE_NAMES: Final = {"passed": "pass"}  # a word of Python's own
_COUNTS: Final = {
    "max_rejections": (1, 1000),
    "max_conflicts": (0, 100),
    "max_concurrent_runs": (1, 1000),
    "max_local_runs": (1, 1000),
    "max_runs_per_cli": (1, 1000),
    "max_subtasks": (1, 100_000),
    "max_unplanned_orders": (1, 1000),
    "max_handoff_bytes": (1024, 67_108_864),
    "max_artifact_bytes": (1024, 1_073_741_824),
    "workers": (1, 64),
    "per_hour": (1, 1000),
    "tries": (1, 1000),
    "kept": (1, 10_000),
    "pids": (16, 1_000_000),
    "cores": (1, 10_000),
    "size": (65_536, 1_073_741_824),
    "task_size": (0, 1_099_511_627_776),
}
AMOUNTS: Final = {
    "max_task_tokens": "tokens",
    "max_task_cost": "cost",
    "max_task_time": "time",
}
"""Keys that say how much a task may use, of which `model.budget.Measure`: as numbers, or as task.md says it."""
_ANY_COUNT: Final = (0, 1_000_000)
_SOCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")


@dataclass(frozen=True, slots=True)
class Key:
    """One key that may be set: its section, its name in the file, its field in the model and that field's type."""

    section: str
    key: str
    field: str
    kind: str


_CLASSES: Final = {
    "limits": ("limits", "Limits"),
    "tmux": ("sections", "TmuxSettings"),
    "daemon": ("sections", "DaemonSettings"),
    "logs": ("sections", "LogSettings"),
    "observer": ("observer_settings", "ObserverSettings"),
    "environment": ("sections", "EnvironmentSettings"),
    "templates": ("sections", "TemplateSettings"),
    "git": ("sections", "GitSettings"),
    "containers": ("container_settings", "ContainerSettings"),
    "slurm": ("slurm_settings", "SlurmSettings"),
    "kubernetes": ("kubernetes_settings", "KubernetesSettings"),
    "notify": ("notify_settings", "NotifySettings"),
    "permissions": ("permission", "Policy"),
}
"""The module of `orchestrator.model` and the class of each section; imported when it is read."""

SECTIONS: Final = tuple(_CLASSES)
"""The sections, in the order of `model.settings.Settings`."""

PROFILED: Final = ("containers", "slurm", "kubernetes")
"""Sections that may have profiles: `[containers.NAME]` is what a host of the profile `NAME` has otherwise."""

TABLES: Final = ("runtimes", "hosts", "prices")
"""The fields of `Settings` that are no section, but tables of names of the user's own."""


@functools.cache
def class_of(section: str) -> Any:  # noqa: ANN401 (each has its own dataclass)
    """Return the dataclass of a section."""
    module, name = _CLASSES[section]
    return getattr(import_module(f"orchestrator.model.{module}"), name)


@functools.cache
def keys_of(section: str) -> tuple[Key, ...]:
    """Return the keys of a section, or of a profile of it, in the order of the model."""
    of = section.partition(".")[0]
    return tuple(
        Key(of, _FILE_NAMES.get(field.name, field.name), field.name, str(field.type))
        for field in fields(class_of(of))
    )


def all_keys() -> tuple[Key, ...]:
    """Return every key, in the order of the model."""
    return tuple(each for section in SECTIONS for each in keys_of(section))


def check_of(each: Key) -> Callable[[object], object]:
    """Return what makes a setting's value of what the file or a variable says; it raises ValueError with the reason.

    Plain functions rather than pydantic, whose import costs more than all that most commands do.
    """
    if each.key in AMOUNTS:
        return functools.partial(_amount, AMOUNTS[each.key])
    if each.kind == "float":
        return read_duration
    if each.kind == "bool":
        return _truth
    if each.kind == "int":
        return functools.partial(_count, *bounds_of(each.key))
    if each.kind == "int | None":
        return functools.partial(_count_or_none, *bounds_of(each.key))
    if each.section == "permissions":
        return {"rules": _permissions, "otherwise": _decision}[each.key]
    if each.section == "notify":
        return _notify_check(each.key)
    if each.section == "containers":
        return functools.partial(_container_check, each.key)
    if each.section == "slurm":
        return functools.partial(_slurm_check, each.key)
    if each.section == "kubernetes":
        return functools.partial(_kubernetes_check, each.key)
    return {
        "socket": _socket,
        "pass": _variables,
        "folders": _folders,
        "archive": _folder,
        "folder": _folder,
        "metrics": _folder,
        "traces": _endpoint,
        "daily": _time_of_day,
    }[each.key]


def bounds_of(key: str) -> tuple[int, int]:
    """Return the least and the largest whole number that a key may be."""
    return _COUNTS.get(key, _ANY_COUNT)


def _count(least: int, most: int, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"is {_shown(value)}: give a whole number from {least} to {most}")
    return value


def _count_or_none(least: int, most: int, value: object) -> int | None:
    try:
        return None if value == "none" else _count(least, most, value)
    except ValueError as reason:
        raise ValueError(f"{reason}, or none") from None


def _notify_check(key: str) -> Callable[[object], object]:
    from orchestrator.formats.channels import read_channels, read_quiet, read_rules  # only where any are set

    return {"channels": read_channels, "rules": read_rules, "urgent": read_rules, "quiet": read_quiet}[key]


def _container_check(key: str, value: object) -> object:
    from orchestrator.formats.container_options import CHECKS  # only where any are set

    return CHECKS[key](value)


def _slurm_check(key: str, value: object) -> object:
    from orchestrator.formats.slurm_options import CHECKS  # only where any are set

    return CHECKS[key](value)


def _kubernetes_check(key: str, value: object) -> object:
    from orchestrator.formats.kubernetes_options import CHECKS  # only where any are set

    return CHECKS[key](value)


def _amount(measure: str, value: object) -> float | None:
    if value == "none":  # as it is shown
        return None
    from orchestrator.formats.budget import read_amount  # only where there is any
    from orchestrator.model.budget import Measure

    try:
        return read_amount(Measure(measure), value)
    except Refused as problem:
        raise ValueError(str(problem)) from None


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"is {_shown(value)}: give true or false")  # noqa: TRY004 (one kind of error)
    return value


def _socket(value: object) -> str:
    if not isinstance(value, str) or not _SOCKET.fullmatch(value):
        raise ValueError(f"is {_shown(value)}: give a name of letters, digits, '-' and '_', at most 64")
    return value


def _variables(value: object) -> tuple[str, ...]:
    for name in _texts(value, 'give a list of names like ["PATH", "LC_*"]'):
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"holds {_shown(name)}: give names of variables; a '*' may only end one")
        if name.startswith(NEVER_PASSED):
            raise ValueError(
                f"holds {name}: variables {', '.join(f'{start}*' for start in NEVER_PASSED)} never pass"
            )
    return tuple(value)  # type: ignore[arg-type]


def _folders(value: object) -> tuple[str, ...]:
    folders = tuple(_home(folder) for folder in _texts(value, 'give a list like ["~/templates"]'))
    for folder in folders:
        if not folder.startswith("/") or "\0" in folder:
            raise ValueError(f"holds {_shown(folder)}: give absolute paths, or ones that begin with ~/")
    return folders


def _folder(value: object) -> str:
    if value == "":  # as it is shown
        return ""
    folder = _home(value) if isinstance(value, str) else ""
    if not folder.startswith("/") or "\0" in folder:
        raise ValueError(f"is {_shown(value)}: give an absolute path, or one that begins with ~/")
    return folder


def _time_of_day(value: object) -> str:
    if value == "":  # as it is shown
        return ""
    found = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f'is {_shown(value)}: give a local time like "07:00", or ""')
    return f"{int(found[1]):02}:{found[2]}"


def _endpoint(value: object) -> str:
    from orchestrator.formats.endpoints import read_endpoint  # only where there is any

    return read_endpoint(value)


def _home(folder: str) -> str:
    return os.path.expanduser(folder) if folder.startswith("~/") else folder  # noqa: PTH111 (no pathlib here)


def _permissions(value: object) -> tuple[PermissionRule, ...]:
    from orchestrator.formats.permission_rules import MOST, read_rule  # only where there are any

    texts = _texts(value, 'give a list like ["allow run uv *", "deny fetch"]')
    if len(texts) > MOST:
        raise ValueError(f"has {len(texts)} rules: give at most {MOST}")
    try:
        return tuple(read_rule(text, "settings") for text in texts)
    except Refused as problem:
        raise ValueError(str(problem)) from None


def _decision(value: object) -> PermissionDecision:
    from orchestrator.formats.permission_rules import read_decision
    from orchestrator.model.permission import PermissionDecision

    try:
        return read_decision(value if isinstance(value, str) else "")
    except Refused:
        raise ValueError(f"is {_shown(value)}: give one of {', '.join(PermissionDecision)}") from None


def _texts(value: object, allowed: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"is {_shown(value)}: {allowed}")
    return value


def _shown(value: object) -> str:
    return ascii(value)[:60]
