"""The settings of a night: the shipped ones, divided by the night's factor. This is all that compresses the time.

They are taken from `task config --json`, so a bound that is added later is scaled without a line here. What depends on
how fast a real CLI, git or a disk is cannot be scaled: it has a floor, which says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?) (ms|s|m|h|d|w)")

FLOORS: Final[Mapping[str, tuple[float, str]]] = {
    "limits.receipt_timeout": (60.0, "a CLI on a busy machine takes half a minute to start"),
    "limits.start_timeout": (30.0, "a process is started in real time"),
    "limits.termination_grace": (5.0, "a CLI takes a second to end, and writes its transcript meanwhile"),
    "limits.settle_time": (0.3, "a file is written in real time"),
    "limits.exit_timeout": (1.0, "a CLI writes its transcript in real time"),
    "limits.retry_pause": (0.05, "of no use below"),
    "limits.inactivity_timeout": (25.0, "a CLI on a busy machine takes half a minute to start"),
    "limits.stall_timeout": (24.0, "what a model says comes to a screen within a third of it"),
    "limits.look_interval": (10.0, "processor time is compared over it"),
    "limits.usage_limit_window": (
        604800.0,
        "a limit's end is shown by the wall's clock, which is not compressed",
    ),
    "limits.max_run_time": (600.0, "a run lives in real time"),
    "limits.pm_timeout": (60.0, "an agent as PM starts in real time"),
    "limits.pm_hold_timeout": (60.0, "the same"),
    "daemon.rescan": (2.0, "a rescan reads the folders in real time"),
    "daemon.heartbeat_interval": (1.0, "written to a disk"),
    "daemon.heartbeat_timeout": (60.0, "nobody but the bench starts a daemon"),
    "daemon.passivate_after": (3600.0, "a task that is over is to stay in sight for the night"),
    "git.timeout": (60.0, "git works in real time"),
    "notify.timeout": (20.0, "a message is sent in real time"),
    "logs.pack_after": (3600.0, "logs are to stay in sight for the night"),
    "logs.keep": (86400.0, "the same"),
    "permissions.wait": (30.0, "a hook waits in real time"),
}
"""Settings that are not scaled below so many real seconds, and why."""

FIXED: Final[Mapping[str, str]] = {"daemon.restart": "false", "notify.per_hour": "1000"}
"""The bench restarts a daemon that died, as a service manager would; 20 messages an hour become 1000 a real one."""


def seconds(text: str) -> float | None:
    """Return a duration as `task config` shows it, in seconds; None if it is none."""
    parts = text.split(" ")
    found = _DURATION.findall(text)
    if not found or len(parts) != 2 * len(found):
        return None
    return sum(float(count) * _UNITS[unit] for count, unit in found)


def scaled(shown: str, factor: float, own: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a night.

    Args:
        shown: What `task config --json` prints of a user who has set nothing.
        factor: How many seconds of the night pass in a real one.
        own: What the night sets itself, as it is.

    """
    made = dict(FIXED)
    for each in json.loads(shown)["settings"]:
        usual = seconds(str(each["value"]))
        if usual is None:
            continue
        floor = FLOORS.get(each["key"], (0.0, ""))[0]
        made[each["key"]] = f"{max(1, round(min(usual, max(usual / factor, floor)) * 1000))} ms"
    return made | dict(own)


def as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as `a_world` takes them: `limits__inactivity_timeout`."""
    return {key.replace(".", "__"): value for key, value in settings.items()}
