"""Where one CLI lives in a test: a home, a folder to work in, and nothing of the user's or the machine's own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clis.network import Network
from tests.clis.pinned import NODE, pins

KEY = "sk-ant-api03-dummy-key-of-the-bench-0123456789"
"""A key that is none; long enough for the CLIs that look at its form."""


@dataclass(frozen=True, slots=True)
class Place:
    """One clean environment. `url` is the model server's, `name` the CLI's pin, `cache` where the CLIs are.

    `port` is free in `network`, for a CLI that serves an API of its own.
    """

    root: Path
    cache: Path
    name: str
    url: str
    network: Network
    port: int

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def run(self) -> Path:
        """The run's own files: settings, what hooks were told, the order."""
        return self.root / "run"

    @property
    def program(self) -> str:
        return os.fspath(pins()[self.name].path(self.cache))

    def make(self) -> None:
        """Make the folders; the one to work in is a git repository, as agents expect."""
        for folder in (self.home, self.work, self.run, self.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", os.fspath(self.work)], check=True, env=self.environ())

    def environ(self) -> dict[str, str]:
        """Return the whole environment that a CLI gets, before its own additions."""
        node = pins()[NODE].path(self.cache).parent
        return {
            "HOME": os.fspath(self.home),
            "LANG": "C.UTF-8",
            "PATH": f"{node}:/usr/local/bin:/usr/bin:/bin",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
            "TMPDIR": os.fspath(self.root / "tmp"),
            "USER": "bench",
        }

    def write(self, path: Path, content: Any) -> Path:
        """Write a configuration file, with the folders above it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), "utf-8")
        return path

    def recording(self, name: str) -> str:
        """Return a shell command that adds what it is told on stdin to a file, as one line."""
        return f'printf "%s\\n" "$(tr -d "\\n")" >> {self.run}/{name}.jsonl'

    def recorded(self, name: str) -> list[dict[str, Any]]:
        """Return what such a command was told so far; a line that is not whole yet is left out."""
        path = self.run / f"{name}.jsonl"
        text = path.read_text("utf-8") if path.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1] if line]
