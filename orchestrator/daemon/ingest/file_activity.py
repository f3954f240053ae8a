"""Signs of work: files that agents write in their scratchpads and among the artifacts (law 9: one look per folder)."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


def signs_of_work(files: Files, task: Path, state: PMState, novel: Mapping[str, float]) -> dict[str, float]:
    """Return when each live run last wrote a file. Activity on its screen is no sign of work.

    `novel` says when a call last brought a new result, for runs whose programs keep transcripts. A growing transcript
    counts only for programs of which no more is known.
    """

    @cache  # many runs write their artifacts into one folder
    def newest(folder: Path) -> int:
        """Return when the youngest file of a folder was changed, in nanoseconds; 0 if there is none."""
        return max((entry.mtime_ns for entry in files.entries(folder)), default=0)

    signs = {}
    for run in state.live_runs:
        sign = newest(_scratchpad(task, run.instance))
        if (agent := state.agents.get(run.agent)) is not None:
            subtask = "" if run.on_box else state.steps[run.step].subtask
            sign = max(sign, newest(_artifacts(task, agent.artifact_folder, subtask)))
        if run.id in novel:
            sign = max(sign, int(novel[run.id] * 1e9))
        elif run.transcript and (kept := files.entry(Path(run.transcript))) is not None:
            sign = max(sign, kept.mtime_ns)
        if sign:
            signs[run.id] = sign / 1e9
    return signs


# Cached: for 200 runs, making paths would cost more than the looks.
@lru_cache(512)
def _scratchpad(task: Path, instance: str) -> Path:
    return layout.scratchpad(task, instance)


@lru_cache(512)
def _artifacts(task: Path, folder: str, subtask: str) -> Path:
    return layout.artifacts(task, folder, subtask)
