"""Look at a run without a sign of progress: what it changed, printed and computed, and what its screen shows.

This costs a few file looks and one or two calls of tmux, and is done for a quiet run only (law 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.task_paths import (
    Adapters,
    TaskPaths,
    artifacts_of,
    task_folder_of,
    worked_in,
    workspace_of,
    zone_of,
)
from orchestrator.formats.redact import redacted
from orchestrator.formats.repetition import says_anything_new
from orchestrator.formats.reset_time import reset_time
from orchestrator.formats.text import neutral
from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.event import Failure
from orchestrator.model.facts import Looked
from orchestrator.model.run import Sight
from orchestrator.runtimes.registry import runtime_known
from orchestrator.runtimes.screens import Shows, end_of, said_on, shown_on

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.model.run import Run
    from orchestrator.model.usage_limit import Reset
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Entry, Files
    from orchestrator.ports.host import Host

ENTRIES: Final = 20_000
"""How many names of a tree are looked at; the rest of a larger one is not seen."""

SCREEN_LINES: Final = 50
LINE_LENGTH: Final = 200

_SKIPPED: Final = frozenset({".git", "node_modules", "__pycache__", ".venv", ".tox"})


def look(adapters: Adapters, state: PMState, run: Run, where: TaskPaths, action: str, at: float) -> Looked:
    """Return what can be seen of a run at this moment. What cannot be seen is left open, never guessed (law 5)."""
    try:
        sight = _sight(adapters, state, run, where, at)
    except (OrchestratorError, OSError) as error:
        return Looked(at, action, run.id, None, str(error))
    return Looked(at, action, run.id, sight)


def _sight(adapters: Adapters, state: PMState, run: Run, where: TaskPaths, at: float) -> Sight:
    files, agent = adapters.files, state.agents.get(run.agent)
    folder = layout.run_home(where.home, run.id)
    log = folder / PANE_LOG
    printed = files.read(log) if files.entry(log) is not None else b""
    host = adapters.host_of(run)
    screen = _screen(host, run)
    made = artifacts_of(state, run, where.task) if agent else None
    order = state.orders.get(run.order)
    artifacts = list(_walk(files, made)) if made else []
    changed = [entry.mtime_ns for _, entry in artifacts]
    changed += [entry.mtime_ns for _, entry in _walk(files, layout.scratchpad(where.task, run.instance))]
    # The tasks' own folders are written by the PM itself, and may be in the tree that an agent works in.
    tree, ours = _tree(state, run, where), where.task.parent
    changed += [entry.mtime_ns for _, entry in _walk(files, tree, without=ours)] if tree else []
    if run.on_box and _changes_there(adapters, state, run, where, at - run.progress_at + run.uncounted):
        changed.append(int(at * 1e9))
    since = order.at if order else run.opened_at
    fresh = [path.name for path, entry in artifacts if entry.is_file and entry.mtime_ns / 1e9 >= since]
    runtime = runtime_known(agent, adapters.settings.runtimes) if agent else None
    rules = runtime.screens if runtime else ()
    rule, line = shown_on(screen, rules) or (None, "")
    failed = rule is not None and (rule.shows is Shows.FAILED or rule.failure is not None)
    failure = rule.failure or Failure.OTHER if rule is not None and failed else None
    return Sight(
        cpu=host.cpu(folder),
        printed=len(printed),
        fresh=says_anything_new(printed, run.printed),
        changed_at=max(changed, default=0) / 1e9,
        artifacts=tuple(sorted(neutral(name) for name in fresh)[:20]),
        said=said_on(screen, rules) if screen.strip() else "",
        dialog=rule.name if rule is not None and rule.shows is Shows.DIALOG else "",
        asks=rule is not None and rule.asks,
        screen=tuple(each[:LINE_LENGTH] for each in end_of(screen)),
        line=redacted(neutral(line))[:LINE_LENGTH],
        failure=failure,
        reset=_reset(adapters, run, screen) if failure is Failure.LIMIT else None,
        listens=agent is not None and runtime is not None and runtime.listens(agent),
    )


def _reset(adapters: Adapters, run: Run, screen: str) -> Reset | None:
    """Return when a limit ends, by a screen: the message appeared when the run fell silent, or later."""
    return reset_time("\n".join(end_of(screen)), run.progress_at, zone_of(run, adapters.boxes.environ))


def _screen(host: Host, run: Run) -> str:
    """Return the screen of the run's own pane: found by its label, as a pane's number may be reused."""
    pane = next((pane.id for pane in host.panes() if pane.run == run.id and not pane.dead), "")
    return host.capture(pane, SCREEN_LINES) if pane else ""


def _changes_there(adapters: Adapters, state: PMState, run: Run, where: TaskPaths, seconds: float) -> bool:
    """Return whether a run on a box changed something there recently, in its tree or in its scratchpad."""
    scratchpad = layout.scratchpad(task_folder_of(state, run, where.task), run.instance)
    folders = str(workspace_of(state, run, where)), str(scratchpad)
    return any(adapters.boxes.changed(run.host, folder, seconds) for folder in folders)


def _tree(state: PMState, run: Run, where: TaskPaths) -> Path | None:
    """Return the tree that a run works in; None if it is on a box, which is asked instead."""
    if run.on_box:
        return None
    tree = worked_in(state, run, where)
    return workspace_of(state, run, where) if tree is None else tree.path


def _walk(files: Files, root: Path, without: Path | None = None) -> Iterator[tuple[Path, Entry]]:
    """Yield what is below a folder, up to a bound; links are not followed, and one folder may be left out."""
    waiting, left = [root], ENTRIES
    while waiting and left > 0:
        folder = waiting.pop()
        for entry in files.entries(folder):
            left -= 1
            path = folder / entry.name
            if entry.is_folder and entry.name not in _SKIPPED and path != without:
                waiting.append(path)
            if entry.is_file:
                yield path, entry
