"""What must not be shown of the files that worktrees get copies of (`prepare.copy:`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.secret_values import values_in
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.task import Config
    from orchestrator.ports.files import Files

_LARGEST: Final = 1_048_576


def copied_values(files: Files, config: Config, project: Path) -> frozenset[str]:
    """Return the values in the files of a project that worktrees get; one that cannot be read has none."""
    found = frozenset[str]()
    for path in config.prepare_copy:
        try:
            found |= values_in(files.read(project / path, _LARGEST))
        except (Unreadable, OSError):
            continue
    return found
