"""A fake host as a bench: time goes on a little with every look at it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any

from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_process import Program
from orchestrator.testing.fake_script import Script
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.scripted_agent import ScriptedAgent, Sessions

TICK = 0.02


class FakeBench:
    """A host in memory, with one open session."""

    session = "bench-0123abcd"

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.files = MemoryFiles(now=self.clock.now)
        self.sessions = Sessions()
        self._root = Path("/it's #{a} bench")
        self._programs: dict[str, Program] = {}
        self._fake = FakeHost(self.files, self.clock, lambda spec: self._programs[spec.run])
        self.host: Any = Ticking(self._fake, self.clock)
        self.files.make_folder(self._root)
        self.open_session()

    def open_session(self) -> None:
        self.log("")
        self._fake.open_session(self.session, "a bench", self._root / "pm.log")

    def log(self, line: str) -> None:
        log = self.files.open_log(self._root / "pm.log")
        log.append(line.encode() + b"\n")
        log.close()

    def folder(self, run: str) -> Path:
        return self._root / "runs" / run

    def spec(
        self, run: str, script: Script, *, order: str | None = None, window: str = "dev", resume_of: str = ""
    ) -> LaunchSpec:
        resumed = script.session if resume_of else ""
        self._programs[run] = ScriptedAgent(self.files, self.sessions, script, order, resumed)
        self.files.make_folder(self.folder(run))
        return LaunchSpec(run, self.folder(run), ("agent",), self._root, self.session, window)

    def events(self, run: str) -> list[dict[str, object]]:
        self.clock.advance(TICK)
        return self.sessions.events.get(run, [])

    def exists(self, path: Path) -> bool:
        return self.files.entry(path) is not None

    def child_lives(self, run: str) -> bool:
        return self._fake.left_behind(run)

    def kill_launcher(self, run: str) -> None:
        self._fake.kill_launcher(run)

    def end_all(self) -> None:
        """Nothing outlives the test."""


class Ticking:
    """A fake host that lets time pass before each call, one caller at a time."""

    def __init__(self, host: FakeHost, clock: FakeClock) -> None:
        self._host = host
        self._clock = clock
        self._lock = RLock()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._host, name)

        def ticking(*args: object, **more: object) -> Any:
            with self._lock:
                self._clock.advance(TICK)
                return call(*args, **more)

        return ticking
