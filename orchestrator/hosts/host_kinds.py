"""The host kinds by name: those that ship, and those that installed packages bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused
from orchestrator.model.registry import Registry
from orchestrator.ports.host_kind import HostKind, kind_and_name

if TYPE_CHECKING:
    from orchestrator.ports.host import Host


def _podman() -> HostKind:
    from orchestrator.hosts.containers.host import ContainerKind
    from orchestrator.hosts.containers.podman import Podman

    return ContainerKind(Podman())


def _docker() -> HostKind:
    from orchestrator.hosts.containers.docker import Docker
    from orchestrator.hosts.containers.host import ContainerKind

    return ContainerKind(Docker())


def _slurm() -> HostKind:
    from orchestrator.hosts.slurm.host import SlurmKind

    return SlurmKind()


def _k8s() -> HostKind:
    from orchestrator.hosts.kubernetes.host import KubernetesKind

    return KubernetesKind()


HOST_KINDS: Final = Registry[HostKind](
    "host kind", {"podman": _podman, "docker": _docker, "slurm": _slurm, "k8s": _k8s}
)


def host_of_kind(host: str, local: Host) -> Host:
    """Return the host that a run of such a name lives on. Raises Refused if the kind is not installed."""
    kind, name = kind_and_name(host)
    if not kind:
        raise Refused(f"{host[:80]!a} is no host of a kind")
    return HOST_KINDS.find(kind).host(name, local)
