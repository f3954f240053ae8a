"""Watches what agents and the PM do to the world from the outside: processes by /proc, trees and refs by git."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.integration.daemon.world import World
from tests.nights.observation import Life, RefsSeen, TreeSeen

EVERY: Final = 0.5
_RUN: Final = b"ORCHESTRATOR_RUN="
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_WORDS: Final = 400


@dataclass
class Watcher:
    """Watches until it is told to stop. Agents work in the `repositories`, and their homes lie in the `places`."""

    world: World
    repositories: list[Path]
    places: list[Path]
    lives: dict[tuple[int, int], Life] = field(default_factory=dict)
    trees: list[TreeSeen] = field(default_factory=list)
    refs: list[RefsSeen] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    _last: dict[str, TreeSeen] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Watch twice a second."""
        while not self.stopped.is_set():
            try:
                self.watch()
            except Exception as fault:  # noqa: BLE001 - the night goes on, and says so
                self.faults.append(f"watching failed: {type(fault).__name__}: {fault}")
            self.stopped.wait(EVERY)

    def watch(self) -> None:
        """Look once at processes, trees and refs."""
        with self._lock:
            self._processes()
        for repository in self.repositories:
            self._repository(repository)

    def living(self, run: str = "") -> list[int]:
        """Return the pids of agents' own programs at this moment, perhaps of one run only."""
        with self._lock:
            now = self._processes()
            return [
                life.pid
                for life in self.lives.values()
                if life.first and life.last == now and run in {"", life.run}
            ]

    def _processes(self) -> float:
        now, marks = time.time(), [os.fsencode(place) + b"/" for place in self.places]
        found = dict(_bearing(marks))
        for pid, (run, parent, ticks, command) in found.items():
            known = self.lives.get((pid, ticks))
            if known is None:
                begun = _booted_at() + ticks / _TICKS
                self.lives[pid, ticks] = Life(run, pid, begun, now, command[:_WORDS], _is_launched(parent))
            else:
                known.last = now
        return now

    def _repository(self, repository: Path) -> None:
        environ = self.world.environ
        listed = _git(repository, environ, "for-each-ref", "--format=%(refname) %(objectname)")
        refs = dict[str, str](line.split(" ", 1) for line in listed.splitlines())
        if repository == self.repositories[0] and (not self.refs or self.refs[-1].refs != refs):
            self.refs.append(RefsSeen(time.time(), refs))
        listed = _git(repository, environ, "worktree", "list", "--porcelain")
        for path in re.findall(r"^worktree (.+)$", listed, re.MULTILINE):
            self._tree(Path(path))
        for last in [each for each in self._last.values() if each.head and not Path(each.path).exists()]:
            self._note(TreeSeen(time.time(), last.path, "", {}))

    def _tree(self, path: Path) -> None:
        if not (path / ".git").exists():
            return
        environ = self.world.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        head = _git(path, environ, "rev-parse", "HEAD").strip()
        status = _git(path, environ, "status", "--porcelain", "-uall", "--no-renames")
        names = [line[3:] for line in status.splitlines() if not line[:2].strip().startswith("D")]
        there = [name for name in names if (path / name).is_file()]
        hashes = _git(path, environ, "hash-object", "--", *there).split() if there else []
        seen = TreeSeen(time.time(), str(path), head, dict(zip(there, hashes, strict=False)))
        last = self._last.get(seen.path)
        if last is None or (last.head, last.dirty) != (seen.head, seen.dirty):
            self._note(seen)

    def _note(self, seen: TreeSeen) -> None:
        self.trees.append(seen)
        self._last[seen.path] = seen


def _bearing(marks: list[bytes]) -> Iterator[tuple[int, tuple[str, int, int, str]]]:
    """Yield the processes of a world that bear a run's name: run, parent, start in ticks, command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            environ = (folder / "environ").read_bytes()
            if _RUN not in environ or not any(mark in environ for mark in marks):
                continue
            run = environ.split(_RUN, 1)[1].split(b"\0", 1)[0].decode()
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if fields[0] in "ZX":
                continue
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            yield int(folder.name), (run, int(fields[1]), int(fields[19]), command)


def _is_launched(parent: int) -> bool:
    """Say whether a process is what the PM's launcher runs, and no child of that."""
    with suppress(OSError):
        return b"launch.sh" in Path(f"/proc/{parent}/cmdline").read_bytes()
    return False


def _booted_at() -> float:
    """Return when the machine was booted. `btime` of /proc/stat says it in whole seconds, up to one too early."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def _git(tree: Path, environ: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(tree), *words], env=environ, capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout
