"""Listening to what a standing channel to a box tells, on a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.channel import ChannelEvent

log = logging.getLogger(__name__)

HEED: Final = 0.5
"""Seconds in which a standing channel is let go of."""


class Telling(Protocol):
    """A standing channel."""

    def read(self, timeout: float) -> frozenset[ChannelEvent]:
        """Return what has news; nothing after `timeout` seconds. Raises Unavailable when it ended."""
        ...

    @property
    def floods(self) -> bool:
        """True while more is told than is read."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class ChannelListener:
    """A thread that waits for what a standing channel tells, and passes it to `told`; at its end, None."""

    def __init__(self, channel: Telling, told: Callable[[frozenset[ChannelEvent] | None], None]) -> None:
        self._channel = channel
        self._told = told
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="heeding", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the channel and the thread."""
        self._closing = True
        self._thread.join()

    @property
    def floods(self) -> bool:
        """True while the box tells more than is read of it."""
        return self._channel.floods

    @property
    def ended(self) -> bool:
        """True when nothing will be told any more."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while not self._closing:
                if news := self._channel.read(HEED):
                    self._told(news)
        except Unavailable as error:
            log.info("a standing channel has ended: %s", error)
        except Exception:
            log.exception("a standing channel: this should not happen")
        finally:
            self._channel.close()
        if not self._closing:
            self._told(None)
