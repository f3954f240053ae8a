"""End a run: asked first, killed after the grace. One that was never claimed is forestalled: it never lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.host import Host


def end(host: Host, home: Path, run: str, *, kill: bool) -> None:
    """Signal a run's processes. What becomes of them is observed, not assumed."""
    host.end(layout.run_home(home, run), kill=kill)


def fence(host: Host, home: Path, run: str) -> None:
    """Let a launcher that has not come start nothing when it does."""
    host.fence(layout.run_home(home, run))
