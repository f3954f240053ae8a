"""Whether anything changed recently in a tree on a box, by its own clock."""

from __future__ import annotations

from math import ceil
from typing import Final

from orchestrator.ports.box_link import BoxLink

DEADLINE: Final = 30.0
"""Seconds that the look may take; if a tree takes longer, nothing is known of it."""

# `-mmin` counts whole minutes, rounded up. Skipped are folders of programs' own, and the tasks' own folders.
_SCRIPT: Final = """
cd -- "$1" || exit 0
find . -xdev \\
    \\( -name .git -o -name node_modules -o -name __pycache__ -o -name .venv -o -name .tox -o -path ./tasks \\) \\
    -prune -o -type f -mmin "-$2" -print 2>/dev/null | sed q
"""


def changed_within(link: BoxLink, folder: str, seconds: float) -> bool:
    """Return whether a file beneath `folder` was changed in the last `seconds`, by the minute. Raises as `Link.run`."""
    minutes = max(1, ceil(seconds / 60))
    return bool(link.run(["sh", "-c", _SCRIPT, "sh", folder, str(minutes)], deadline=DEADLINE).out.strip())
