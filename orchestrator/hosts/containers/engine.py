"""A container engine as its command-line program: what Podman and Docker share, and in what they differ."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.hosts.engine_calls import DEADLINE, call_engine

_CLIENT: Final = (
    *(
        "HOME",
        "PATH",
        "LANG",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "DBUS_SESSION_BUS_ADDRESS",
    ),
    *("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF", "CONTAINER_HOST"),
    *("CONTAINER_CONNECTION", "CONTAINER_SSHKEY", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"),
    *("DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
)
"""The variables by which an engine's program finds its containers. Each call must have the same."""


@dataclass(frozen=True, slots=True)
class Identity:
    """As whom programs run in containers: the `options` of `run`, and the option that makes a tmpfs theirs."""

    options: tuple[str, ...]
    tmpfs: str


class Engine(ABC):
    """One container engine."""

    program: str
    """Its command-line program."""

    removal: tuple[str, ...] = ("rm", "--force")
    """The words by which a container is killed, if it runs, and removed."""

    options: tuple[str, ...] = ()
    """Its own options of `run`: the keys that detach from a container are switched off as far as that is possible."""

    monitored: bool = False
    """Whether a process of the engine's stands by each container, without which `run` would wait for ever."""

    @abstractmethod
    def identity(self, uid: int, gid: int, environ: Mapping[str, str]) -> Identity:
        """Return as whom programs must run so that files in mounted folders come out as the user's.

        Raises:
            Unavailable: the engine must be asked, and does not answer.

        """

    def absent(self, environ: Mapping[str, str]) -> bool:
        """Return whether the engine's program is not installed."""
        return shutil.which(self.program, path=environ.get("PATH")) is None

    def call(
        self, environ: Mapping[str, str], *words: str, deadline: float = DEADLINE
    ) -> tuple[int, str, str]:
        """Call the engine, and return its exit status, and what it says on standard output and standard error.

        Raises:
            Unavailable: it is not installed, or does not answer in time.

        """
        return call_engine((self.program, *words), client_variables(environ), deadline)


def client_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return those of the variables that an engine's program needs."""
    return {name: environ[name] for name in _CLIENT if name in environ}
