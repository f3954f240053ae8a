"""What all tasks of one daemon share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.daemon.act.launch import World
from orchestrator.daemon.hands import Hands
from orchestrator.daemon.hints import Hint
from orchestrator.ports.clock import Clock
from orchestrator.workspaces.leases import Lease


@dataclass(slots=True)
class Office:
    """The world and the ways to it.

    `post` brings a hint to the loop from any thread. `leases` tells who writes in shared trees, of the runs that
    were opened before a moment: of two that want the same tree, the older has it.
    """

    world: World
    clock: Clock
    hands: Hands
    scribe_hands: Hands
    nonce: Callable[[], str]
    post: Callable[[Hint], None]
    state_folder: Path
    leases: Callable[[float, str], Sequence[Lease]]
