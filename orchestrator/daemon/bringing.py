"""What one box is sent and what is brought from it, task by task: no task's trouble holds up another.

What steers is brought when it is asked for. What is large waits its turn, and gives way to news.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from orchestrator import places
from orchestrator.daemon import hints as h
from orchestrator.daemon.troubles import Troubles
from orchestrator.hosts.ssh.publish import Pulled
from orchestrator.hosts.ssh.pull import Emptied
from orchestrator.hosts.ssh.states import NotLetIn, Unreachable
from orchestrator.model.errors import OrchestratorError
from orchestrator.ports.boxes import Pull

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.sync import TaskSync
    from orchestrator.ports.boxes import Guest
    from orchestrator.ports.files import Files

AGAIN: Final = 1.0
"""Seconds until more is brought where something was left over."""

PUT_OFF: Final = 30.0
"""Seconds for which what is large waits while there is always something that steers."""


@dataclass
class Bringing:
    """Sends and brings for the tasks on one box. `prepare` is for any thread, all else for one.

    `sync` makes what does so for one task. `post` brings a hint to the loop, `steady` gives seconds that never go back.
    What fails is noted in `troubles`.
    """

    box: str
    files: Files
    sync: Callable[[Guest], TaskSync]
    post: Callable[[h.Hint], None]
    steady: Callable[[], float]
    troubles: Troubles = field(default_factory=Troubles)
    _syncs: dict[tuple[str, str], tuple[TaskSync, threading.Lock]] = field(default_factory=dict)
    _ready: set[tuple[str, str]] = field(default_factory=set)
    _answered: set[tuple[str, str, int]] = field(default_factory=set)
    _hauls: dict[tuple[str, str], float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self, guest: Guest) -> None:
        """Make a task's folders there. Raises Refused, Unavailable."""
        sync, lock = self._sync(guest)
        with lock:
            sync.prepare()
            self._ready.add((guest.task, guest.place))

    def keep_only(self, guests: Collection[Guest]) -> None:
        """Forget what concerns other tasks and their runs."""
        runs = {run for guest in guests for run in guest.runs}
        keys = {(guest.task, guest.place) for guest in guests}
        with self._lock:
            self._syncs = {key: sync for key, sync in self._syncs.items() if key in keys}
            self._ready &= keys
            self._hauls = {key: due for key, due in self._hauls.items() if key in keys}
        self._answered = {each for each in self._answered if each[0] in runs}
        self.troubles.keep_only(keys)

    # What steers ----------------------------------------------------------------------------------

    def is_ready(self, guest: Guest) -> bool:
        """Make a task's folders there, unless that was done; tell whether they are. Raises Unreachable, NotLetIn."""
        return self._guarded(guest, Pull.STEERING, partial(self._make_ready, guest)) is not None

    def steer(self, guest: Guest, gone: Collection[str]) -> Pulled | None:
        """Send a task's answers, and bring what steers of it; None where that cannot be, `ended` where not all came.

        `gone` are runs that were seen to be so. Raises Unreachable, NotLetIn.
        """
        return self._guarded(guest, Pull.STEERING, partial(self._steer, guest, gone))

    def _make_ready(self, guest: Guest) -> Pulled:
        if (guest.task, guest.place) not in self._ready:
            try:
                self.prepare(guest)
            except Emptied:
                # They were made before, by us: `steer` brings what is left of them, and tells what is not there.
                return Pulled()
        return Pulled()

    def _steer(self, guest: Guest, gone: Collection[str]) -> Pulled:
        sync, lock = self._sync(guest)
        with lock:
            self._send_answers(guest, sync)
            pulled = sync.steer(guest.runs, guest.runs.intersection(gone))
        self._note(guest, Pull.STEERING, pulled.ended)
        self._say(guest, pulled)
        return pulled

    def _send_answers(self, guest: Guest, sync: TaskSync) -> None:
        for run in sorted(guest.runs):
            folder = places.run_answers(places.run_home(guest.home, run))
            for entry in self.files.entries(folder):
                stamp = (run, entry.name, entry.mtime_ns)
                if entry.is_file and stamp not in self._answered:
                    sync.send_answer(run, entry.name, self.files.read(folder / entry.name))
                    self._answered.add(stamp)

    # What is large --------------------------------------------------------------------------------

    @property
    def due(self) -> float:
        """When something large is to be brought next, by `steady`; infinite if nothing is."""
        return min(self._hauls.values(), default=math.inf)

    def want(self, guests: Iterable[Guest]) -> None:
        """Have what is large brought of these tasks."""
        now = self.steady()
        for guest in guests:
            self._hauls.setdefault((guest.task, guest.place), now)

    def want_nothing(self) -> None:
        """Let what is large lie: it is looked for again when all is."""
        self._hauls.clear()

    def haul(self, guests: Sequence[Guest], has_news: Callable[[], bool], gone: Collection[str] = ()) -> None:
        """Bring what is large and due, task by task, as long as nothing else is to be done.

        Once all is here of runs that are over, or were seen to be `gone`, that is noted: more will not come of them.

        Raises Unreachable, NotLetIn.
        """
        for guest in guests:
            key, now = (guest.task, guest.place), self.steady()
            due = self._hauls.get(key, now + 1)
            if due > now:
                continue
            if has_news() and now - due < PUT_OFF:
                return
            del self._hauls[key]
            pulled = self._guarded(guest, Pull.LARGE, partial(self._haul, guest))
            if pulled is None or pulled.ended:
                self._hauls[key] = max(self.steady(), self.troubles.next_try(Pull.LARGE))
            elif pulled.more:
                self._hauls[key] = self.steady() + AGAIN
            else:
                self._note_all_here(guest, guest.over | guest.runs.intersection(gone))

    def _note_all_here(self, guest: Guest, runs: Iterable[str]) -> None:
        marks = [places.run_outstanding(places.run_home(guest.home, run)) for run in runs]
        if found := [mark for mark in marks if self.files.entry(mark) is not None]:
            for mark in found:
                self.files.remove(mark)
            self.post(h.BoxHint(guest.task))

    def _haul(self, guest: Guest) -> Pulled:
        sync, lock = self._sync(guest)
        with lock:
            pulled = sync.haul(guest.runs | guest.over)
        self._say(guest, pulled)
        self._note(guest, Pull.LARGE, pulled.ended)
        return pulled

    # What fails, and what is told ----------------------------------------------------------------

    def call_again(self) -> None:
        """Have what could not be brought tried in the next round: somebody may have mended it."""
        if self.troubles.begin_again():
            self._hauls = dict.fromkeys(self._hauls, self.steady())

    def all_failed(self, guests: Iterable[Guest], why: str) -> None:
        """Note that nothing could be asked of the box, though it answers: nothing came of any task."""
        for guest in guests:
            self._note(guest, Pull.STEERING, why)

    def _guarded(self, guest: Guest, pull: Pull, work: Callable[[], Pulled]) -> Pulled | None:
        """Do something for one task; where it cannot be done, note why and return None.

        Raises:
            Unreachable, NotLetIn: the box is lost, for all of them.

        """
        try:
            return work()
        except (Unreachable, NotLetIn):
            raise
        except (OrchestratorError, OSError) as problem:
            self._note(guest, pull, str(problem) or repr(problem))
            return None

    def _note(self, guest: Guest, pull: Pull, problem: str) -> None:
        """Note what came of a try, and tell the task's user of a problem once, and once that it is over."""
        key = guest.task, guest.place, pull
        before = self.troubles.of(guest.task)
        if problem:
            told = problem if self.troubles.note(key, problem) else ""
        else:
            told = f"{self.box}: what could not be brought comes again" if self.troubles.end(key) else ""
        if told:
            self.post(h.SayHint(guest.task, told))
        if before != self.troubles.of(guest.task):
            self.post(h.BoxHint(guest.task))

    def _say(self, guest: Guest, pulled: Pulled) -> None:
        """Tell the task's user what was kept aside or left there."""
        for name, kept in pulled.kept:
            self.post(
                h.SayHint(guest.task, f"{self.box} has another {name}: what lay here is kept as {kept}")
            )
        for name, why in pulled.refused:
            self.post(h.SayHint(guest.task, f"{name} was not brought from {self.box}: {why}"))

    def _sync(self, guest: Guest) -> tuple[TaskSync, threading.Lock]:
        with self._lock:
            key = guest.task, guest.place
            if key not in self._syncs:
                self._syncs[key] = self.sync(guest), threading.Lock()
            return self._syncs[key]
