"""Projections: the state as files that anyone can read, written whole and never the only copy of anything.

`state.json` is what `task` shows. The steps of a large plan are stored beside it in pages of 64 steps, and it names the
pages; after a change only the affected page is written. A page's name contains a hash of its content, and new pages
exist before `state.json` names them. So a reader has all of one moment, or finds a page gone and reads `state.json`
again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from shlex import quote
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.projections.state_document import (
    NOTHING,
    USUAL,
    Unjournaled,
    document_of,
    masked,
    projection,
    visible_steps,
)
from orchestrator.formats.text import neutral_json
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate
from orchestrator.model.task import TaskState
from orchestrator.ports.files import Unreadable
from orchestrator.scribe.page import put_page

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.projections.outcome import Outcome
    from orchestrator.pm.state.runs import Runs
    from orchestrator.pm.state.steps import Steps
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


FEW: Final = 256
"""Up to this many steps are stored in `state.json` itself."""


@dataclass(slots=True)
class Shown:
    """The state of a task in `state.json` and its pages. `_pages` are the ones written last, with their names."""

    files: Files
    home: Path
    limits: Limits = USUAL
    _pages: list[tuple[object, str]] = field(default_factory=list)
    _swept: bool = False

    def write(
        self,
        state: PMState,
        last_checkin: float,
        at: float,
        outcome: Outcome | None = None,
        unjournaled: Unjournaled = NOTHING,
    ) -> None:
        """Write `state.json`, and the pages that changed. Raises OSError."""
        if self._pages and self.files.entry(layout.task_pages(self.home)) is None:
            self._pages = []  # somebody deleted them
        before = {name for _, name in self._pages}
        if len(state.steps) <= FEW:
            document = projection(
                state,
                last_checkin=last_checkin,
                at=at,
                limits=self.limits,
                outcome=outcome,
                unjournaled=unjournaled,
            )
            self._pages = []
        else:
            self._pages = self._written(state.steps, state.runs)
            pages = [name for _, name in self._pages]
            document = document_of(state, last_checkin, at, self.limits, outcome, unjournaled, pages=pages)
        put_page(self.files, layout.task_state(self.home), _packed(document))
        self._remove(before)

    def _written(self, steps: Steps, runs: Runs) -> list[tuple[object, str]]:
        """Write the pages that changed, and return all of them."""
        folder, known = layout.task_pages(self.home), dict(enumerate(self._pages))
        pages: list[tuple[object, str]] = []
        self.files.make_folder(folder)
        for number, chunk in enumerate(steps.chunks):
            kept, name = known.get(number, (None, ""))
            if kept is not chunk:
                data = _packed(visible_steps((step for _, step in chunk), runs))
                new = f"{number:04}-{blake2b(data, digest_size=8).hexdigest()}.json"
                if new != name:
                    self.files.write(folder / new, data)
                name = new
            pages.append((chunk, name))
        return pages

    def _remove(self, before: set[str]) -> None:
        """Remove the pages that are no longer named; the first time also those of an earlier daemon."""
        folder, named = layout.task_pages(self.home), {name for _, name in self._pages}
        if not self._swept:
            before |= {entry.name for entry in self.files.entries(folder)}
        for name in before - named:
            self.files.remove(folder / name)
        self._swept = True


def write_pm_state(files: Files, task_folder: Path, state: PMState, *, last_checkin: float, at: float) -> int:
    """Write `pm_state.json` into the task's folder, as its documentation says. Return its bytes. Raises OSError."""
    document = {
        "task": state.name,
        "phase": state.phase.value,
        "state": state.state.value,
        "last_checkin": last_checkin or None,
        "updated": at,
        "branch": state.branch,
    }
    milestones = [
        {
            "id": step.id,
            "title": masked(step.title),
            "status": step.state.value,
            "phase": step.phase.value,
            "attempts": state.runs.tries(step.id),
        }
        for step in state.steps.values()
        if Gate.DECISION not in step.gates
    ]
    # One milestone a line, to be read and compared; `indent` would spread each, and is ten times slower.
    head = "".join(f"{_spaced(key)}: {_spaced(value)},\n" for key, value in document.items())
    listed = ",\n ".join(_spaced(each) for each in milestones)
    data = neutral_json(f'{{\n{head}"milestones": [\n {listed}\n]\n}}\n').encode()
    if files.entry(task_folder) is not None:
        put_page(files, layout.pm_state(task_folder), data, 0o644)
    return len(data)


def last_checkin_shown(files: Files, home: Path) -> float:
    """Return a task's last check-in as it was last shown, as it is not journaled; 0 if that is unknown."""
    try:
        document = json.loads(files.read(layout.task_state(home)))
        return float(document["last_checkin"] or 0.0)
    except (Unreadable, ValueError, RecursionError, TypeError, KeyError):
        return 0.0


def write_lost(files: Files, home: Path, kept: str, at: float) -> None:
    """Update the last `state.json` of a task whose journal cannot be read, not even its beginning."""
    try:
        document = json.loads(files.read(layout.task_state(home)))
    except (Unreadable, ValueError, RecursionError):
        return
    if not isinstance(document, dict):
        return
    why = f"its journal cannot be read and is kept as {kept}: start it again, then its handoffs are history"
    known = document.get("outcome")
    lost = {
        "outcome": f"failed: {why}",
        "work": "no page shows what was done: its branch and its handoffs are unchanged",
        "not_done": "unknown",
        "cost": "unknown",
        "next": f"`task start {quote(str(document.get('task')))} --project {quote(str(document.get('project')))}`",
    }
    outcome = (known if isinstance(known, dict) else {}) | lost
    document |= {"state": TaskState.FAILED.value, "why": why, "outcome": outcome}
    document |= {"agents": [], "questions": [], "updated": at}
    files.write(layout.task_state(home), json.dumps(document).encode())


def _spaced(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _packed(value: object) -> bytes:
    return neutral_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()
