"""The health of one box: whether it is believed reachable, from the results of calls to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.timestamps import moment_said
from orchestrator.hosts.ssh.backoff import pause
from orchestrator.ports.box_link import Cut, NotLetIn, State, Way, is_lost
from orchestrator.ports.boxes import Belief

if TYPE_CHECKING:
    from orchestrator.ports.box_link import MonitoredLink

log = logging.getLogger(__name__)

CROWDED: Final = 600.0
"""Seconds without a standing channel to a box that allows too few sessions: requests need them."""

REFUSED: Final = 3600.0
"""Seconds until a box that refuses is called again unasked: the cause may be fixed without anybody saying so."""


@dataclass
class HostHealth:
    """The believed state of a box, None before the first try; `believed` is called when it changes.

    `failures` counts failed tries since the last success; `since` is when the belief changed last, in seconds since the
    epoch. `steady` returns seconds that never go back, `luck` a number
    from 0 to 1.
    """

    box: str
    link: MonitoredLink
    believed: Callable[[], None]
    steady: Callable[[], float]
    luck: Callable[[], float]
    belief: Belief | None = None
    failures: int = 0
    since: float = 0.0
    _crowded_until: float = 0.0
    _refused_until: float = 0.0

    @property
    def is_crowded(self) -> bool:
        """Return whether the box is known to allow too few sessions."""
        return self.steady() < self._crowded_until

    def reached(self) -> None:
        """Record that the box was reached."""
        self.failures = 0
        if self.belief is None or not self.belief.reachable:
            log.info("box %s is reached", self.box)
            self._believe(Belief(reachable=True, why="ssh is connected"))

    def failed(self, error: Exception) -> float:
        """Record that the box is lost, if an error means that; return in how many seconds to retry.

        A box that refuses is called again when somebody asks for it, or after long.
        """
        self.failures += 1
        refused = isinstance(error, NotLetIn)
        if is_lost(error):
            state = self.link.state()
            if state.way is Way.REACHABLE and not isinstance(error, Cut):
                self._crowded_until = self.steady() + CROWDED
            if self.belief is None or self.belief.reachable or self.belief.refused != refused:
                log.warning("box %s is lost: %s", self.box, error)
                dead = state.way is Way.UNREACHABLE and not refused
                why = _lost(self.box, state) if dead else str(error)
                self._believe(
                    Belief(reachable=False, why=why, refused=refused, since=0.0 if dead else time.time())
                )
        else:
            log.warning("box %s: %s", self.box, error)
        if refused:
            if self.steady() >= self._refused_until:
                self._refused_until = self.steady() + REFUSED
            return self._refused_until - self.steady()
        # The link counts its own failures; a request during its pause is not one.
        return self.link.patience() or pause(self.failures, self.luck())

    def call_when_due(self) -> None:
        """Call a box that has refused for long again, with the next request."""
        if self.belief is not None and self.belief.refused and self.steady() >= self._refused_until:
            self.link.again()

    def call_again(self) -> bool:
        """Call the box again at once if it is lost, or grants too few sessions; return whether it is so."""
        crowded, self._crowded_until = self.is_crowded, 0.0
        if not crowded and (self.belief is None or self.belief.reachable):
            return False
        self.failures = 0
        self.link.again()
        return True

    @property
    def state(self) -> State:
        """Return the state of the link; a box that answers, but grants no session, cannot be used either."""
        state = self.link.state()
        if state.way is Way.REACHABLE and self.belief is not None and not self.belief.reachable:
            return replace(state, way=Way.UNREACHABLE, since=self.since, why=self.belief.why)
        return state

    def _believe(self, belief: Belief) -> None:
        self.belief, self.since = belief, time.time()
        self.believed()


def _lost(box: str, state: State) -> str:
    """Return since when a box is lost, as date and time: unlike minutes, that does not become outdated."""
    since = moment_said(state.since or time.time())
    return f"{box} is unreachable since {since} ({state.why or 'it is busy'})"
