"""This machine as a host with another way to start programs: the base of host kinds such as containers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.host import Host, LaunchSpec, Observation, PaneSeen


class WrappedHost(ABC):
    """Starts each program through another one, as `podman run … PROGRAM` does; the host below does the rest.

    A program must end with the one that starts it, or stay a descendant of it: runs are ended, and seen to be gone, by
    their processes here.
    """

    def __init__(self, local: Host) -> None:
        self.local = local

    @abstractmethod
    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        """Return the modified launch of a run. Its program must be able to write the folders in `spec.writable`."""

    def launch(self, spec: LaunchSpec) -> None:
        """Launch the run, wrapped."""
        self.local.launch(self.wrap(spec))

    def open_session(self, session: str, title: str, log: Path) -> None:
        """As `Host`."""
        self.local.open_session(session, title, log)

    def observe(self, folder: Path) -> Observation:
        """As `Host`."""
        return self.local.observe(folder)

    def cpu(self, folder: Path) -> float | None:
        """As `Host`."""
        return self.local.cpu(folder)

    def fence(self, folder: Path) -> None:
        """As `Host`."""
        self.local.fence(folder)

    def end(self, folder: Path, *, kill: bool) -> None:
        """As `Host`."""
        self.local.end(folder, kill=kill)

    def panes(self) -> list[PaneSeen]:
        """As `Host`."""
        return self.local.panes()

    def close_pane(self, pane: str, run: str) -> None:
        """As `Host`."""
        self.local.close_pane(pane, run)

    def close_session(self, session: str) -> None:
        """As `Host`."""
        self.local.close_session(session)

    def close_ended(self, session: str) -> None:
        """As `Host`."""
        self.local.close_ended(session)

    def type_line(self, pane: str, run: str, text: str) -> bool:
        """As `Host`."""
        return self.local.type_line(pane, run, text)

    def capture(self, pane: str, lines: int) -> str:
        """As `Host`."""
        return self.local.capture(pane, lines)
