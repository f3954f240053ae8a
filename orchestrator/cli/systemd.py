"""The daemon as a systemd user unit."""

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
        # systemd starts a unit that failed too often only after its failures are reset.
        self.start = (
            (*control, "daemon-reload"),
            (*control, "reset-failed", unit),
            (*control, "start", unit),
        )
        # `stop` waits until systemd itself knows: otherwise it might not start a new daemon.
        self.stop = ((*control, "stop", unit),)
        self.links = (self.unit.parent / "default.target.wants" / unit,)
        self._show = (*control, "show", unit, "--property=ActiveState,Result,MainPID,ExecMainPID")

    def words(self, words: Sequence[str]) -> list[str]:
        """Return the command as one line. `$` is special everywhere but in the program's path."""
        program, *rest = (_quoted(word) for word in words)
        return [" ".join([program, *(word.replace("$", "$$") for word in rest)])]

    def assignment(self, name: str, value: str) -> str:
        """Return `Environment="NAME=VALUE"`."""
        return f"Environment={_quoted(f'{name}={value}')}"

    def path(self, path: str) -> str:
        """Return a path; systemd would read quotes as part of it."""
        return path.replace("%", "%%")

    def main_pid(self) -> int:
        """Return the main pid that systemd reports, or 0."""
        pid = self._shown().get("MainPID", "")
        return int(pid) if pid.isdecimal() else 0

    def ended_on_request(self, pid: int) -> bool:
        """Return whether systemd ended the service's last process, which was `pid`, on request."""
        shown = self._shown()
        ended = (shown.get("ActiveState"), shown.get("Result"), shown.get("ExecMainPID"))
        return ended == ("inactive", "success", str(pid))

    def _shown(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in run(self._show).out.splitlines() if "=" in line)

    def survives_logout(self) -> bool:
        """Return whether lingering is on; True if loginctl does not say, because then there is nothing to warn of."""
        user = pwd.getpwuid(os.getuid()).pw_name
        return run(("loginctl", "show-user", user, "--property=Linger", "--value")).out.strip() != "no"


def _quoted(word: str) -> str:
    r"""Return a word in quotes, with `\`, `"` and `%` escaped as systemd reads it."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'
