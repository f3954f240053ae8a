"""Worker pools: slow work is done by a few threads, in order per key, so that deciding never waits for it.

Work that waits for boxes has pools of its own: a box that hangs delays nothing here, and no other box.
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
    """Does work elsewhere. Work of one key is done in the order in which it was given."""

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Have `work` done. It must handle its own errors and report by a hint."""
        ...

    def close(self) -> None:
        """Finish the work that has begun, and accept no more."""
        ...


class WorkerPool:
    """An executor with threads."""

    def __init__(self, workers: int, *, finish: bool = False) -> None:
        """Make a pool of `workers` threads; all but the first start when there is work.

        `finish`: `close` also does the work that waits. Otherwise that is found in the outbox at the next start.

        Raises:
            OSError: not even one thread can be started.

        """
        self._finish = finish
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="hand")
        # One thread from the start: it also does work that was queued while no further thread could be started. Without
        # it
        # such work would wait forever, as later work of its key only joins the queue.
        self._submit(_nothing)
        self._lock = Condition()
        self._queues: dict[str, deque[Callable[[], None]]] = {}
        self._at_work = set[str]()
        self._closed = False

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Put work into the queue of its key; each queue is handled by one thread at a time.

        After `close` no work is accepted: it is found in the outbox at the next start.
        """
        with self._lock:
            if self._closed:
                return
            if (queue := self._queues.get(key)) is not None:
                queue.append(work)
                return
            self._queues[key] = deque([work])
            with suppress(OSError):  # it is in the pool's own queue: the existing threads will do it
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
        """Return whether no work is under way and none waits."""
        with self._lock:
            return not self._queues

    def stop(self) -> None:
        """Begin no more work, except with `finish`; do not wait for work that has begun."""
        with self._lock:
            self._closed = True
            if not self._finish:
                for queue in self._queues.values():
                    queue.clear()
        self._pool.shutdown(wait=False, cancel_futures=not self._finish)

    def close(self) -> None:
        """Wait for work that has begun."""
        self.stop()
        self._pool.shutdown(wait=True)

    def ended(self, patience: float) -> list[str]:
        """Wait `patience` seconds, after `stop`, for work that has begun; return the keys of work that goes on."""
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
    """Do nothing: the first work of a new thread."""


class WorkerPoolsByBox:
    """A pool for each box, or set of boxes that is asked together; made on first use."""

    def __init__(self, workers: int) -> None:
        """Give each pool at most so many workers."""
        self._workers = workers
        self._lock = Lock()
        self._pools: dict[tuple[str, ...], WorkerPool] = {}
        self._closed = False

    def of(self, *boxes: str) -> WorkerPool:
        """Return the pool of these boxes.

        Raises:
            OSError: it is a new one, and no thread can be started.

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
        """Return whether no work is under way and none waits."""
        with self._lock:
            return all(pool.idle for pool in self._pools.values())

    def stop(self) -> None:
        """Begin no more work; do not wait for work that has begun."""
        with self._lock:
            self._closed = True
        for pool in self._all():
            pool.stop()

    def close(self) -> None:
        """Wait for work that has begun."""
        for pool in self._all():
            pool.close()

    def ended(self, patience: float) -> list[str]:
        """Wait `patience` seconds, after `stop`, for work that has begun; return the keys of work that goes on."""
        until = time.monotonic() + patience
        return [key for pool in self._all() for key in pool.ended(max(0.0, until - time.monotonic()))]

    def _all(self) -> list[WorkerPool]:
        with self._lock:
            return list(self._pools.values())


class InlineExecutor:
    """An executor that works at once, in the caller's thread: for tests and simulations."""

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Do it."""
        del key
        work()

    def close(self) -> None:
        """Nothing is left to do."""
