"""A keeper: one box in the sight of one thread, which may wait for the network so that nobody else has to.

A round asks first and brings after that, so that a run is said to be gone only when all that it had left lies here
(law 5). A standing channel tells what of which task has news, and then a round looks at that alone; at everything it
looks by schedule. What is large comes last, task by task, and what steers goes ahead of it as soon as it is told.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from orchestrator import places
from orchestrator.daemon import hints as h
from orchestrator.daemon.heeding import Heeding, Telling
from orchestrator.hosts.ssh.backoff import pause
from orchestrator.hosts.ssh.channel import News, Part
from orchestrator.hosts.ssh.growing import grown
from orchestrator.hosts.ssh.publish import Pulled
from orchestrator.hosts.ssh.states import Cut, NotLetIn, State, Unreachable, Way
from orchestrator.model.errors import OrchestratorError
from orchestrator.ports.boxes import Belief, Guest, Sighting
from orchestrator.ports.host import Standing

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.host import BoxHost
    from orchestrator.hosts.ssh.link import Link
    from orchestrator.hosts.ssh.sync import TaskSync
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

EVERY: Final = 120.0
"""Seconds after which a box is looked at in any case (HUB 5.3, H13: every two minutes)."""

IDLE: Final = 5
"""Rounds in which nobody lives there, after which the connection is let go."""

TRANSCRIPT: Final = 67_108_864
"""Bytes of a transcript that are copied at most."""

AGAIN: Final = 1.0
"""Seconds until the next round where one left something over."""

PUT_OFF: Final = 30.0
"""Seconds for which what is large waits while there is always something that steers."""

DEAF: Final = 30.0
"""Seconds after which another standing channel is tried where one has ended though the box was not lost."""

CROWDED: Final = 600.0
"""Seconds in which there is no standing channel to a box that grants too few sessions: what is asked needs them."""

CROWDED_EVERY: Final = 5.0
"""Seconds after which such a box is looked at."""


_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Ways:
    """How a box is reached, and what is done about one task there."""

    link: Link
    host: BoxHost
    sync: Callable[[Guest], TaskSync]
    channel: Callable[[list[Guest]], Telling]


@dataclass
class Keeper:
    """Keeps one box. `post` brings a hint to the loop; `changed` is called when something else is believed of the box.

    What only looks or notes waits for nobody. `now` gives seconds since the epoch, `steady` seconds that never go back,
    `luck` a number from 0 to 1. `pulled_at` is when all was last brought.
    """

    box: str
    ways: Ways
    files: Files
    post: Callable[[h.Hint], None]
    changed: Callable[[], None]
    now: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    luck: Callable[[], float] = random.random
    pulled_at: float = 0.0
    _belief: Belief | None = None
    _guests: dict[str, tuple[Guest, ...]] = field(default_factory=dict)
    _syncs: dict[tuple[str, str], tuple[TaskSync, threading.Lock]] = field(default_factory=dict)
    _seen: dict[Path, Sighting] = field(default_factory=dict)
    _ready: set[tuple[str, str]] = field(default_factory=set)
    _told: dict[tuple[str, str], str] = field(default_factory=dict)
    _answered: set[tuple[str, str, int]] = field(default_factory=set)
    _inbox: SimpleQueue[frozenset[News] | None] = field(default_factory=SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _heeded_at: float = 0.0
    _crowded_until: float = 0.0
    _heeded: tuple[set[tuple[str, str]], Heeding] | None = None
    _hauls: dict[tuple[str, str], float] = field(default_factory=dict)
    _due: float = 0.0
    _failures: int = 0
    _idle: int = 0
    _closing: bool = False

    def __post_init__(self) -> None:
        """Begin."""
        self.begin()

    def begin(self) -> None:
        """Start the thread. A simulation makes the rounds itself."""
        self._thread = threading.Thread(target=self._run, name=f"keeper {self.box}", daemon=True)
        self._thread.start()

    # For the deciding thread ----------------------------------------------------------------------

    @property
    def guests(self) -> tuple[Guest, ...]:
        """What tasks have on the box."""
        with self._lock:
            return tuple(guest for guests in self._guests.values() for guest in guests)

    @property
    def belief(self) -> Belief | None:
        """What is believed of the box, or None where nobody has tried yet."""
        return self._belief

    def keep(self, task: str, guests: tuple[Guest, ...]) -> None:
        """Note what a task has on the box from now on."""
        with self._lock:
            if guests == self._guests.get(task, ()):
                return
            self._guests.pop(task, None)
            if guests:
                self._guests[task] = guests
        self.hurry()

    def seen(self, folder: Path) -> Sighting | None:
        """Return what was last seen of a run."""
        return self._seen.get(folder)

    def hurry(self) -> None:
        """Have the next round made at once."""
        self._inbox.put(None)

    def call_again(self) -> None:
        """Try a box that is lost."""
        if self._belief is not None and not self._belief.reachable:
            self._failures = 0
            self.ways.link.again()
            self.hurry()

    def close(self) -> None:
        """End the thread and the connection; what lives there goes on."""
        self._closing = True
        self.hurry()
        self.ways.link.close()
        self._thread.join()

    # For the hands --------------------------------------------------------------------------------

    def prepare(self, guest: Guest) -> None:
        """Make a task's folders there. Raises Refused, Unavailable."""
        sync, lock = self._sync(guest)
        with lock:
            sync.prepare()
            self._ready.add((guest.task, guest.place))

    # The thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            news = self._wait()
            if self._closing:
                break
            self.turn(news)
        self._unheed()

    def turn(self, news: set[News] | None) -> None:
        """Make a round, whatever comes of it."""
        try:
            self._round(news)
        except (OrchestratorError, OSError) as error:
            self._due = self.steady() + self._fails(error)
        except Exception as error:
            log.exception("box %s: this should not happen", self.box)
            self._due = self.steady() + self._fails(error)

    def _wait(self) -> set[News] | None:
        """Wait until something is to be done, and return what has news, a burst at once; None: all may have."""
        news, everything = set[News](), False
        patience = min([self._due, *self._hauls.values()]) - self.steady()
        try:
            told = self._inbox.get(timeout=max(0.0, patience))
            while True:
                everything |= told is None
                news |= told or frozenset()
                told = self._inbox.get_nowait()
        except Empty:
            pass
        return None if everything or self._failures or self.steady() >= self._due else news

    def _round(self, news: set[News] | None) -> None:
        """Ask what became of the runs, send and bring: of everything, or of what has news; note when it is due next."""
        guests = self.guests
        self._drop_others(guests)
        if not guests:
            self._rest()
            return
        self._idle = 0
        fit = [guest for guest in guests if self._guarded(guest, partial(self._make_ready, guest))]
        # Ahead of looking, so that what changes in between is told.
        self._heed(fit)
        seen = self._look(_having(guests, news, Part.RUNS))
        if news is None:
            self._reached()
        # Ahead of the events that tell of a turn's end: what it used is read then.
        self._copy_transcripts(_folders(_having(guests, news, Part.EVENTS, Part.RUNS)))
        more = False
        for guest in _having(guests, news, Part.HANDOFFS, Part.EVENTS, Part.RUNS):
            steered = self._guarded(guest, partial(self._steer, guest, seen)) if guest in fit else None
            self._publish(guest, seen, gone=steered is not None)
            more |= steered is not None and steered.more
        now = self.steady()
        if news is None:
            self._due = now + self._patience(now)
        if more:
            self._due = min(self._due, now + AGAIN)
        for guest in _having(fit, news, Part.ARTIFACTS, Part.RUNS):
            self._hauls.setdefault((guest.task, guest.place), now)
        self._haul_what_is_due(fit)
        self.pulled_at = self.now()
        self.changed()

    def _patience(self, now: float) -> float:
        """Return after how many seconds all is looked at again."""
        if now < self._crowded_until:
            return CROWDED_EVERY
        return DEAF if self._deaf else EVERY

    def _rest(self) -> None:
        """Nobody is there: after a while the connection is let go."""
        self._unheed()
        self._due = self.steady() + EVERY
        self._idle += 1
        if self._idle == IDLE:
            self.ways.link.close()

    def _look(self, guests: list[Guest]) -> dict[Path, Sighting]:
        """Ask what became of the runs of these."""
        if not guests:
            return {}
        at = self.now()
        return {
            folder: Sighting(seen, at)
            for folder, seen in self.ways.host.observe_all(_folders(guests)).items()
        }

    def _guarded(self, guest: Guest, work: Callable[[], Pulled]) -> Pulled | None:
        """Do something for one task; where it cannot be done, tell its user why and return None: no other is held up.

        Raises:
            Unreachable, NotLetIn: the box is lost, for all of them.

        """
        try:
            return work()
        except (Unreachable, NotLetIn):
            raise
        except (OrchestratorError, OSError) as problem:
            self._tell(guest, "", str(problem))
            return None

    def _make_ready(self, guest: Guest) -> Pulled:
        if (guest.task, guest.place) not in self._ready:
            self.prepare(guest)
        return Pulled()

    def _steer(self, guest: Guest, seen: Mapping[Path, Sighting]) -> Pulled:
        """Send a task's answers, and bring what steers of it."""
        gone = {path.name for path, each in seen.items() if each.observation.standing is Standing.GONE}
        sync, lock = self._sync(guest)
        with lock:
            self._send_answers(guest, sync)
            pulled = sync.steer(guest.runs, gone & guest.runs)
        self._tell(guest, "", "")
        self._say(guest, pulled)
        return pulled

    def _haul_what_is_due(self, guests: list[Guest]) -> None:
        """Bring what is large, task by task, as long as nothing else is to be done."""
        for guest in guests:
            key, now = (guest.task, guest.place), self.steady()
            due = self._hauls.get(key, now + 1)
            if due > now:
                continue
            if not self._inbox.empty() and now - due < PUT_OFF:
                return
            del self._hauls[key]
            pulled = self._guarded(guest, partial(self._haul, guest))
            if pulled is not None and pulled.more:
                self._hauls[key] = self.steady() + AGAIN

    def _haul(self, guest: Guest) -> Pulled:
        sync, lock = self._sync(guest)
        with lock:
            pulled = sync.haul(guest.runs)
        self._say(guest, pulled)
        self._tell(guest, "haul", pulled.ended)
        return pulled

    def _copy_transcripts(self, folders: list[Path]) -> None:
        """Add to the copies of transcripts what these have grown by there."""
        wanted = []
        for folder in folders:
            note, path = places.run_transcript_there(folder), places.run_transcript(folder)
            if self.files.entry(note) is not None:
                copy = self.files.entry(path)
                there = self.files.read(note).decode(errors="surrogateescape")
                wanted.append((path, there, copy.size if copy else 0))
        told = grown(self.ways.link, [(there, size) for _, there, size in wanted])
        for (path, _, size), more in zip(wanted, told, strict=True):
            if more and size + len(more) <= TRANSCRIPT:
                # No port for this: what is cut off is gone on with, and nobody else writes there.
                with os.fdopen(os.open(path, _APPEND, 0o600), "ab") as file:
                    file.write(more)

    def _send_answers(self, guest: Guest, sync: TaskSync) -> None:
        for run in sorted(guest.runs):
            folder = places.run_answers(places.run_home(guest.home, run))
            for entry in self.files.entries(folder):
                stamp = (run, entry.name, entry.mtime_ns)
                if entry.is_file and stamp not in self._answered:
                    sync.send_answer(run, entry.name, self.files.read(folder / entry.name))
                    self._answered.add(stamp)

    def _publish(self, guest: Guest, seen: Mapping[Path, Sighting], *, gone: bool) -> None:
        """Let what was seen of a task's runs be known; that one is gone only if all was brought after that."""
        for run in sorted(guest.runs):
            folder = places.run_home(guest.home, run)
            now, before = seen.get(folder), self._seen.get(folder)
            if now is None or (now.observation.standing is Standing.GONE and not gone):
                continue
            self._seen[folder] = now
            if before is None or before.observation != now.observation:
                self.post(h.RunHint(guest.task, run))

    def _say(self, guest: Guest, pulled: Pulled) -> None:
        """Tell the task's user what was kept aside or left there."""
        for name, kept in pulled.kept:
            self.post(
                h.SayHint(guest.task, f"{self.box} has another {name}: what lay here is kept as {kept}")
            )
        for name, why in pulled.refused:
            self.post(h.SayHint(guest.task, f"{name} was not brought from {self.box}: {why}"))

    def _tell(self, guest: Guest, about: str, problem: str) -> None:
        """Tell a problem of a task once, and once that it is over."""
        key = guest.task, f"{guest.place} {about}"
        if self._told.get(key, "") == problem:
            return
        self._told[key] = problem
        self.post(h.SayHint(guest.task, problem or f"{self.box}: what could not be brought comes again"))

    def _sync(self, guest: Guest) -> tuple[TaskSync, threading.Lock]:
        with self._lock:
            key = guest.task, guest.place
            if key not in self._syncs:
                self._syncs[key] = self.ways.sync(guest), threading.Lock()
            return self._syncs[key]

    def _drop_others(self, guests: tuple[Guest, ...]) -> None:
        """Forget what concerns runs and tasks that are here no more."""
        runs = {run for guest in guests for run in guest.runs}
        keys = {(guest.task, guest.place) for guest in guests}
        with self._lock:
            self._syncs = {key: sync for key, sync in self._syncs.items() if key in keys}
            self._ready &= keys
            self._hauls = {key: due for key, due in self._hauls.items() if key in keys}
        self._seen = {folder: seen for folder, seen in self._seen.items() if folder.name in runs}
        self._answered = {each for each in self._answered if each[0] in runs}

    # What is believed of the box ------------------------------------------------------------------

    def _reached(self) -> None:
        self._failures = 0
        if self._belief is None or not self._belief.reachable:
            log.info("box %s is reached", self.box)
            self._believe(Belief(reachable=True, why="ssh is connected"))

    def _fails(self, error: Exception) -> float:
        """Believe that the box is lost, if that is what an error says; return when to try again, in seconds."""
        self._unheed()
        # What is large is looked for again when all is.
        self._hauls.clear()
        self._failures += 1
        refused = isinstance(error, NotLetIn)
        if isinstance(error, Unreachable) or refused:
            state = self.ways.link.state()
            if state.way is Way.REACHABLE and not isinstance(error, Cut):
                self._crowded_until = self.steady() + CROWDED
            if self._belief is None or self._belief.reachable or self._belief.refused != refused:
                log.warning("box %s is lost: %s", self.box, error)
                dead = state.way is Way.UNREACHABLE and not refused
                why = _lost(self.box, state) if dead else str(error)
                self._believe(Belief(reachable=False, why=why, refused=refused))
        else:
            log.warning("box %s: %s", self.box, error)
        # One that refuses is not called again before somebody says so.
        if refused:
            return EVERY
        # The link counts its own failures: being asked while it pauses is none.
        return self.ways.link.patience() or pause(self._failures, self.luck())

    def _believe(self, belief: Belief) -> None:
        self._belief = belief
        for task in {guest.task for guest in self.guests}:
            self.post(h.BoxHint(task))
        self.changed()

    # The standing channel -------------------------------------------------------------------------

    def _heed(self, guests: list[Guest]) -> None:
        """Have changes in the folders of these tasks told; where that cannot be, rounds come by schedule."""
        keys, now = {(guest.task, guest.place) for guest in guests}, self.steady()
        same = self._heeded is not None and self._heeded[0] == keys
        if same and (not self._deaf or now - self._heeded_at < DEAF):
            return
        self._unheed()
        if guests and now >= self._crowded_until:
            self._heeded_at = now
            self._heeded = keys, Heeding(self.ways.channel(guests), self._inbox.put)

    @property
    def _deaf(self) -> bool:
        """True while nobody tells of changes there."""
        return self._heeded is None or self._heeded[1].ended

    def _unheed(self) -> None:
        if self._heeded is not None:
            self._heeded[1].close()
            self._heeded = None


def _having(guests: Sequence[Guest], news: set[News] | None, *parts: Part) -> list[Guest]:
    """Return those of which one of these parts has news; all, where all may have."""
    return [
        guest for guest in guests if news is None or any(News(guest.task, part) in news for part in parts)
    ]


def _folders(guests: Iterable[Guest]) -> list[Path]:
    """Return the folders here of all their runs."""
    return [places.run_home(guest.home, run) for guest in guests for run in sorted(guest.runs)]


def _lost(box: str, state: State) -> str:
    """Say since when a box is lost, by the clock: that does not go stale, as minutes do."""
    since = time.strftime("%H:%M", time.localtime(state.since or time.time()))
    return f"{box} is unreachable since {since} ({state.why or 'it is busy'})"
