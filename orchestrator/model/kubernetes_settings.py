"""How the pods of agents are reached: the section `[kubernetes]` of the user's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KubernetesSettings:
    """`[kubernetes]`: how `kubectl` is called (`host: k8s:NAMESPACE/TEMPLATE`)."""

    context: str = ""
    """The context of kubectl's configuration; empty: the current one."""

    options: tuple[str, ...] = ()
    """More options of each call, word by word."""
