"""Listening to a standing channel to a box, on a thread of its own."""

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
"""Seconds in which a standing channel must end after it is closed."""


class EventChannel(Protocol):
    """A standing channel."""

    def read(self, timeout: float) -> frozenset[ChannelEvent]:
        """Return what changed; nothing after `timeout` seconds. Raises Unavailable when it ended."""
        ...

    @property
    def floods(self) -> bool:
        """Return whether events arrive faster than they are read."""
        ...

    def close(self) -> None:
        """End the channel."""
        ...


class ChannelListener:
    """A thread that waits for events of a standing channel, and passes them to `report`; at its end, None."""

    def __init__(
        self, channel: EventChannel, report: Callable[[frozenset[ChannelEvent] | None], None]
    ) -> None:
        self._channel = channel
        self._report = report
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="heeding", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the channel and the thread."""
        self._closing = True
        self._thread.join()

    @property
    def floods(self) -> bool:
        """Return whether the box sends events faster than they are read."""
        return self._channel.floods

    @property
    def ended(self) -> bool:
        """Return whether no more events will come."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while not self._closing:
                if news := self._channel.read(HEED):
                    self._report(news)
        except Unavailable as error:
            log.info("a standing channel has ended: %s", error)
        except Exception:
            log.exception("a standing channel: this should not happen")
        finally:
            self._channel.close()
        if not self._closing:
            self._report(None)
