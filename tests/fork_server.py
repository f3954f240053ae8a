"""Has imported what daemons and commands are made of, and forks one for each line that it reads: see `forked.py`.

A line is JSON: how a process is to be started, which is answered by its pid; or the pid of one, which is answered by
how that ended, or null. As with any parent, what has ended stays a zombie until it is asked about.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import orchestrator.cli
import orchestrator.cli.main
import orchestrator.daemon.__main__
from orchestrator.daemon.journal import codec
from orchestrator.daemon.process.preload import preload

MAINS: dict[str, Callable[[list[str]], int]] = {
    "daemon": orchestrator.daemon.__main__.main,
    "cli": orchestrator.cli.main.main,
}


def main() -> None:
    """Import everything, and serve until nobody is left to ask."""
    preload()
    for module in pkgutil.iter_modules(orchestrator.cli.__path__, "orchestrator.cli."):
        if not module.ispkg and not module.name.endswith(".__main__"):
            import_module(module.name)
    for learned in (codec._fact, codec._changes, codec._actions, codec._state):
        learned()  # what a daemon learns as it reads its first journal: a third of a second
    gc.freeze()  # what lies here is collected in no fork, and so copied in none
    while line := sys.stdin.readline():
        asked = json.loads(line)
        sys.stdout.write(f"{json.dumps(_forked(asked) if isinstance(asked, dict) else _status(asked))}\n")
        sys.stdout.flush()


def _status(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _forked(asked: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        _settle(asked)
        code = _ran(asked["program"], asked["words"])
    finally:
        os._exit(code)


def _settle(asked: dict[str, Any]) -> None:
    """Become what a new interpreter would be."""
    if asked["session"]:
        os.setsid()
    os.umask(asked["umask"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    time.tzset()
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, asked["out"], os.O_WRONLY | os.O_APPEND | os.O_CREAT),
        (2, asked["err"], os.O_WRONLY | os.O_APPEND | os.O_CREAT),
    ):
        opened = os.open(path, flags, 0o666)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(asked["cwd"])
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
    file = str(Path(orchestrator.__file__).with_name(asked["program"]) / "__main__.py")
    sys.argv = [file, *asked["words"]]


def _ran(program: str, words: list[str]) -> int:
    """Run to the end, and wait for threads as the interpreter does; what it would tear down is left to the kernel."""
    try:
        code = MAINS[program](words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 (nothing is above it)
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # multiprocessing ends its forks by it
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    main()
