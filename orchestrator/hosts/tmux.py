"""One tmux server, controlled through libtmux, each call with a deadline."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Mapping
from importlib.resources import files as package_files
from pathlib import Path
from typing import Final

import libtmux
from libtmux.common import tmux_cmd

from orchestrator.hosts.tmux_calls import DEADLINE, TmuxCalls, lines_of
from orchestrator.ports.files import Files

_CONFIG: Final = package_files("orchestrator.hosts").joinpath("tmux.conf")
_LOG: Final = logging.getLogger(__name__)


class Tmux(libtmux.Server):
    """One tmux server of libtmux; but every command has a deadline, and raises if tmux refused it.

    Args:
        socket: the server's name (`tmux -L`), or the path of its socket if it contains a slash.
        environ: the environment to start the server from; only an allow-list of it is passed on.
        deadline: seconds that one call may take.
        config: the configuration to start the server with, if not the one in the package.

    """

    def __init__(
        self,
        socket: str,
        environ: Mapping[str, str],
        deadline: float = DEADLINE,
        config: Path | None = None,
    ) -> None:
        calls = TmuxCalls(socket, environ, deadline, config or Path(str(_CONFIG)))
        super().__init__(
            socket_name=None if calls.path else socket,
            socket_path=calls.path or None,
            config_file=str(config or _CONFIG),
            tmux_bin=calls.program,
        )
        self._calls = calls

    def cmd(self, cmd: str, *args: str, target: str | int | None = None) -> tmux_cmd:
        """Run one tmux command (or several, with ";" as a word between them) and return its output.

        Raises:
            NoServer, NoTarget, TmuxFailed, Unavailable, Lasting: as `TmuxCalls.run`.

        """
        aim = () if target is None else ("-t", str(target))
        return _Answer(self._calls.run(cmd, *aim, *args))


class _Answer(tmux_cmd):
    """libtmux's class for a finished command, which has ended already."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.cmd = [os.fspath(word) for word in done.args]
        self.returncode = done.returncode
        self.stdout = done.stdout.decode(errors="backslashreplace").split("\n")
        self.stderr = lines_of(done.stderr)


def kept_config(files: Files, path: Path) -> Path:
    """Write our servers' configuration to `path`, and return where to read it.

    A daemon survives the replacement of its package; a server that it starts meanwhile must not lack its limits.
    """
    text = Path(str(_CONFIG)).read_bytes()
    try:
        files.write(path, text)
    except OSError as error:
        _LOG.warning("%s is not written (%s): tmux reads %s", path, error, _CONFIG)
        return Path(str(_CONFIG))
    return path
