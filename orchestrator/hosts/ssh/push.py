"""Sending files for an agent to a box, by rsync: whole or not at all, and never replacing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.rsync import BOX, DEADLINE, rsync
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import BoxLink

LARGEST: Final = 16 * 1_048_576
"""The maximum size of a file that is sent: it is for agents to read."""

OURS: Final = ("orchestration",)
"""The folders in which what lies here is what counts: what another one replaces there is kept in `KEPT`."""

KEPT: Final = ".replaced"

# Not even older files there are replaced: any difference was made by somebody. Links may lead anywhere.
_OPTIONS: Final = (
    "--recursive",
    "--relative",
    "--times",
    "--chmod=D0700,F0600",
    "--ignore-existing",
    "--exclude=.*",
    f"--max-size={LARGEST}",
)


_OVER: Final = (
    "--recursive",
    "--relative",
    "--times",
    "--checksum",
    "--backup",
    f"--backup-dir={KEPT}",
    "--chmod=D0700,F0600",
    "--exclude=.*",
    "--exclude=/orchestration/records",
    f"--max-size={LARGEST}",
)


def push_over(link: BoxLink, here: Path, there: str, environ: Mapping[str, str]) -> str:
    """Send the files of a workflow, below `here`, to below the absolute path `there`, over those that are others.

    Returns rsync's error messages, or nothing. Raises as `rsync` does.
    """
    if not there.startswith("/"):
        raise Refused("a push needs an absolute path")
    sources = [f"{here}/./{folder}" for folder in OURS if (here / folder).is_dir()]
    target = f"{BOX}:{there.rstrip('/')}/"
    return rsync(link, [*_OVER, "--", *sources, target], environ).said if sources else ""


def push(
    link: BoxLink,
    here: Path,
    folders: Sequence[str],
    there: str,
    environ: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
) -> str:
    """Send the content of `folders`, below `here`, to below the absolute path `there`, as far as it is missing there.

    Returns rsync's error messages, or nothing. `deadline` is in seconds. Raises as `rsync` does.
    """
    if not there.startswith("/") or not all(folder and folder[0] not in "/-." for folder in folders):
        raise Refused("a push needs folders and an absolute path")
    sources = [f"{here}/./{folder}" for folder in folders if (here / folder).is_dir()]
    if not sources:
        return ""
    target = f"{BOX}:{there.rstrip('/')}/"
    return rsync(link, [*_OPTIONS, "--", *sources, target], environ, deadline=deadline).said
