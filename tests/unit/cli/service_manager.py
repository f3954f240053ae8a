"""Service managers that only write down what they are told, as programs on PATH."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SYSTEMCTL = """#!/bin/sh
# usage: systemctl --user VERB …
cd "${0%/*}" || exit 1
echo "systemctl $*" >>calls
if [ -e unreachable ]; then
    echo 'Failed to connect to bus: No medium found' >&2
    exit 1
fi
case $2 in
start | enable | restart)
    if [ -e broken ]; then
        echo 'Job for agent-orchestrator.service failed.' >&2
        exit 1
    fi
    if [ -e on-start ]; then . ./on-start; fi
    ;;
stop | disable) if [ -e on-stop ]; then . ./on-stop; fi ;;
show) cat shown 2>/dev/null || exit 0 ;;
reset-failed) exit 1 ;;
esac
"""
LOGINCTL = """#!/bin/sh
cd "${0%/*}" || exit 1
echo "loginctl $1 $3 $4" >>calls
cat linger 2>/dev/null || exit 1
"""
LAUNCHCTL = """#!/bin/sh
cd "${0%/*}" || exit 1
echo "launchctl $*" >>calls
case $1 in
print) cat shown 2>/dev/null || exit 0 ;;
bootout) exit 3 ;;
esac
"""


@dataclass(frozen=True)
class Manager:
    """A folder on PATH with the programs of a service manager."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Manager:
        folder.mkdir()
        for name, text in (("systemctl", SYSTEMCTL), ("loginctl", LOGINCTL), ("launchctl", LAUNCHCTL)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        made = cls(folder)
        made.set("linger", "yes\n")
        return made

    @property
    def path(self) -> str:
        """A PATH that leads here first."""
        return f"{self.folder}{os.pathsep}{os.environ['PATH']}"

    @property
    def calls(self) -> list[str]:
        """What was asked since this was asked last."""
        path = self.folder / "calls"
        reported = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return reported

    def set(self, name: str, text: str = "") -> None:
        """Let it behave: `unreachable`, `broken`, `linger`, `shown`, `on-start`, `on-stop`."""
        (self.folder / name).write_text(text)

    def unset(self, name: str) -> None:
        (self.folder / name).unlink()
