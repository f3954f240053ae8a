"""The three files that others read of a task must agree with the journal and with the disk."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.progress_view import pm_view
from orchestrator.daemon.projections.state_document import PAGED, VERSION, Unjournaled, projection
from orchestrator.daemon.projections.state_files import FEW
from orchestrator.daemon.projections.work_done import BranchLook
from orchestrator.model.task import TaskState
from orchestrator.scribe.content import Artifact, OnDisk
from orchestrator.scribe.progress import render_progress
from orchestrator.scribe.scribe import ARTIFACTS_SHOWN
from tests.simulation.engine.law import Finding, Law, findings
from tests.simulation.engine.pm_agents import ASKED
from tests.simulation.engine.user_task import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Entry
    from tests.simulation.engine.user_task import UserTask
    from tests.simulation.engine.world import World

_MOMENTS: Final = ("updated", "last_checkin")
_TIMES: Final = re.compile(
    rb'"(updated|last_checkin)": ?[^,}]*|^\*\*Last (Updated|Check-in):.*$', re.MULTILINE
)
_UNFINISHED: Final = "not on the branch yet: "
_OWN: Final = ("task", "phase", "state", "branch")
_MILESTONE: Final = ("id", "title", "status", "phase")
_PARTS: Final = (
    "Milestone Summary",
    "Current Blockers",
    "Artifacts Generated",
    "Success Criteria",
    "Trouble",
)
_OUTCOME: Final = ("asked", "outcome", "not_done", "cost")
"""The parts of the outcome that follow from the state alone. The rest describes the branch at the last look."""
_LOOKED: Final = "branch_seen"
_OVER: Final = frozenset({TaskState.COMPLETE, TaskState.PARTIAL, TaskState.FAILED})


@dataclass(slots=True)
class Pages:
    """Checks a task's files when they must be up to date, and only if something changed since the last check."""

    world: World
    user_task: UserTask
    looked: int = 0
    _seen: dict[Path, tuple[PMState, Entry | None, float]] = field(default_factory=dict)
    _held: dict[Path, tuple[PMState, bytes]] = field(default_factory=dict)
    _paths: tuple[Path, Path, Path] = field(init=False)

    def __post_init__(self) -> None:
        """Name the files."""
        folder = self.user_task.folder
        self._paths = (self.user_task.shown, layout.pm_state(folder), layout.task_progress(folder))

    def differ(self, state: PMState) -> list[Finding]:
        """Return where a file differs from the state, once the workers are idle and the disk takes writes.

        What agents write reaches progress.md by the next check-in, which also repairs what they damaged.
        """
        world, found = self.world, list[str]()
        progress_differs = list[str]()
        if not world.daemon.idle or world.daemon.checked_in_at <= world.trouble_at:
            return []
        shown, own, progress = self._paths
        if self._is_new(shown, state):
            found += self._state_differs(state)
        if world.written_at < world.daemon.checked_in_at:
            if self._is_new(own, state):
                found += self._own_differs(state)
            if self._is_new(progress, state):
                progress_differs = self._progress_differs(state)
        return findings(Law.STATE_SHOWN, found) + findings(Law.PROGRESS_SHOWN, progress_differs)

    def _is_new(self, page: Path, state: PMState) -> bool:
        """Return whether a file or its state changed since the last check. Times do not count as a change."""
        files, entry, at = self.world.files, self.world.files.entry(page), self.world.written_at
        known, seen, seen_at = self._seen.get(page, (None, None, 0.0))
        if known is state and seen is entry and seen_at == at:
            return False
        self._seen[page] = state, entry, at
        text = _TIMES.sub(b"", files.read(page)) if entry is not None else b""
        known, held = self._held.get(page, (None, b""))
        self._held[page] = state, text
        self.looked += 1
        return known is not state or text != held or seen_at != at

    def _state_differs(self, state: PMState) -> list[str]:
        shown = self.world.shown(self.user_task)
        at = float(shown.get("updated") or 0.0)
        task = self.world.tasks().get(state.id)
        unjournaled = Unjournaled(waiting=task.doing.launches.waiting if task is not None else {})
        true = json.loads(json.dumps(projection(state, last_checkin=0.0, at=at, unjournaled=unjournaled)))
        true["version"] = VERSION if len(state.steps) <= FEW else PAGED
        known = (*_MOMENTS, "outcome", "boxes")  # what does not come from boxes follows from these
        differ = [key for key, value in true.items() if key not in known and shown.get(key) != value]
        differ += self._outcome_differs(state, shown.get("outcome") or {})
        return [f"state.json differs from the state in {', '.join(differ)}"] if differ else []

    def _outcome_differs(self, state: PMState, shown: dict[str, Any]) -> list[str]:
        """Compare the outcome with the state and, once the task is over, with the branch itself."""
        seen = self.world.workspaces.survey(PROJECT, state.branch, state.base) if state.base else None
        true = asdict(outcome_of(state, BranchLook(0.0, seen) if state.base else None))
        over = state.state in _OVER and not state.live_runs
        keys = tuple(true.keys() - {_LOOKED}) if over else _OUTCOME
        if over:  # leftovers may still write into worktrees: what lies there is not held
            parts = str(shown.get("work", "")).split("; ")
            shown = shown | {"work": "; ".join(part for part in parts if not part.startswith(_UNFINISHED))}
        found = [f"outcome: {key}" for key in keys if shown.get(key) != true[key]]
        # The time of the look is the daemon's to say; the state tells only whether there was one.
        if over and (shown.get(_LOOKED) is None) != (true[_LOOKED] is None):
            found.append(f"outcome: {_LOOKED}")
        return found

    def _own_differs(self, state: PMState) -> list[str]:
        shown = self.world.read_json(self._paths[1])
        true = projection(state, last_checkin=0.0, at=0.0)
        wanted: dict[str, Any] = {key: true[key] for key in _OWN}
        wanted["milestones"] = [
            {**{key: step[key] for key in _MILESTONE}, "attempts": step["tries"]}
            for step in true["steps"]
            if not step["id"].startswith(ASKED)
        ]
        differ = [key for key, value in wanted.items() if shown.get(key) != value]
        return [f"pm_state.json differs from the state in {', '.join(differ)}"] if differ else []

    def _progress_differs(self, state: PMState) -> list[str]:
        path = self._paths[2]
        if self.world.files.entry(path) is None:
            return ["there is no progress.md"]
        lying = sorted(self._artifacts(), reverse=True)
        artifacts = tuple(Artifact(name, at / 1e9) for at, name in lying[:ARTIFACTS_SHOWN])
        disk = OnDisk(artifacts=artifacts, more_artifacts=len(lying) - len(artifacts))
        wanted = _parts(render_progress(pm_view(state, 0.0), disk, 0.0))
        shown = _parts(self.world.files.read(path).decode(errors="replace"))
        differ = [part for part in _PARTS if shown.get(part) != wanted.get(part)]
        return [f"progress.md differs from the disk and the state in '{', '.join(differ)}'"] if differ else []

    def _artifacts(self) -> list[tuple[int, str]]:
        """Return the files under `artifacts/`, with their times."""
        files, top = self.world.files, layout.artifacts(self.user_task.folder)
        folders, found = [(top, "artifacts")], []
        while folders:
            folder, prefix = folders.pop()
            for entry in files.entries(folder):
                if entry.is_folder:
                    folders.append((folder / entry.name, f"{prefix}/{entry.name}"))
                else:
                    found.append((entry.mtime_ns, f"{prefix}/{entry.name}"))
        return found


def _parts(text: str) -> dict[str, str]:
    """Return the sections of progress.md by their titles."""
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {title: body.strip() for title, _, body in parts}
