"""`task complete KIND [WORD …]`: prints the names that a shell may complete, one per line, for `task completion`.

It runs at each press of a key, so it imports next to nothing. It reports no errors, because a prompt is no place for
them, and leaves out names that a shell might read as more than a name.
"""

from __future__ import annotations

import os

from orchestrator import layout, own_files, plain_files
from orchestrator.cli.tasks import TaskRecord, homes

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

MOST = 1000
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_MORE_SIGNS = {"boxes": "@:/", "steps": ":"}
_LONGEST = 128
_PROJECTS_AGENTS = (".claude/agents", ".kiro/agents")


def complete(words: Sequence[str]) -> None:
    """Print the names of the kinds in the first word (`tasks+questions`), given the words typed before."""
    kinds, given = (words[0].split("+"), words[1:]) if words else ([], ())
    found = [name for kind in kinds if kind in _KINDS for name in _KINDS[kind](given)]
    signs = _SIGNS.union(*(_MORE_SIGNS.get(kind, ()) for kind in kinds))
    named = [name for name in dict.fromkeys(found) if len(name) <= _LONGEST and signs.issuperset(name)]
    if named:
        print("\n".join(sorted(named)[:MOST]))


def _tasks(_given: Sequence[str]) -> Iterable[str]:
    return (task.name for task in homes(layout.state_folder(os.environ)))


def _questions(given: Sequence[str]) -> Iterable[str]:
    return (
        str(question.get("id", "")) for task in _meant(given) for question in task.view.get("questions", ())
    )


def _runs(given: Sequence[str]) -> Iterable[str]:
    """Yield the names of the task's present and past runs."""
    return (str(agent.get("name", "")) for task in _meant(given) for agent in task.view.get("agents", ()))


def _steps(given: Sequence[str]) -> Iterable[str]:
    return (str(step.get("id", "")) for task in _meant(given) for step in task.view.get("steps", ()))


def _agents(given: Sequence[str]) -> Iterable[str]:
    """Yield the agents that could be started: the shipped ones, and those of the project."""
    folders = [_shipped("agents")]
    for task in _meant(given):
        folders += [f"{task.project}/{folder}" for folder in _PROJECTS_AGENTS if task.project]
    return (
        name.rpartition(".")[0]
        for folder in folders
        for name in _names(folder)
        if name.endswith((".md", ".json"))
    )


def _templates(_given: Sequence[str]) -> Iterable[str]:
    config = layout.config_file(os.environ)
    folders = [_shipped("tasks"), layout.templates_folder(os.environ), *_set_folders(config)]
    return (
        name for folder in folders for name in _names(folder) if os.path.lexists(f"{folder}/{name}/task.md")
    )


def _set_folders(config: str) -> list[str]:
    """Return the folders of the setting `templates.folders`."""
    said = _settings_of(config, "templates").get("folders", ())
    texts = isinstance(said, list) and all(isinstance(folder, str) for folder in said)
    return [os.path.expanduser(folder) for folder in said] if texts else []  # noqa: PTH111 (no pathlib here)


def _boxes(_given: Sequence[str]) -> Iterable[str]:
    """Yield the boxes that the daemon recorded, and those of pools, in the form that `task doctor` reads."""
    yield from map(_callable, _recorded_boxes(layout.boxes_status(layout.state_folder(os.environ))))
    for pool in _settings_of(layout.config_file(os.environ), "hosts").values():
        named = pool.get("boxes") if isinstance(pool, dict) else None
        yield from (box for box in named if isinstance(box, str)) if isinstance(named, list) else ()


def _recorded_boxes(path: str) -> list[str]:
    try:
        return [str(box["address"]) for box in own_files.own_json(path)["boxes"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _callable(box: str) -> str:
    """Return a box in a form in which its port is not mistaken for a folder."""
    return f"ssh://{box}" if ":" in box.rpartition("@")[2].rpartition("]")[2] else box


def _settings_of(config: str, section: str) -> dict[str, Any]:
    """Return a section of the settings as written; the file is parsed as TOML only if the section is in it."""
    try:
        text = plain_files.read(config, 1 << 20)
        if section.encode() not in text:
            return {}
        import tomllib

        said = tomllib.loads(text.decode()).get(section, {})
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _meant(given: Sequence[str]) -> list[TaskRecord]:
    """Return the task named by the words typed before; all tasks if they name none."""
    found = homes(layout.state_folder(os.environ))
    named = [task for task in found if given and given[0] in {task.name, task.id}]
    return named or found


def _shipped(folder: str) -> str:
    """Return the folder that `orchestrator.shipped` returns, without importing `pathlib`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 (no pathlib here)
    inside = f"{package}/_shipped"
    return f"{inside}/{folder}" if os.path.isdir(inside) else f"{os.path.dirname(package)}/{folder}"  # noqa: PTH112, PTH120 (no pathlib here)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (no pathlib here)
    except OSError:
        return []


_KINDS = {
    "tasks": _tasks,
    "questions": _questions,
    "runs": _runs,
    "steps": _steps,
    "agents": _agents,
    "templates": _templates,
    "boxes": _boxes,
}
