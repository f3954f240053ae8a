"""Floors: the same thing done by nothing but the system, for the ratios."""

from __future__ import annotations

import multiprocessing
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.bench import Stopwatch
from tests.benchmarks.inotify import MOVED_TO, Inotify, watched
from tests.benchmarks.waiting import PATIENCE, until
from tests.tmux_server import TmuxSocket

LISTENER_IS = "another process: inotify, read, append, fsync"
_FORK = multiprocessing.get_context("fork")


class Listener:
    """A folder in which another process sees a name appear, and appends a line to a log, durably."""

    def __init__(self, folder: Path) -> None:
        self._inbox, self._log = folder / "inbox", folder / "log"
        self._inbox.mkdir(parents=True)
        self._log.mkdir()
        self._outside = folder / "new"

    def once(self, number: int, data: bytes) -> float:
        """Return the milliseconds from a rename until the log has its line."""
        self._outside.write_bytes(data)
        with watched(self._log) as log:
            watch = Stopwatch()
            self._outside.rename(self._inbox / str(number))
            if not log.wait(PATIENCE):
                raise RuntimeError("the listener of the floor is gone")
            return watch.ms

    def listen(self) -> None:
        """Be the other process."""
        log = os.open(self._log / "lines", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        watch = Inotify(self._inbox, MOVED_TO)
        (self._log / "ready").touch()
        while True:
            for name in watch.wait(PATIENCE):
                os.write(log, (self._inbox / name).read_bytes() + b"\n")
                os.fsync(log)

    def wait(self) -> None:
        until((self._log / "ready").exists, "the listener of the floor")


@contextmanager
def listening(folder: Path) -> Iterator[Listener]:
    """Have a listener for a while."""
    listener = Listener(folder)
    process = _FORK.Process(target=listener.listen, daemon=True)
    process.start()
    try:
        listener.wait()
        yield listener
    finally:
        process.kill()
        process.join()


def bare_python() -> list[str]:
    return [sys.executable, "-c", "pass"]


def new_window(socket: TmuxSocket, folder: Path) -> float:
    """Return the milliseconds from a bare `tmux new-window` to the first instruction of what it runs."""
    mark = folder / "raw"
    mark.unlink(missing_ok=True)
    script = f'printf "%s\\n" "${{EPOCHREALTIME/[.,]/}}" >{mark}.new; mv {mark}.new {mark}'
    words = ["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=floor:", "-n", "raw"]
    asked = time.time_ns()
    subprocess.run(
        ["tmux", "-L", socket.name, *words, "/bin/bash", "-c", script],
        env=socket.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    until(mark.exists, "the raw window")
    return (int(mark.read_text()) * 1000 - asked) / 1e6


def exit_noticed() -> float:
    """Return the milliseconds from the last word of a process until its pidfd tells that it is gone."""
    with subprocess.Popen(
        ["/bin/bash", "-c", 'echo "${EPOCHREALTIME/[.,]/}"'], stdout=subprocess.PIPE
    ) as child:
        descriptor = os.pidfd_open(child.pid)
        select.select([descriptor], [], [])
        notified = time.time_ns()
        os.close(descriptor)
        said = int(child.stdout.read()) if child.stdout else 0
    return (notified - said * 1000) / 1e6


def durable_write(path: Path, data: bytes) -> None:
    """Put a file in place as every careful program does: temp, fsync, rename, fsync of the folder."""
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
