"""Whether a repository on a box has uncommitted work; this changes nothing there."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink

DEADLINE: Final = 120.0
"""Seconds that git may take to look through the tree."""

# Only whether there is any is printed, as there may be very much. New files count whatever the user's own settings of
# git say; submodules do not: git would run commands of their configuration there, and none is fetched.
_SCRIPT: Final = """
left=$(GIT_OPTIONAL_LOCKS=0 git -C "$1" -c core.fsmonitor=false \\
    status --porcelain --untracked-files=normal --ignore-submodules=all) || exit
if [ -n "$left" ]; then echo left; fi
"""


def lies_uncommitted(link: BoxLink, there: str) -> bool:
    """Return whether the repository `there` has anything uncommitted, new files too; ignored files do not count.

    Raises:
        Unavailable: git cannot answer there.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    ended = link.run(["sh", "-c", _SCRIPT, "sh", there], deadline=DEADLINE)
    if ended.status:
        reason = one_line(ended.err.decode(errors="replace"))
        raise Unavailable(
            f"{link.address}: git cannot determine uncommitted work in {there} ({reason[-200:]!a})"
        )
    return bool(ended.out.strip())
