"""End a run: asked first, killed after the grace. A run that was never claimed is fenced: it will never start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.host import Host


def end(host: Host, home: Path, run: str, *, kill: bool) -> None:
    """Signal a run's processes. The result is observed, not assumed."""
    host.end(layout.run_home(home, run), kill=kill)


def fence(host: Host, home: Path, run: str) -> None:
    """Make sure that a launcher that has not come starts nothing if it comes later."""
    host.fence(layout.run_home(home, run))
