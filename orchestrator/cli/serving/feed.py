"""What the pages are made of, looked at while somebody looks; and the stream that tells browsers that there is news."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from typing import Final

from orchestrator.cli.tasks import TaskRecord
from orchestrator.cli.watching.tasks_seen import TasksSeen

PAUSE: Final = 0.1
"""Seconds between two looks at the files while a browser listens."""

SECOND: Final = 1.0
TICK: Final = 15.0
"""Seconds after which a browser hears something in any case: ages on the page are never older."""

LISTENERS: Final = 16
"""Browsers that may listen at once."""


class Feed:
    """The tasks as their files say, with a number that grows with each change.

    Args:
        state: the folder of the PM.
        is_over: whether the server ends, and with it each stream.
        clock: seconds of a clock that never goes back.

    """

    def __init__(
        self,
        state: str,
        is_over: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seen = TasksSeen(state, lambda _: True)
        self._is_over = is_over
        self._clock = clock
        self._version = 0
        self._next_look = 0.0
        self._next_second = 0.0
        self._listeners = 0

    @property
    def records(self) -> list[TaskRecord]:
        """The tasks, those at work first."""
        return self._seen.records

    @property
    def daemon(self) -> str:
        """How the daemon is, or why nothing could be read."""
        return self._seen.fault or self._seen.daemon

    @property
    def daemon_up(self) -> bool:
        """Whether it runs."""
        return self._seen.daemon_up and not self._seen.fault

    def look(self, *, now: bool = False) -> int:
        """Look at the files, unless somebody just has; return the number of the last change.

        `now`: look in any case.
        """
        at = self._clock()
        if not now and at < self._next_look:
            return self._version
        self._next_look = at + PAUSE
        changed = self._seen.look()
        if now or at >= self._next_second:
            self._next_second, before = at + SECOND, self._seen.daemon
            self._seen.look_at_daemon()
            changed = changed or before != self._seen.daemon
        self._version += changed
        return self._version

    async def news(self) -> AsyncGenerator[str, None]:
        """Yield a server-sent event at once, at each change, and each `TICK` seconds."""
        self._listeners += 1
        try:
            said, due = -1, 0.0
            while not self._is_over():
                version = self.look()
                if version != said or self._clock() >= due:
                    said, due = version, self._clock() + TICK
                    yield f"data: {version}\n\n"
                await asyncio.sleep(PAUSE)
        finally:
            self._listeners -= 1

    @property
    def is_full(self) -> bool:
        """Whether nobody more may listen."""
        return self._listeners >= LISTENERS
