"""What was last seen of the runs on one box, and when that is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core import hints as h
from orchestrator.hosts.claims import EXIT
from orchestrator.ports.boxes import RemoteTask, Sighting
from orchestrator.ports.host import Standing

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.host import BoxHost
    from orchestrator.hosts.ssh.publish import Pulled


@dataclass
class RunSightings:
    """The runs on one box. Any thread may ask what was `seen`, one does the rest.

    `post` sends a hint to the loop, `now` returns seconds since the epoch.
    """

    host: BoxHost
    post: Callable[[h.Hint], None]
    now: Callable[[], float]
    _seen: dict[Path, Sighting] = field(default_factory=dict)
    _stages: set[tuple[Path, Standing]] = field(default_factory=set)

    def seen(self, folder: Path) -> Sighting | None:
        """Return what was last published of a run."""
        return self._seen.get(folder)

    @property
    def gone(self) -> set[str]:
        """The runs of which is published that they are gone."""
        return {path.name for path, each in self._seen.items() if each.observation.standing is Standing.GONE}

    def keep_only(self, remote_tasks: Iterable[RemoteTask]) -> None:
        """Forget all runs but those of these tasks."""
        runs = {run for remote_task in remote_tasks for run in remote_task.runs}
        self._seen = {folder: seen for folder, seen in self._seen.items() if folder.name in runs}
        self._stages = {stage for stage in self._stages if stage[0].name in runs}

    def look(self, remote_tasks: Iterable[RemoteTask]) -> dict[Path, Sighting]:
        """Ask for the state of the runs of these tasks."""
        return self._look_into(folders_of(remote_tasks))

    def look_again(
        self, remote_task: RemoteTask, pulled: Pulled, seen: Mapping[Path, Sighting]
    ) -> dict[Path, Sighting]:
        """Ask again for the runs that ended during the pull: their last reports were fetched with their exits."""
        ended = [run for run in sorted(remote_task.runs) if f"runs/{run}/{EXIT}" in pulled.brought]
        folders = [layout.run_home(remote_task.home, run) for run in ended]
        known = {folder for folder, each in seen.items() if each.observation.standing is Standing.GONE}
        return self._look_into([folder for folder in folders if folder not in known])

    def publish(self, remote_task: RemoteTask, seen: Mapping[Path, Sighting], *, gone: bool) -> bool:
        """Publish what was seen of a task's runs; one is gone only if everything was fetched after that was seen.

        Return whether a run has a standing that it never had before. A box can bring that about only a few times for
        each run.
        """
        stages = len(self._stages)
        for run in sorted(remote_task.runs):
            folder = layout.run_home(remote_task.home, run)
            now, before = seen.get(folder), self._seen.get(folder)
            if now is None or (now.observation.standing is Standing.GONE and not gone):
                continue
            self._seen[folder] = now
            self._stages.add((folder, now.observation.standing))
            if before is None or before.observation != now.observation:
                self.post(h.RunHint(remote_task.task, run))
        return len(self._stages) > stages

    def _look_into(self, folders: list[Path]) -> dict[Path, Sighting]:
        if not folders:
            return {}
        at = self.now()
        return {folder: Sighting(seen, at) for folder, seen in self.host.observe_all(folders).items()}


def folders_of(remote_tasks: Iterable[RemoteTask]) -> list[Path]:
    """Return the local folders of all runs of these tasks."""
    return [
        layout.run_home(remote_task.home, run)
        for remote_task in remote_tasks
        for run in sorted(remote_task.runs)
    ]
