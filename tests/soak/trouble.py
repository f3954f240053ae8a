"""What goes wrong in a soak, now and then: each kind after a while of its own, by chance."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.daemon.world import World

JUNK = (
    b"",
    b"# Handoff: dev\n",
    b"\xff\xfe\x00junk",
    b"**Status:** COMPLETE\n**Run:** r-00000000\n",
    b"y" * 300_000,
)
NAMES = (
    "dev-2026{:04}-0000{:02}.md",
    "explore-2026{:04}-0000{:02}.md",
    "note-{}-{}.md",
    ".hidden-{}-{}",
    "pm-2026{:04}-0000{:02}.md",
)


@dataclass
class Trouble:
    """Brings trouble about in a world; `often` is how many seconds lie between two of the commonest kind."""

    world: World
    chance: random.Random
    often: float
    disk: Path | None
    counts: Counter[str] = field(default_factory=Counter)
    _due: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, (share, _) in self._kinds.items():
            self._due[name] = time.monotonic() + self._pause(share)

    @property
    def _kinds(self) -> dict[str, tuple[float, Callable[[], bool]]]:
        """Each kind: how much rarer than the commonest, and how it is brought about."""
        return {
            "agent killed": (1, self._agent),
            "junk laid down": (1, self._junk),
            "daemon killed": (5, self._daemon_killed),
            "daemon ended": (7, self._daemon_ended),
            "disk full": (6, self._full_disk),
            "tmux killed": (9, self._tmux),
            "daemon and tmux killed": (15, self._reboot),
        }

    def sprinkle(self) -> None:
        """Bring about what is due."""
        for name, (share, way) in self._kinds.items():
            if time.monotonic() >= self._due[name]:
                self.counts[name] += way()
                self._due[name] = time.monotonic() + self._pause(share)

    def _pause(self, share: float) -> float:
        return self.often * share * self.chance.uniform(0.6, 1.4)

    def _agent(self) -> bool:
        with suppress(OSError, IndexError):
            line = self.chance.choice((self.world.root / "runs").read_text().splitlines()[-60:])
            pid = int(line.split()[3])
            if f"ORCHESTRATOR_RUN={line.split()[0]}".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, self.chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)))
                return True
        return False

    def _junk(self) -> bool:
        folder = self.chance.choice(list((self.world.project / "tasks").iterdir())) / "handoffs"
        name = self.chance.choice(NAMES).format(self.chance.randrange(1, 99), self.chance.randrange(60))
        (folder / name).write_bytes(self.chance.choice(JUNK))
        return True

    def _daemon_killed(self) -> bool:
        if not self.world.pid:
            return False
        self.world.kill_daemon()
        self.world.daemon()
        return True

    def _daemon_ended(self) -> bool:
        if not self.world.pid:
            return False
        self.world.stop_daemon()
        self.world.daemon()
        return True

    def _full_disk(self) -> bool:
        """Leave no room for two seconds."""
        if self.disk is None:
            return False
        filler = self.disk / "filler"
        try:
            with filler.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(b"x" * 1_048_576)
            time.sleep(2)
        finally:
            filler.unlink()
        return True

    def _tmux(self) -> bool:
        with suppress(subprocess.CalledProcessError):
            self.world.tmux.tmux("kill-server")
            return True
        return False

    def _reboot(self) -> bool:
        if not self.world.pid:
            return False
        self.world.kill_daemon()
        self.world.tmux.kill()
        self.world.daemon()
        return True
