"""What all tasks of one daemon share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.daemon.hands import Hands
from orchestrator.daemon.hints import Hint
from orchestrator.daemon.newsdesk import NewsDesk
from orchestrator.daemon.world import World
from orchestrator.model.run import HERE
from orchestrator.ports.clock import Clock
from orchestrator.ports.teller import Teller
from orchestrator.tellers.nobody import Nobody
from orchestrator.tellers.usual import at_hand
from orchestrator.workspaces.leases import Lease


@dataclass(slots=True)
class Office:
    """The world and the ways to it.

    `hands` do what is done on this machine; `far_hands` gives those that do what waits for boxes, None: the same.

    `post` brings a hint to the loop from any thread. `leases` tells who writes in shared trees, of the runs that
    were opened before a moment: of two that want the same tree, the older has it. `news_hands` tell, by way of the
    `teller`; where there are none the others do.
    """

    world: World
    clock: Clock
    hands: Hands
    scribe_hands: Hands
    nonce: Callable[[], str]
    post: Callable[[Hint], None]
    state_folder: Path
    leases: Callable[[float, str], Sequence[Lease]]
    teller: Teller = field(default_factory=Nobody)
    news_hands: Hands | None = None
    far_hands: Callable[..., Hands] | None = None
    desk: NewsDesk = field(init=False)

    def hands_for(self, *hosts: str) -> Hands:
        """Return the hands that do what is asked of these hosts: of HERE alone, or of boxes."""
        boxes = [host for host in hosts if host != HERE]
        return self.hands if self.far_hands is None or not boxes else self.far_hands(*boxes)

    def __post_init__(self) -> None:
        """Open the newsdesk."""
        self.desk = NewsDesk(
            self.world.files,
            self.state_folder,
            at_hand(self.world.settings.notify, self.world.environ),
            self.clock,
            self.teller,
            self.news_hands or self.hands,
            self.post,
        )
