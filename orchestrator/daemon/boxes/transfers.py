"""Transfers to and from one box, task by task: the trouble of one task does not hold up another.

Control files are fetched on request. Bulk files wait for their turn, and give way to changes.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.boxes.transfer_failures import TransferFailures
from orchestrator.daemon.core import hints as h
from orchestrator.hosts.ssh.marks import Emptied
from orchestrator.hosts.ssh.publish import Pulled
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.ports.box_link import Cut, is_lost
from orchestrator.ports.boxes import TransferKind

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.sync import TaskSync
    from orchestrator.ports.boxes import RemoteTask
    from orchestrator.ports.files import Files

AGAIN: Final = 1.0
"""Seconds until the rest is fetched if something was left over."""

BUSY: Final = 5.0
"""Seconds that the monitor waits for a worker that makes the folders of a task: other tasks wait behind it."""

PUT_OFF: Final = 30.0
"""The longest wait of bulk files, in seconds, while there are always control files to fetch."""

SLICE: Final = 2.0
"""Seconds for which bulk files are fetched then, whatever there is; doubled until they are here."""


_NOTHING: Final = Pulled(more=True, waits=True)
"""The result of a pull for a task that has nothing on the box any more: it says nothing about its runs."""


@dataclass
class Transfers:
    """Sends and fetches for the tasks on one box. `prepare` may be called by any thread, the rest by one.

    `sync` makes the transfer object for one task. `post` sends a hint to the loop, `steady` returns seconds that never
    go back, `is_kept` whether a task still has something on the box. Failures are recorded in `troubles`.
    """

    box: str
    files: Files
    sync: Callable[[RemoteTask], TaskSync]
    post: Callable[[h.Hint], None]
    steady: Callable[[], float]
    troubles: TransferFailures = field(default_factory=TransferFailures)
    is_kept: Callable[[RemoteTask], bool] = lambda _: True
    _syncs: dict[tuple[str, str], tuple[TaskSync, threading.Lock]] = field(default_factory=dict)
    _ready: set[tuple[str, str]] = field(default_factory=set)
    _answered: set[tuple[str, str, int]] = field(default_factory=set)
    _bulk_pulls: dict[tuple[str, str], float] = field(default_factory=dict)
    _slices: dict[tuple[str, str], float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self, remote_task: RemoteTask) -> None:
        """Make a task's folders on the box. Raises Refused, Unavailable."""
        with self._held(remote_task) as sync:
            sync.prepare()
            self._ready.add((remote_task.task, remote_task.place))

    def keep_only(self, remote_tasks: Collection[RemoteTask]) -> None:
        """Forget other tasks than these, and their runs."""
        runs = {run for remote_task in remote_tasks for run in remote_task.runs}
        keys = {(remote_task.task, remote_task.place) for remote_task in remote_tasks}
        with self._lock:
            self._syncs = {key: sync for key, sync in self._syncs.items() if key in keys}
            self._ready &= keys
            self._bulk_pulls = {key: due for key, due in self._bulk_pulls.items() if key in keys}
            self._slices = {key: seconds for key, seconds in self._slices.items() if key in keys}
        self._answered = {each for each in self._answered if each[0] in runs}
        self.troubles.keep_only(keys)

    # Control files --------------------------------------------------------------------------------

    def is_ready(self, remote_task: RemoteTask) -> bool:
        """Make a task's folders on the box unless they exist; return whether they do. Raises Unreachable, NotLetIn."""
        return (
            self._guarded(remote_task, TransferKind.STEERING, partial(self._make_ready, remote_task))
            is not None
        )

    def hangs(self, remote_task: RemoteTask) -> bool:
        """Return whether a look at the folders of a task hung the last time."""
        return self.troubles.hangs((remote_task.task, remote_task.place, TransferKind.STEERING))

    def pull_control(self, remote_task: RemoteTask) -> Pulled | None:
        """Send a task's answers, and fetch its control files; None on failure, `ended` if some runs' files are missing.

        Raises Unreachable, NotLetIn.
        """
        return self._guarded(remote_task, TransferKind.STEERING, partial(self._pull_control, remote_task))

    def _make_ready(self, remote_task: RemoteTask) -> Pulled:
        if (remote_task.task, remote_task.place) not in self._ready:
            try:
                self.prepare(remote_task)
            except Emptied:
                # They exist, made by us before: `pull_control` fetches what is left of them, and reports what is
                # missing.
                return Pulled()
        return Pulled()

    def _pull_control(self, remote_task: RemoteTask) -> Pulled:
        with self._held(remote_task, BUSY) as sync:
            if not self.is_kept(remote_task):
                return _NOTHING
            self._send_answers(remote_task, sync)
            pulled = sync.pull_control(remote_task.runs)
        self._note(remote_task, TransferKind.STEERING, pulled.ended)
        self._say(remote_task, pulled)
        return pulled

    def _send_answers(self, remote_task: RemoteTask, sync: TaskSync) -> None:
        for run in sorted(remote_task.runs):
            folder = layout.run_answers(layout.run_home(remote_task.home, run))
            for entry in self.files.entries(folder):
                stamp = (run, entry.name, entry.mtime_ns)
                if entry.is_file and stamp not in self._answered:
                    sync.send_answer(run, entry.name, self.files.read(folder / entry.name))
                    self._answered.add(stamp)

    # Bulk files -----------------------------------------------------------------------------------

    @property
    def due(self) -> float:
        """Return when to fetch bulk files next, by `steady`; infinity if there is nothing to fetch."""
        return min(self._bulk_pulls.values(), default=math.inf)

    def want(self, remote_tasks: Iterable[RemoteTask]) -> None:
        """Have the bulk files of these tasks fetched."""
        now = self.steady()
        for remote_task in remote_tasks:
            self._bulk_pulls.setdefault((remote_task.task, remote_task.place), now)

    def want_nothing(self) -> None:
        """Cancel the fetching of bulk files: the next complete round asks for them again."""
        self._bulk_pulls.clear()

    def pull_bulk(
        self, remote_tasks: Sequence[RemoteTask], has_news: Callable[[], bool], gone: Collection[str] = ()
    ) -> None:
        """Fetch the bulk files that are due, task by task, as long as there is nothing else to do.

        A transfer that is under way gives way, too, and continues from there the next time. One that was put off for
        long is given some seconds, and more of them each time that it does not come to its end.

        When all files of a run are here that has ended, or was seen to be `gone`, that is recorded: no more will come.

        Raises Unreachable, NotLetIn.
        """
        for remote_task in remote_tasks:
            key, now = (remote_task.task, remote_task.place), self.steady()
            due = self._bulk_pulls.get(key, now + 1)
            if due > now:
                continue
            is_late = now - due >= PUT_OFF
            if has_news() and not is_late:
                return
            until = now + (self._slices.get(key, SLICE) if is_late else 0.0)
            go_on = partial(self._may_go_on, remote_task, until, has_news)
            pulled = self._guarded(
                remote_task, TransferKind.LARGE, partial(self._pull_bulk, remote_task, go_on)
            )
            if pulled is not None and pulled.gave_way:
                if is_late:
                    self._slices[key] = 2 * self._slices.get(key, SLICE)
                    self._bulk_pulls[key] = self.steady()
                return
            del self._bulk_pulls[key]
            self._slices.pop(key, None)
            if pulled is None or pulled.ended:
                self._bulk_pulls[key] = max(self.steady(), self.troubles.next_try(TransferKind.LARGE))
            elif pulled.more:
                self._bulk_pulls[key] = self.steady() + AGAIN
            else:
                self._note_all_here(remote_task, remote_task.over | remote_task.runs.intersection(gone))

    def _may_go_on(self, remote_task: RemoteTask, until: float, has_news: Callable[[], bool]) -> bool:
        return self.is_kept(remote_task) and (self.steady() < until or not has_news())

    def _note_all_here(self, remote_task: RemoteTask, runs: Iterable[str]) -> None:
        marks = [layout.run_outstanding(layout.run_home(remote_task.home, run)) for run in runs]
        if found := [mark for mark in marks if self.files.entry(mark) is not None]:
            for mark in found:
                self.files.remove(mark)
            self.post(h.BoxHint(remote_task.task))

    def _pull_bulk(self, remote_task: RemoteTask, go_on: Callable[[], bool]) -> Pulled:
        with self._held(remote_task, BUSY) as sync:
            if not self.is_kept(remote_task):
                return _NOTHING
            pulled = sync.pull_bulk(remote_task.runs | remote_task.over, go_on)
        self._say(remote_task, pulled)
        self._note(remote_task, TransferKind.LARGE, pulled.ended)
        return pulled

    # Failures and messages -----------------------------------------------------------------------

    def call_again(self) -> None:
        """Retry failed transfers in the next round: the cause may have been fixed."""
        if self.troubles.begin_again():
            self._bulk_pulls = dict.fromkeys(self._bulk_pulls, self.steady())

    def all_failed(self, remote_tasks: Iterable[RemoteTask], why: str) -> None:
        """Record a failure for all tasks: the box answers, but could not be asked for anything."""
        for remote_task in remote_tasks:
            self._note(remote_task, TransferKind.STEERING, why)

    def _guarded(
        self, remote_task: RemoteTask, pull: TransferKind, work: Callable[[], Pulled]
    ) -> Pulled | None:
        """Do something for one task; on failure, record the reason and return None.

        Raises:
            Unreachable, NotLetIn: the box is lost, for all tasks.

        """
        if self.troubles.is_put_off((remote_task.task, remote_task.place, pull)):
            return None
        try:
            return work()
        except (OrchestratorError, OSError) as problem:
            if is_lost(problem):
                raise
            self._note(remote_task, pull, str(problem) or repr(problem), hangs=isinstance(problem, Cut))
            return None

    def _note(
        self, remote_task: RemoteTask, pull: TransferKind, problem: str, *, hangs: bool = False
    ) -> None:
        """Record the result of a try, and notify the task's user once of a problem, and once of its end."""
        key = remote_task.task, remote_task.place, pull
        before = self.troubles.of(remote_task.task)
        if problem:
            message = problem if self.troubles.note(key, problem, hangs=hangs) else ""
        else:
            message = f"{self.box}: the failed transfers work again" if self.troubles.end(key) else ""
        if message:
            self.post(h.SayHint(remote_task.task, message))
        if before != self.troubles.of(remote_task.task):
            self.post(h.BoxHint(remote_task.task))

    def _say(self, remote_task: RemoteTask, pulled: Pulled) -> None:
        """Tell the task's user which files were kept aside here, or left on the box."""
        for name, kept in pulled.kept:
            self.post(
                h.SayHint(
                    remote_task.task, f"{self.box} has a different {name}: the local one is kept as {kept}"
                )
            )
        for name, why in pulled.refused:
            self.post(h.SayHint(remote_task.task, f"{name} was not fetched from {self.box}: {why}"))

    @contextmanager
    def idle(self, task: str) -> Iterator[None]:
        """Hold all transfers of a task back. Raises Unavailable: one is under way, and does not end soon."""
        with self._lock:
            locks = [
                lock for key, (_, lock) in sorted(self._syncs.items(), key=itemgetter(0)) if key[0] == task
            ]
        with ExitStack() as held:
            for lock in locks:
                if not lock.acquire(timeout=BUSY):
                    raise Unavailable(f"{self.box}: files of {task} are still being fetched")
                held.callback(lock.release)
            yield

    @contextmanager
    def _held(self, remote_task: RemoteTask, patience: float = -1) -> Iterator[TaskSync]:
        """Hold the transfer object of a task, which one thread may use; wait at most `patience` seconds for it."""
        sync, lock = self._sync(remote_task)
        if not lock.acquire(timeout=patience):
            raise Unavailable(f"{self.box}: the folders of {remote_task.name} there are still being made")
        try:
            yield sync
        finally:
            lock.release()

    def _sync(self, remote_task: RemoteTask) -> tuple[TaskSync, threading.Lock]:
        with self._lock:
            key = remote_task.task, remote_task.place
            if key not in self._syncs:
                self._syncs[key] = self.sync(remote_task), threading.Lock()
            return self._syncs[key]
