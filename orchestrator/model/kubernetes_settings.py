"""How the pods of agents are reached: the section `[kubernetes]` of the user's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KubernetesSettings:
    """`[kubernetes]`: how `kubectl` is called for agents in pods (`host: k8s:NAMESPACE/TEMPLATE` in task.md)."""

    context: str = ""
    """The context of kubectl's configuration; empty: the one that is current there."""

    options: tuple[str, ...] = ()
    """More options of every call of `kubectl`, word by word."""
