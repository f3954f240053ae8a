"""The section `[containers]` of the user's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """`[containers]`: what an agent in a container may use (`host: podman:IMAGE` or `docker:IMAGE` in task.md)."""

    memory: str = "4g"
    """How much memory a container may use: bytes, or with `k`, `m` or `g` behind the number."""

    cpus: str = "2"
    """How many processors a container may use, such as `"1.5"`."""

    pids: int = 512
    """How many processes and threads may live in a container."""

    network: str = "none"
    """The network of a container, as `--network` of the engine takes it. `none` is no network at all."""

    mounts: tuple[str, ...] = ()
    """Files and folders that a container sees at the same path, read-only; those that end in `:rw` it may write."""

    options: tuple[str, ...] = ()
    """More options of `podman run` or `docker run`, word by word."""
