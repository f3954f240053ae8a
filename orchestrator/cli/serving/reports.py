"""The report of a task, made by `task report` in a process of its own: this one stays small, and there is one way."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from orchestrator.model.errors import Unavailable
from orchestrator.reporting.room import clean

COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.cli", "report", "--html", "--")
DEADLINE: Final = 60.0
"""Seconds for one page; that of a long night takes one."""

_LONGEST_REASON: Final = 300
_NO_RESTART: Final = {"ORCHESTRATOR_DAEMON__RESTART": "false"}
"""Looking at a page starts no daemon."""


def report_page(task: str) -> bytes:
    """Return the page of a task, named by its id. Blocks while it is made. Raises Unavailable: it could not be made."""
    try:
        done = subprocess.run(
            (*COMMAND, task),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, **_NO_RESTART},
            cwd="/",
            timeout=DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"it took more than {DEADLINE:g} s") from error
    except OSError as error:
        raise Unavailable(f"no process could be started: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Unavailable(clean(said[-1] if said else f"exit {done.returncode}", _LONGEST_REASON))
    return done.stdout
