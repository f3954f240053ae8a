"""The daemon as a launchd agent, on macOS."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from orchestrator.cli.service import Service, run
from orchestrator.layout import APPLICATION


class Launchd(Service):
    """`~/Library/LaunchAgents/agent-orchestrator.plist`, from `deploy/`."""

    manager = "launchd"
    template = "agent-orchestrator.plist"

    def __init__(self, home: Path) -> None:
        domain = f"gui/{os.getuid()}"
        label = f"{domain}/{APPLICATION}"
        self.unit = home / "Library" / "LaunchAgents" / self.template
        self.probe = ("launchctl", "print", domain)
        # Bootstrapping a loaded service fails, which does no harm.
        self.load = (
            ("launchctl", "enable", label),
            ("launchctl", "bootstrap", domain, str(self.unit)),
            ("launchctl", "kickstart", label),
        )
        self.unload = (("launchctl", "bootout", label),)
        self.load_anew = (*self.unload, *self.load)
        self.forget = ()
        self.start = self.load
        self._print = ("launchctl", "print", label)

    def words(self, words: Sequence[str]) -> list[str]:
        """Return one line for each word."""
        return [f"<string>{escape(word)}</string>" for word in words]

    def assignment(self, name: str, value: str) -> str:
        """Return key and value on one line."""
        return f"<key>{escape(name)}</key><string>{escape(value)}</string>"

    def path(self, path: str) -> str:
        """Return a path escaped for XML."""
        return escape(path)

    def main_pid(self) -> int:
        """Return the pid that launchd reports, or 0."""
        found = re.search(r"^\s*pid = ([0-9]+)$", run(self._print).out, re.MULTILINE)
        return int(found[1]) if found else 0

    def ended_on_request(self, pid: int) -> bool:
        """Return False: launchd does not say what became of a process that it released."""
        del pid
        return False

    def survives_logout(self) -> bool:
        """Return True: there is nothing to switch on. A launchd agent ends when its user logs out."""
        return True
