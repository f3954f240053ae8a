"""The names of handoffs: `{instance}-{YYYYMMDD}-{HHMMSS}.md`, in local time (H6).

The suffix is that of the handoff's format.
"""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Final

from orchestrator.formats.handoff_format import suffixes
from orchestrator.model.names import NAME, checked_name

FIRST_YEAR: Final = 1969  # the epoch, west of Greenwich
LAST_YEAR: Final = 2999

_TWO: Final = "[0-9]{2}"
_SAVING: Final = re.compile(
    r"\..*"  # hidden: .x.md.swp, .#x.md, .goutputstream-0A1B2C, .x.md.Ab12Cd (vim, Emacs, GLib, rsync)
    r"|.*~|#.*#"  # x.md~, #x.md# (backups and saves of vim and Emacs)
    r"|[0-9]{4,6}"  # 4913, by which vim tries whether it may write
    r"|(tmp|sed)[._]?[A-Za-z0-9_]{6,12}"  # tmpab12cd34, tmp.Ab12Cd34Ef, sedAb12Cd (mkstemp, mktemp, sed -i)
    r"|.*\.(tmp|temp|part|partial|filepart|sw[a-z]|new|bak|orig|save|lock|download|crdownload|unfinished|incomplete)"
    r"([._-][A-Za-z0-9]+)*",  # x.md.tmp.1, x.md.part, x.tmp.md
    re.DOTALL,
)
_STAMPED: Final = re.compile(r".*-[0-9]{8}-[0-9]{6}(\..+)", re.DOTALL)
"""What a handoff's name looks like, with whatever stands behind its stamp: .md, or .md.Ab12Cd, .md-"""

_HANDOFF: Final = re.compile(
    rf"({NAME})-(([0-9]{{4}})({_TWO})({_TWO})-({_TWO})({_TWO})({_TWO}))(\.[a-z0-9]{{1,8}})"
)


def handoff_name(instance: str, at: float, suffix: str = ".md") -> str:
    """Return the file name of a handoff.

    Args:
        instance: Who writes it: an agent, `dev-2` for a second one at once, or `pm`.
        at: When, in seconds since the epoch.
        suffix: That of the handoff's format.

    Raises:
        BadName: `instance` is no name.

    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(at))
    return f"{checked_name(instance, 'agent name')}-{stamp}{suffix}"


def is_being_saved(name: str) -> bool:
    """Return whether a file name is one under which editors, scripts and programs save what they then rename."""
    if split_handoff_name(name) is not None:
        return False
    stamped = _STAMPED.fullmatch(name)
    goes_on = stamped is not None and any(
        stamped[1].startswith(suffix) and stamped[1] != suffix for suffix in suffixes()
    )
    return goes_on or _SAVING.fullmatch(name) is not None


def split_handoff_name(name: str) -> tuple[str, str] | None:
    """Return the instance and the stamp `YYYYMMDD-HHMMSS` of a handoff's file name.

    None if it is not the name of a handoff, or its stamp is no date and time.
    """
    found = _HANDOFF.fullmatch(name)
    if not found or found[9] not in suffixes():
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[2:8])
    try:
        datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - only whether there is such a time
    except ValueError:
        return None
    return (found[1], found[2]) if FIRST_YEAR <= year <= LAST_YEAR else None
