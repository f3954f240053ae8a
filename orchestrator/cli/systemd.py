"""The daemon as a unit of the user's own systemd."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from pathlib import Path

from orchestrator.cli.service import Service, run


class Systemd(Service):
    """`~/.config/systemd/user/agent-orchestrator.service`, from `deploy/`."""

    manager = "systemd"
    template = "agent-orchestrator.service"

    def __init__(self, home: Path) -> None:
        control, unit = ("systemctl", "--user"), self.template
        self.unit = home / ".config" / "systemd" / "user" / unit
        self.probe = (*control, "show-environment")
        self.load = ((*control, "daemon-reload"), (*control, "enable", "--now", unit))
        self.load_anew = (*self.load, (*control, "restart", unit))
        self.unload = ((*control, "disable", "--now", unit),)
        self.forget = ((*control, "daemon-reload"),)
        # One that failed too often is started only when its failures are forgotten.
        self.start = (
            (*control, "daemon-reload"),
            (*control, "reset-failed", unit),
            (*control, "start", unit),
        )
        # It waits until systemd itself knows: one that still believes the old one up would not start a new one.
        self.stop = ((*control, "stop", unit),)
        self.links = (self.unit.parent / "default.target.wants" / unit,)
        self._show = (*control, "show", unit, "--property=ActiveState,Result,MainPID,ExecMainPID")

    def words(self, words: Sequence[str]) -> list[str]:
        """Return one line. `$` is special everywhere but in the program's path."""
        program, *rest = (_quoted(word) for word in words)
        return [" ".join([program, *(word.replace("$", "$$") for word in rest)])]

    def assignment(self, name: str, value: str) -> str:
        """Return `Environment="NAME=VALUE"`."""
        return f"Environment={_quoted(f'{name}={value}')}"

    def path(self, path: str) -> str:
        """Return a path; quotes would be part of it here."""
        return path.replace("%", "%%")

    def main_pid(self) -> int:
        """Return what systemd says."""
        pid = self._shown().get("MainPID", "")
        return int(pid) if pid.isdecimal() else 0

    def told_to_end(self, pid: int) -> bool:
        """Tell it by what systemd knows of the service's last process."""
        shown = self._shown()
        ended = (shown.get("ActiveState"), shown.get("Result"), shown.get("ExecMainPID"))
        return ended == ("inactive", "success", str(pid))

    def _shown(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in run(self._show).out.splitlines() if "=" in line)

    def survives_logout(self) -> bool:
        """Tell whether lingering is on. True where nobody can tell: then there is nothing to warn of."""
        user = pwd.getpwuid(os.getuid()).pw_name
        return run(("loginctl", "show-user", user, "--property=Linger", "--value")).out.strip() != "no"


def _quoted(word: str) -> str:
    r"""Return a word as systemd reads it back: in quotes, with `\`, `"` and `%` made literal."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'
