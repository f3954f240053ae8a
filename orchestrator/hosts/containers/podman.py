"""Podman: containers without a daemon, also of users who are not root."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.hosts.containers.engine import Engine, Identity


class Podman(Engine):
    """The engine Podman. A `conmon` stands by each container: its parent, which holds its terminal."""

    program = "podman"
    removal = ("rm", "--force", "--time", "0")
    # What an image declares as a volume would lie on this machine's disk.
    options = ("--detach-keys=", "--image-volume=tmpfs")
    monitored = True

    def identity(self, uid: int, gid: int, environ: Mapping[str, str]) -> Identity:
        """Return the user's own ids; in the user namespace of one who is not root they must be mapped to themselves."""
        mapped = () if uid == 0 else ("--userns=keep-id",)
        return Identity(("--user", f"{uid}:{gid}", *mapped), "U")
