"""A host that is this machine but for how programs are started: the base of host kinds such as containers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.host import Host, LaunchSpec, Observation, PaneSeen


class WrappedHost(ABC):
    """Starts each program by another one, as `podman run … PROGRAM` does; all else is done by the host beneath it.

    What it starts must end with what it is started by, or stay a descendant of it: runs are ended and seen to be gone
    by their processes here.
    """

    def __init__(self, local: Host) -> None:
        self.local = local

    @abstractmethod
    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        """Return how the run is launched. `spec.writable` are the folders that its program must be able to write."""

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
