"""Starts a daemon or a command as a fork of a process that has imported it, instead of as a new interpreter.

Importing takes two of the five seconds of processor time that a small task costs. A fork does without: it is a process
of its own all the same, with a session, folder, environment and output of its own, and runs the same `main`. What it
cannot show is that the program can be started at all: tests whose daemon is started by `task start`, by a command, or
with an environment that Python itself reads, start it as users do.

The kernel shows of a fork the environment and the command of the process that it was forked from.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

ROOT: Final = Path(__file__).parents[1]
INTERPRETER: Final = {"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
"""What the interpreter itself reads at its start."""

_READ_AT_START: Final = ("PYTHON", "LC_", "LANG", "LD_", "COVERAGE_")
"""Prefixes of all that it, or what it is linked to, would read: a fork does not hear of it."""

_PAUSES: Final = (0.002, 0.005, 0.01, 0.02)
"""Seconds between two looks at a process that is waited for; the last is repeated."""

_LOCK: Final = threading.Lock()


def may_be_forked(environ: Mapping[str, str]) -> bool:
    """Tell whether a fork with this environment is what a new interpreter would be."""
    return {key: value for key, value in environ.items() if key.startswith(_READ_AT_START)} == INTERPRETER


class Forked:
    """A daemon or a command: what tests use of `subprocess.Popen`."""

    def __init__(
        self,
        program: Literal["daemon", "cli"],
        words: Sequence[str] = (),
        *,
        environ: Mapping[str, str],
        cwd: str | Path,
        out: Path,
        err: Path,
        session: bool = False,
    ) -> None:
        """Start it; what it prints is appended to two files, which may be the same."""
        asked = {"program": program, "words": list(words), "environ": dict(environ), "session": session}
        umask = os.umask(0o077)
        os.umask(umask)
        self.pid: int = _answer(asked | {"cwd": str(cwd), "out": str(out), "err": str(err), "umask": umask})
        self.returncode: int | None = None
        """How it ended; None while nobody has asked, or it has not."""

    def poll(self) -> int | None:
        """Return how it ended; None if it has not."""
        with _LOCK:
            if self.returncode is None:
                self.returncode = _said(self.pid)
            return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait until it has ended, and return how; after so many seconds, raise."""
        pauses, deadline = iter(_PAUSES), time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a fork", timeout)
            time.sleep(next(pauses, _PAUSES[-1]))
        return code


def _answer(asked: Any) -> Any:
    with _LOCK:
        return _said(asked)


def _said(asked: Any) -> Any:
    server = _server()
    assert server.stdin
    assert server.stdout
    server.stdin.write(f"{json.dumps(asked)}\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, "the server of forks has ended"
    return json.loads(answer)


@cache
def _server() -> subprocess.Popen[str]:
    """Return the one process that all of this one's are forked from: it ends with this one."""
    environ = {"PATH": os.environ["PATH"], **INTERPRETER}
    made = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.fork_server"],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C is for who waits for it
    )
    atexit.register(made.communicate)
    return made
