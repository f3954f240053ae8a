"""The port for boxes where there are none: a daemon without SSH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.ports.host import Host
from orchestrator.ports.boxes import (
    Belief,
    CloneState,
    RemoteEnvironment,
    RemoteFile,
    RemoteTask,
    Sighting,
    TransferFailure,
)


class NoBoxes:
    """The boxes of somebody who has none."""

    def keep(self, task: str, remote_tasks: tuple[RemoteTask, ...]) -> None:
        """Nothing is to be kept."""

    def release(self, task: str) -> bool:
        """Say that nothing is changed."""
        del task
        return True

    def seen(self, box: str, folder: Path) -> Sighting | None:
        """Nothing was ever seen."""

    def belief(self, box: str, task: str = "") -> Belief | None:
        """Say that there is no such box."""
        del task
        return Belief(reachable=False, why=f"{box} is nowhere", refused=True)

    def troubles(self, box: str, task: str) -> tuple[TransferFailure, ...]:
        """Nothing was tried."""
        del box, task
        return ()

    def environ(self, box: str) -> Mapping[str, str]:
        """Nothing is known."""
        return {}

    def hurry(self, box: str) -> None:
        """Nothing is to be done."""

    def call_again(self) -> None:
        """Nobody is to be called."""

    def host(self, box: str) -> Host:
        """Raise Unavailable."""
        raise _nowhere(box)

    def ground(self, remote_task: RemoteTask) -> RemoteEnvironment:
        """Raise Unavailable."""
        raise _nowhere(remote_task.box)

    def send(self, remote_task: RemoteTask, instance: str) -> None:
        """Raise Unavailable."""
        raise _nowhere(remote_task.box)

    def send_workflow(self, remote_task: RemoteTask, sent: Path) -> None:
        """Raise Unavailable."""
        del sent
        raise _nowhere(remote_task.box)

    def handed_in(self, remote_task: RemoteTask) -> Path | None:
        """Nothing was ever brought."""

    def show(self, remote_task: RemoteTask) -> None:
        """Raise Unavailable."""
        raise _nowhere(remote_task.box)

    def leave(self, box: str, task: str) -> None:
        """Raise Unavailable."""
        raise _nowhere(box)

    def changed(self, box: str, place: str, seconds: float) -> bool:
        """Raise Unavailable."""
        raise _nowhere(box)

    def bring(self, box: str, place: str, project: Path, ref: str) -> str:
        """Raise Unavailable."""
        raise _nowhere(box)

    def clone_state(self, box: str, place: str, commit: str, ref: str) -> CloneState:
        """Raise Unavailable."""
        raise _nowhere(box)

    def send_commit(self, box: str, place: str, project: Path, commit: str, ref: str) -> None:
        """Raise Unavailable."""
        raise _nowhere(box)

    def advance_head(self, box: str, place: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
        """Raise Unavailable."""
        raise _nowhere(box)

    def uncommitted(self, box: str, place: str) -> bool:
        """Raise Unavailable."""
        raise _nowhere(box)

    def fingerprint(self, box: str, place: str, without: str) -> str:
        """Raise Unavailable."""
        raise _nowhere(box)

    def differing(self, box: str, place: str, before: str, now: str) -> tuple[str, ...] | None:
        """Raise Unavailable."""
        raise _nowhere(box)

    def file_at(self, box: str, place: str, path: str, task: str) -> RemoteFile | None:
        """Raise Unavailable."""
        raise _nowhere(box)

    def commit_at(self, box: str, place: str, name: str, base: str, since: float) -> str:
        """Raise Unavailable."""
        raise _nowhere(box)


def _nowhere(box: str) -> Unavailable:
    return Unavailable(f"{box} is nowhere: no boxes are kept here")
