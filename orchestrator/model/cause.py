"""Causes: why something failed, as far as its own output tells (law 12)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a step's last run, or its check, failed.

    `what` says it in words ("exited 127"). `run` names the run whose log has the whole story. `lines` are the last
    lines that it printed: cleaned of control sequences, secrets masked, few and short.
    """

    what: str
    run: str = ""
    lines: tuple[str, ...] = ()

    @property
    def last(self) -> str:
        """The last line that was printed, or an empty string."""
        return self.lines[-1] if self.lines else ""

    def __str__(self) -> str:
        """The cause on one line: what happened, and the last line that was printed."""
        return f"{self.what}: {self.last}" if self.last else self.what
