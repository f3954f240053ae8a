"""The host kind `private`: agents see this machine read-only, but for what their run may write and a home of their own.

`host: private:/srv/agents/shop` runs them by bubblewrap, with that folder as their home and their temporary folder.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from orchestrator.hosts.wrapped import WrappedHost
from orchestrator.ports.host import Host, LaunchSpec

SECONDS = 10


class PrivateRoot:
    """The kind. A host's name is the folder that is its home."""

    def lacks(self, name: str) -> str:
        """Say what is missing: bubblewrap, the right to use it, or the folder."""
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            return "bubblewrap is not installed: install it by your package manager"
        if not (name.startswith("/") and Path(name).is_dir()):
            return f"{name} is no folder: write host: private:/an/absolute/folder that exists"
        tried = subprocess.run(
            [bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "true"],
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return (
            "" if tried.returncode == 0 else f"bubblewrap may not be used here: {tried.stderr.decode()[:200]}"
        )

    def host(self, name: str, local: Host) -> Host:
        """Return this machine, with each program in such a sandbox."""
        return PrivateHost(local, Path(name))


class PrivateHost(WrappedHost):
    """This machine, read-only."""

    def __init__(self, local: Host, home: Path) -> None:
        super().__init__(local)
        self._home = home

    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        """Start the program by bubblewrap.

        Not with `--die-with-parent`: TERM goes to every process of a run, and what ends bubblewrap would then kill a
        program that is about to say its last words.
        """
        temporary = self._home / "tmp"
        temporary.mkdir(exist_ok=True)
        words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for folder in (self._home, *spec.writable):
            words += ["--bind-try", str(folder), str(folder)]
        environment = spec.environment | {"HOME": str(self._home), "TMPDIR": str(temporary)}
        return replace(spec, argv=(*words, "--", *spec.argv), environment=environment)
