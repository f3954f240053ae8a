"""Whether work lies uncommitted in a repository on a box: nothing changes there."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable

DEADLINE: Final = 120.0
"""Seconds that git may take to look through the tree."""

# Told is whether there is any, as there may be very much. New files count whatever the user's own settings of git say;
# submodules do not, as git would run there what their configuration names, and none is brought.
_SCRIPT: Final = """
left=$(GIT_OPTIONAL_LOCKS=0 git -C "$1" -c core.fsmonitor=false \\
    status --porcelain --untracked-files=normal --ignore-submodules=all) || exit
if [ -n "$left" ]; then echo left; fi
"""


def lies_uncommitted(link: Link, there: str) -> bool:
    """Return whether anything lies uncommitted in the repository `there`, new files too; what it ignores is nothing.

    Raises:
        Unavailable: git cannot tell it there.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    ended = link.run(["sh", "-c", _SCRIPT, "sh", there], deadline=DEADLINE)
    if ended.status:
        said = one_line(ended.err.decode(errors="replace"))
        raise Unavailable(
            f"{link.address}: git cannot tell what lies uncommitted in {there} ({said[-200:]!a})"
        )
    return bool(ended.out.strip())
