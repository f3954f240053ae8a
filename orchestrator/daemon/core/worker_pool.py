"""Hands: slow things are done in a small pool, in order per key, so that deciding never waits for them.

What waits for boxes is done in pools of their own: one that hangs holds up nothing here, and no other box.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Condition, Lock
from typing import TYPE_CHECKING, Protocol

from orchestrator.formats.scarcity import no_thread

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


class Executor(Protocol):
    """Does work somewhere else. Work of one key is done in the order in which it was given."""

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Have `work` done. It must catch what can go wrong and report by a hint of its own."""
        ...

    def close(self) -> None:
        """Finish what has begun, and take nothing more."""
        ...


class WorkerPool:
    """Hands that are threads."""

    def __init__(self, workers: int, *, finish: bool = False) -> None:
        """Make a pool of `workers` threads; all but the first start when there is something to do.

        `finish`: on `close`, what waits is done as well. Otherwise it is found in the outbox at the next start.

        Raises:
            OSError: not even one thread may be started.

        """
        self._finish = finish
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="hand")
        # One thread from the start: what is put in a queue while none more may be started is done by this one.
        # Without it that would wait for ever, as later work of its key only joins the queue.
        self._submit(_nothing)
        self._lock = Condition()
        self._queues: dict[str, deque[Callable[[], None]]] = {}
        self._at_work = set[str]()
        self._closed = False

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Put work in the queue of its key; a queue is worked by one thread at a time.

        After `close` nothing is taken any more: it is found in the outbox at the next start.
        """
        with self._lock:
            if self._closed:
                return
            if (queue := self._queues.get(key)) is not None:
                queue.append(work)
                return
            self._queues[key] = deque([work])
            with suppress(OSError):  # the threads that there are will do it: it is in the pool's own queue
                self._submit(partial(self._work_on, key))

    def _submit(self, work: Callable[[], None]) -> None:
        try:
            self._pool.submit(work)
        except RuntimeError as error:
            if (scarce := no_thread(error)) is None:
                raise
            raise scarce from error

    @property
    def idle(self) -> bool:
        """True when nothing is being done and nothing waits."""
        with self._lock:
            return not self._queues

    def stop(self) -> None:
        """Begin nothing more, unless it is to be finished; do not wait for what has begun."""
        with self._lock:
            self._closed = True
            if not self._finish:
                for queue in self._queues.values():
                    queue.clear()
        self._pool.shutdown(wait=False, cancel_futures=not self._finish)

    def close(self) -> None:
        """Wait for what has begun."""
        self.stop()
        self._pool.shutdown(wait=True)

    def ended(self, patience: float) -> list[str]:
        """Wait so many seconds, after `stop`, for what has begun; return the keys of what goes on."""
        with self._lock:
            self._lock.wait_for(lambda: not self._at_work, patience)
            return sorted(self._at_work)

    def _work_on(self, key: str) -> None:
        while True:
            with self._lock:
                queue = self._queues[key]
                if not queue:
                    del self._queues[key]
                    return
                work = queue.popleft()
                self._at_work.add(key)
            try:
                work()
            except Exception:
                log.exception("work of %s failed", key)
            finally:
                with self._lock:
                    self._at_work.discard(key)
                    self._lock.notify_all()


def _nothing() -> None:
    """Have nothing to do but begin."""


class WorkerPoolsByBox:
    """A pool for each box, or for boxes that something is asked of together; made when there is something to do."""

    def __init__(self, workers: int) -> None:
        """Let each have so many workers at most."""
        self._workers = workers
        self._lock = Lock()
        self._pools: dict[tuple[str, ...], WorkerPool] = {}
        self._closed = False

    def of(self, *boxes: str) -> WorkerPool:
        """Return the pool of these boxes.

        Raises:
            OSError: it is a new one, and no thread may be started.

        """
        key = tuple(sorted(set(boxes)))
        with self._lock:
            if key not in self._pools:
                self._pools[key] = WorkerPool(self._workers)
                if self._closed:
                    self._pools[key].stop()
            return self._pools[key]

    @property
    def idle(self) -> bool:
        """True when nothing is being done and nothing waits."""
        with self._lock:
            return all(pool.idle for pool in self._pools.values())

    def stop(self) -> None:
        """Begin nothing more; do not wait for what has begun."""
        with self._lock:
            self._closed = True
        for pool in self._all():
            pool.stop()

    def close(self) -> None:
        """Wait for what has begun."""
        for pool in self._all():
            pool.close()

    def ended(self, patience: float) -> list[str]:
        """Wait so many seconds, after `stop`, for what has begun; return the keys of what goes on."""
        until = time.monotonic() + patience
        return [key for pool in self._all() for key in pool.ended(max(0.0, until - time.monotonic()))]

    def _all(self) -> list[WorkerPool]:
        with self._lock:
            return list(self._pools.values())


class InlineExecutor:
    """Hands that do it at once, in the caller's thread: for tests and simulations."""

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Do it."""
        del key
        work()

    def close(self) -> None:
        """Nothing is left to do."""
