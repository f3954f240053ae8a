"""Podman: containers without a daemon, also of users who are not root."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.hosts.containers.engine import Engine


class Podman(Engine):
    """The engine Podman. A `conmon` stands by each container: its parent, which holds its terminal."""

    program = "podman"
    removal = ("rm", "--force", "--time", "0")
    attached = ("--detach-keys=",)
    monitored = True

    def identity(self, uid: int, gid: int, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Return the user's own ids; in the user namespace of one who is not root they must be mapped to themselves."""
        return ("--user", f"{uid}:{gid}", *(() if uid == 0 else ("--userns=keep-id",)))
