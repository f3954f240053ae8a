"""Docker: containers by its daemon, which is root or the user's own."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.hosts.containers.engine import Engine, Identity
from orchestrator.model.errors import Unavailable


class Docker(Engine):
    """The engine Docker. Its keys that detach cannot be switched off: they become ones that nobody types."""

    program = "docker"
    options = ("--detach-keys=ctrl-^,ctrl-@,ctrl-^,ctrl-@",)

    def identity(self, uid: int, gid: int, environ: Mapping[str, str]) -> Identity:
        """Return the user's own ids; under a daemon without root, whose root is the user, those of root."""
        status, said, why = self.call(environ, "info", "--format", "{{json .SecurityOptions}}")
        if status:
            raise Unavailable(f"`docker info` failed: {why}")
        if "name=rootless" in said:
            uid = gid = 0
        return Identity(("--user", f"{uid}:{gid}"), f"uid={uid},gid={gid}")
