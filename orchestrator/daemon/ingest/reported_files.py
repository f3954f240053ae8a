"""The files that a report names: whether they are here, and under which paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.task_paths import task_folder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.model.handoff import Report
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

PATH_MAX: Final = 4096


@dataclass(frozen=True, slots=True)
class ReportedFiles:
    """Looks for the files that reports name. Its fields are those of `HandoffIngest`."""

    files: Files
    folder: Path
    trees: Callable[[Run], tuple[Path, ...]]
    withheld: Callable[[], Mapping[str, str]]

    def as_seen_here(self, report: Report, instance: str, state: PMState) -> Report:
        """Return a report from a box with paths in the task's folder there as paths in the one here.

        What it names was fetched to here, and its readers, agents on this machine or on another box, look for it here.
        """
        run = state.runs.get(state.runs.latest.get(instance, ""))
        if run is None or not run.on_box:
            return report
        there = str(task_folder_of(state, run, self.folder))

        def here(paths: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(layout.in_task_folder(path, there) for path in paths)

        marks = report.criteria
        if marks is not None:
            marks = tuple(replace(mark, evidence=here(mark.evidence)) for mark in marks)
        return replace(report, artifacts=here(report.artifacts), criteria=marks)

    def missing(
        self, report: Report, instance: str, state: PMState
    ) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Return the named artifacts that are not on disk (law 6), and those that stay on a box, with the reason.

        Evidence is looked up when it is judged. Absolute paths that are left in a report from a box are of other
        folders there: what is in them stays there, and is believed.
        """
        named = dict.fromkeys(report.artifacts)
        run = state.runs.get(state.runs.latest.get(instance, ""))
        trees = self.trees(run) if run is not None else ()
        known = self.withheld() if run is not None and run.on_box else {}
        if run is not None and run.on_box:
            named = {name: None for name in named if not name.startswith("/")}
        away = {name: why for name in named if (why := known.get(normpath(name)))}
        lacking = (name for name in named if name not in away and not self._is_there(name, trees))
        return tuple(lacking), tuple(away.items())

    def _is_there(self, name: str, trees: tuple[Path, ...]) -> bool:
        """Return whether a path names a file, or a folder that is not empty, where an agent's work may be.

        That is in the task's folders for agents, in the tree that the run works in, or in the project. A relative path
        may start at the task's folder or at the tree.
        """
        path = Path(name)
        if ".." in path.parts or "\0" in name or len(name) > PATH_MAX:
            return False
        roots = [*(self.folder / each for each in layout.FOR_AGENTS), *trees]
        starts = (Path("/"),) if path.is_absolute() else (self.folder, *trees)
        return any(self._holds(start / path, roots) for start in starts)

    def _holds(self, path: Path, roots: list[Path]) -> bool:
        files = self.files
        entry = files.entry(path)
        if entry is None or not (entry.is_file or entry.is_folder):
            return False
        real = files.real(path)
        within = [root for root in roots if real.is_relative_to(files.real(root))]
        if not within or self._is_ours(real):
            return False
        return entry.is_file or (bool(files.names(path)) and path not in within)

    def _is_ours(self, path: Path) -> bool:
        """Return whether a file of the task's folder is the user's or the PM's own, and so no agent's work."""
        real = self.files.real(self.folder)
        return path.is_relative_to(real) and path.relative_to(real).parts[:1] not in {
            (each,) for each in layout.FOR_AGENTS
        }
