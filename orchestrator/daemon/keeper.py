"""A keeper: one box in the sight of one thread, which may wait for the network so that nobody else has to.

A round asks first and brings after that, so that a run is said to be gone only when all that it had left lies here
(law 5). A standing channel tells what of which task has news, and then a round looks at that alone; at everything it
looks by schedule. What is large comes last, task by task, and what steers goes ahead of it as soon as it is told.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from orchestrator import places
from orchestrator.daemon import hints as h
from orchestrator.daemon.bringing import AGAIN, Bringing
from orchestrator.daemon.contact import Contact
from orchestrator.daemon.far_transcripts import copy_transcripts
from orchestrator.daemon.heeding import Heeding, Telling
from orchestrator.daemon.troubles import Troubles
from orchestrator.formats.moments import moment_said
from orchestrator.hosts.claims import EXIT
from orchestrator.hosts.ssh.allowance import Allowance
from orchestrator.hosts.ssh.channel import News, Part
from orchestrator.hosts.ssh.states import NotLetIn, Unreachable, Way
from orchestrator.model.errors import OrchestratorError
from orchestrator.ports.boxes import Belief, Guest, Pull, Sighting
from orchestrator.ports.host import Standing

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.host import BoxHost
    from orchestrator.hosts.ssh.link import Link
    from orchestrator.hosts.ssh.publish import Pulled
    from orchestrator.hosts.ssh.sync import TaskSync
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

EVERY: Final = 120.0
"""Seconds after which a box is looked at in any case (HUB 5.3, H13: every two minutes)."""

IDLE: Final = 5
"""Rounds in which nobody lives there, after which the connection is let go."""

DEAF: Final = 30.0
"""Seconds after which another standing channel is tried where one has ended though the box was not lost."""

CROWDED_EVERY: Final = 5.0
"""Seconds after which a box is looked at that grants too few sessions for a standing channel."""


AT_ONCE: Final = 5.0
SHARE: Final = 0.25
LATEST: Final = 1.0
"""Seconds of work for which a box may call at once, the share of the time that is worked for it for ever, and by how
many seconds a round is put off for that at most: a box that always has news must not keep us busy all the time."""


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
    `luck` a number from 0 to 1. `pulled_at` is when all was last brought, by a round in which nothing failed; `rounds`
    counts all that came to their end.
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
    rounds: int = 0
    _guests: dict[str, tuple[Guest, ...]] = field(default_factory=dict)
    _seen: dict[Path, Sighting] = field(default_factory=dict)
    _inbox: SimpleQueue[frozenset[News] | None] = field(default_factory=SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _heeded_at: float = 0.0
    _heeded: tuple[set[tuple[str, str]], Heeding] | None = None
    _due: float = 0.0
    _idle: int = 0
    _called_again: bool = False
    _closing: bool = False

    def __post_init__(self) -> None:
        """Begin."""
        self._pace = Allowance(AT_ONCE, SHARE, wait=LATEST)
        self._contact = Contact(self.box, self.ways.link, self._tell_belief, self.steady, self.luck)
        self.troubles = Troubles(self.now, self.steady, self.luck)
        self._bringing = Bringing(self.box, self.files, self.ways.sync, self.post, self.steady, self.troubles)
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
        return self._contact.belief

    @property
    def floods(self) -> bool:
        """True while the box tells of more changes than are looked at."""
        heeded = self._heeded
        return heeded is not None and heeded[1].floods

    def belief_for(self, task: str) -> Belief | None:
        """Return what is believed of the box as to what runs of a task there: a pull that failed told nothing of it."""
        belief = self._contact.belief
        blind = [each for each in self.troubles.of(task) if each.pull is Pull.STEERING]
        if not blind or (belief is not None and not belief.reachable):
            return belief
        first = blind[0]
        why = f"{self.box} answers, and nothing comes from it since {moment_said(first.since)}: {first.why}"
        return Belief(reachable=False, why=why, refused=first.is_pressing)

    def failing(self) -> list[dict[str, object]]:
        """Return what cannot be brought, task by task, for `task hosts`."""
        names = {guest.task: guest.name for guest in self.guests}
        return [
            {"task": names[task], "what": each.pull.value, "since": each.since, "why": each.why}
            for task in sorted(names)
            for each in self.troubles.of(task)
        ]

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
        """Try a box that is lost, and what could not be brought from one that answers."""
        self._called_again = True
        if self._contact.call_again() or self.troubles:
            self.hurry()

    def close(self) -> None:
        """Have the thread end, and the connection with all that is under way over it; what lives there goes on."""
        self._closing = True
        self.hurry()
        self.ways.link.end()

    def ended(self, patience: float) -> bool:
        """Tell whether the thread has ended, which is waited for so many seconds."""
        self._thread.join(patience)
        return not self._thread.is_alive()

    # For the hands --------------------------------------------------------------------------------

    def prepare(self, guest: Guest) -> None:
        """Make a task's folders there. Raises Refused, Unavailable."""
        self._bringing.prepare(guest)

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
            self._fail(error)
        except Exception as error:
            log.exception("box %s: this should not happen", self.box)
            self._fail(error)

    def _wait(self) -> set[News] | None:
        """Wait until something is to be done, and return what has news, a burst at once; None: all may have."""
        news, everything = set[News](), False
        patience = self._next - self.steady()
        try:
            told = self._inbox.get(timeout=max(0.0, patience))
            while True:
                everything |= told is None
                news |= told or frozenset()
                pause = 0.0 if everything else self._pace.pause(self.steady())
                told = self._inbox.get(timeout=pause) if pause > 0 else self._inbox.get_nowait()
        except Empty:
            pass
        return None if everything or self._contact.failures or self.steady() >= self._due else news

    def _round(self, news: set[News] | None) -> None:
        """Ask what became of the runs, send and bring: of everything, or of what has news; note when it is due next."""
        guests = self.guests
        self._drop_others(guests)
        if not guests:
            self._rest()
            return
        self._idle, began = 0, self.steady()
        if self._called_again:
            self._called_again = False
            self._bringing.call_again()
        self._contact.call_when_due()
        fit = [guest for guest in guests if self._bringing.is_ready(guest)]
        # Ahead of looking, so that what changes in between is told.
        self._heed(fit)
        seen = self._look(_having(guests, news, Part.RUNS))
        if news is None:
            self._contact.reached()
        # Ahead of the events that tell of a turn's end: what it used is read then.
        self._copy_transcripts(_folders(_having(guests, news, Part.EVENTS, Part.RUNS)))
        gone = {path.name for path, each in seen.items() if each.observation.standing is Standing.GONE}
        more = False
        for guest in _having(guests, news, Part.HANDOFFS, Part.EVENTS, Part.RUNS):
            steered = self._bringing.steer(guest, gone) if guest in fit else None
            whole = steered is not None and not (steered.ended or steered.waits)
            if steered is not None and whole:
                seen |= self._look_again(guest, steered, seen)
            self._publish(guest, seen, gone=whole)
            more |= steered is not None and steered.more
        now = self.steady()
        if news is None:
            self._due = now + self._patience
        if more:
            self._due = min(self._due, now + AGAIN)
        self._due = min(self._due, self.troubles.next_try(Pull.STEERING))
        self._pace.spend(now - began, now)
        self._bringing.want(_having(fit, news, Part.ARTIFACTS, Part.RUNS))
        gone = {path.name for path, each in self._seen.items() if each.observation.standing is Standing.GONE}
        self._bringing.haul(fit, lambda: not self._inbox.empty(), gone)
        if not self.troubles:
            self.pulled_at = self.now()
        self.rounds += 1
        self.changed()

    @property
    def _next(self) -> float:
        """When something is to be done next, by `steady`, if nobody tells of news."""
        return min(self._due, self._bringing.due)

    @property
    def _patience(self) -> float:
        """After how many seconds all is looked at again."""
        if self._contact.is_crowded:
            return CROWDED_EVERY
        return DEAF if self._deaf else EVERY

    def _rest(self) -> None:
        """Nobody is there: after a while the connection is let go."""
        self._unheed()
        self._due = self.steady() + EVERY
        self._idle += 1
        stands = self.ways.link.state().way is Way.REACHABLE
        if self._idle == IDLE or (
            self._idle > IDLE and stands
        ):  # windows of ended tasks are closed over it as well
            self.ways.link.close()

    def _look(self, guests: list[Guest]) -> dict[Path, Sighting]:
        """Ask what became of the runs of these."""
        return self._look_into(_folders(guests))

    def _look_again(
        self, guest: Guest, pulled: Pulled, seen: Mapping[Path, Sighting]
    ) -> dict[Path, Sighting]:
        """Ask of the runs that ended while all was brought: what they had handed in was brought behind their exits."""
        ended = [run for run in sorted(guest.runs) if f"runs/{run}/{EXIT}" in pulled.brought]
        folders = [places.run_home(guest.home, run) for run in ended]
        known = {folder for folder, each in seen.items() if each.observation.standing is Standing.GONE}
        return self._look_into([folder for folder in folders if folder not in known])

    def _look_into(self, folders: list[Path]) -> dict[Path, Sighting]:
        if not folders:
            return {}
        at = self.now()
        return {folder: Sighting(seen, at) for folder, seen in self.ways.host.observe_all(folders).items()}

    def _copy_transcripts(self, folders: list[Path]) -> None:
        """Add to the copies of transcripts what these have grown by there."""
        copy_transcripts(self.ways.link, self.files, folders)

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

    def _drop_others(self, guests: tuple[Guest, ...]) -> None:
        """Forget what concerns runs and tasks that are here no more."""
        runs = {run for guest in guests for run in guest.runs}
        self._seen = {folder: seen for folder, seen in self._seen.items() if folder.name in runs}
        self._bringing.keep_only(guests)

    def _fail(self, error: Exception) -> None:
        """End what a round began that failed, and note when the next is due."""
        now = self.steady()
        self._unheed()
        self._bringing.want_nothing()
        self._due = now + self._contact.failed(error)
        if not isinstance(error, Unreachable | NotLetIn):
            self._bringing.all_failed(self.guests, str(error) or repr(error))

    def _tell_belief(self) -> None:
        """Have every task look at what is believed of the box now."""
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
        if guests and not self._contact.is_crowded:
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
