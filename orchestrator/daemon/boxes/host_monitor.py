"""A host monitor: one box, watched by one thread, which may wait for the network so that nobody else has to.

A round asks first and fetches then, so that a run is reported as gone only when everything it left is here (law 5). A
standing channel reports which task has changes, and then a round looks only at that; everything else is looked at by
schedule. Bulk files come last, task by task, and control files take precedence as soon as they are reported.
"""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.boxes.change_queue import ChangeQueue, processor_time, tasks_having
from orchestrator.daemon.boxes.channel_listener import ChannelListener, EventChannel
from orchestrator.daemon.boxes.host_health import HostHealth
from orchestrator.daemon.boxes.remote_transcripts import RemoteTranscripts
from orchestrator.daemon.boxes.run_sightings import RunSightings, folders_of
from orchestrator.daemon.boxes.transfer_failures import TransferFailures
from orchestrator.daemon.boxes.transfers import AGAIN, Transfers
from orchestrator.daemon.core import hints as h
from orchestrator.formats.timestamps import moment_said
from orchestrator.hosts.ssh.channel import ChannelEvent, Part
from orchestrator.model.errors import OrchestratorError
from orchestrator.ports.box_link import State, Way, is_lost
from orchestrator.ports.boxes import Belief, RemoteTask, Sighting, TransferKind

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.host import BoxHost
    from orchestrator.hosts.ssh.sync import TaskSync
    from orchestrator.ports.box_link import MonitoredLink
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

EVERY: Final = 120.0
"""Seconds after which a box is looked at in any case (H13: every two minutes)."""

IDLE: Final = 5
"""Rounds without a run on the box, after which the connection is closed."""

DEAF: Final = 30.0
"""Seconds until another standing channel is tried if one ended although the box was not lost."""

CROWDED_EVERY: Final = 5.0
"""Seconds between looks at a box that allows too few sessions for a standing channel."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The connection to a box, and the means to work on one task there."""

    link: MonitoredLink
    host: BoxHost
    sync: Callable[[RemoteTask], TaskSync]
    channel: Callable[[list[RemoteTask]], EventChannel]


@dataclass
class HostMonitor:
    """Monitors one box. `post` sends a hint to the loop; `changed` is called when the box's believed state changes.

    Methods that only read or note something never block. `now` returns seconds since the epoch, `steady` seconds that
    never go back, `luck` a number from 0 to 1, `worked` the processor time spent so far. `pulled_at` is when everything
    was last fetched by a round without a failure; `rounds` counts completed rounds.
    """

    box: str
    ways: Ways
    files: Files
    post: Callable[[h.Hint], None]
    changed: Callable[[], None]
    now: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    luck: Callable[[], float] = random.random
    worked: Callable[[], float] = processor_time
    pulled_at: float = 0.0
    rounds: int = 0
    _remote_tasks: dict[str, tuple[RemoteTask, ...]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _listening_since: float = 0.0
    _listening: tuple[set[tuple[str, str]], ChannelListener] | None = None
    _due: float = 0.0
    _idle: int = 0
    _called_again: bool = False
    _closing: bool = False

    def __post_init__(self) -> None:
        """Begin."""
        self._changes = ChangeQueue(self.steady)
        self._sightings = RunSightings(self.ways.host, self.post, self.now)
        self._contact = HostHealth(self.box, self.ways.link, self._publish_belief, self.steady, self.luck)
        self.troubles = TransferFailures(self.now, self.steady, self.luck)
        self._bringing = Transfers(
            self.box, self.files, self.ways.sync, self.post, self.steady, self.troubles, self._is_kept
        )
        self._transcripts = RemoteTranscripts(self.ways.link, self.files)
        self.begin()

    def begin(self) -> None:
        """Start the thread. A simulation makes the rounds itself."""
        self._thread = threading.Thread(target=self._run, name=f"monitor {self.box}", daemon=True)
        self._thread.start()

    # For the deciding thread ----------------------------------------------------------------------

    @property
    def remote_tasks(self) -> tuple[RemoteTask, ...]:
        """Return what the tasks have on the box."""
        with self._lock:
            return tuple(
                remote_task for remote_tasks in self._remote_tasks.values() for remote_task in remote_tasks
            )

    @property
    def belief(self) -> Belief | None:
        """Return the believed state of the box, or None before the first try."""
        return self._contact.belief

    @property
    def state(self) -> State:
        """Return whether the box can be used, for `task hosts`."""
        return self._contact.state

    @property
    def floods(self) -> bool:
        """Return whether the box reports changes faster than they are handled."""
        listening = self._listening
        return listening is not None and listening[1].floods

    def belief_for(self, task: str) -> Belief | None:
        """Return the believed state of the box for a task's runs there; after a failed pull it is not known."""
        belief = self._contact.belief
        blind = [each for each in self.troubles.of(task) if each.pull is TransferKind.STEERING]
        if not blind or (belief is not None and not belief.reachable):
            return belief
        first = blind[0]
        why = f"{self.box} answers, but nothing could be fetched from it since {moment_said(first.since)}: {first.why}"
        return Belief(reachable=False, why=why, refused=first.is_pressing)

    def failing(self) -> list[dict[str, object]]:
        """Return what cannot be fetched, task by task, for `task hosts`."""
        names = {remote_task.task: remote_task.name for remote_task in self.remote_tasks}
        return [
            {
                "task": names[task],
                "task_id": task,
                "what": each.pull.value,
                "since": each.since,
                "why": each.why,
            }
            for task in sorted(names)
            for each in self.troubles.of(task)
        ]

    def keep(self, task: str, remote_tasks: tuple[RemoteTask, ...]) -> None:
        """Record what a task has on the box from now on."""
        with self._lock:
            if remote_tasks == self._remote_tasks.get(task, ()):
                return
            self._remote_tasks.pop(task, None)
            if remote_tasks:
                self._remote_tasks[task] = remote_tasks
        self.hurry()

    def seen(self, folder: Path) -> Sighting | None:
        """Return what was last seen of a run."""
        return self._sightings.seen(folder)

    def hurry(self) -> None:
        """Have the next round made at once."""
        self._changes.put(None)

    def call_again(self) -> None:
        """Retry a lost box; of one that answers failed transfers, and the standing channel if there is none."""
        self._called_again = True
        if self._contact.call_again() or self.troubles or (self._deaf and self.remote_tasks):
            self.hurry()

    def close(self) -> None:
        """Ask the thread to end, and close the connection with all transfers on it; runs on the box go on."""
        self._closing = True
        self.hurry()
        self.ways.link.end()

    def ended(self, patience: float) -> bool:
        """Return whether the thread ends within `patience` seconds."""
        self._thread.join(patience)
        return not self._thread.is_alive()

    # For the workers --------------------------------------------------------------------------------

    def prepare(self, remote_task: RemoteTask) -> None:
        """Make a task's folders on the box. Raises Refused, Unavailable."""
        self._bringing.prepare(remote_task)

    def idle(self, task: str) -> AbstractContextManager[None]:
        """Hold all transfers of a task back. Raises Unavailable: one is under way, and does not end soon."""
        return self._bringing.idle(task)

    # The thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            news = self._wait()
            if self._closing:
                break
            self.turn(news)
        self._stop_listening()

    def turn(self, news: set[ChannelEvent] | None) -> None:
        """Make a round, and handle its failure."""
        try:
            self._round(news)
        except (OrchestratorError, OSError) as error:
            self._fail(error)
        except Exception as error:
            log.exception("box %s: this should not happen", self.box)
            self._fail(error)

    def _wait(self) -> set[ChannelEvent] | None:
        """Wait until something is to be done, and return a burst of changes; None: everything may have changed."""
        changes = self._changes.take(self._next - self.steady())
        return None if self._contact.failures or self.steady() >= self._due else changes

    def _round(self, news: set[ChannelEvent] | None) -> None:
        """Ask for the runs, send and fetch: of everything, or of what changed; then schedule the next round."""
        remote_tasks = self.remote_tasks
        self._sightings.keep_only(remote_tasks)
        self._bringing.keep_only(remote_tasks)
        if not remote_tasks:
            self._rest()
            return
        self._idle, began, worked = 0, self.steady(), self.worked()
        if self._called_again:
            self._called_again = False
            self._listening_since = -math.inf
            self._bringing.call_again()
        self._contact.call_when_due()
        fit = [remote_task for remote_task in remote_tasks if self._bringing.is_ready(remote_task)]
        # Before looking, so that changes in between are reported.
        self._listen([remote_task for remote_task in fit if not self._bringing.hangs(remote_task)])
        seen = self._sightings.look(tasks_having(remote_tasks, news, Part.RUNS))
        if news is None:
            self._contact.reached()
        # Before the event of a turn's end, so that the turn's usage is read by then.
        self._copy_transcripts(folders_of(tasks_having(remote_tasks, news, Part.EVENTS, Part.RUNS)))
        more = advanced = False
        control = tasks_having(remote_tasks, news, Part.HANDOFFS, Part.EVENTS, Part.RUNS)
        # What hangs comes last.
        for remote_task in sorted(control, key=lambda each: bool(self.troubles.of(each.task))):
            control_pulled = self._bringing.pull_control(remote_task) if remote_task in fit else None
            whole = control_pulled is not None and not (control_pulled.ended or control_pulled.waits)
            if control_pulled is not None and whole:
                seen |= self._sightings.look_again(remote_task, control_pulled, seen)
            advanced |= self._sightings.publish(remote_task, seen, gone=whole)
            more |= control_pulled is not None and control_pulled.more
        now = self.steady()
        if news is None:
            self._due = now + self._patience
        if more:
            self._due = min(self._due, now + AGAIN)
        self._due = min(self._due, self.troubles.next_try(TransferKind.STEERING))
        # A run begins and ends once: however many there are, no flood is made of that, and none of it is to wait.
        # Children of others may have ended meanwhile: no more than the time that it took.
        if not advanced:
            self._changes.spend(min(now - began, self.worked() - worked))
        self._bringing.want(tasks_having(fit, news, Part.ARTIFACTS, Part.RUNS))
        self._bringing.pull_bulk(fit, self._changes.is_urgent, self._sightings.gone)
        if not self.troubles:
            self.pulled_at = self.now()
        self.rounds += 1
        self.changed()

    @property
    def _next(self) -> float:
        """When to do something next, by `steady`, if no change is reported."""
        return min(self._due, self._bringing.due)

    @property
    def _patience(self) -> float:
        """Seconds until everything is looked at again."""
        if self._contact.is_crowded:
            return CROWDED_EVERY
        return DEAF if self._deaf else EVERY

    def _rest(self) -> None:
        """Count a round without runs; after a few of them close the connection."""
        self._stop_listening()
        self._due = self.steady() + EVERY
        self._idle += 1
        # After that too, as windows of ended tasks are closed over it.
        if self._idle == IDLE or (self._idle > IDLE and self.ways.link.state().way is Way.REACHABLE):
            self.ways.link.close()

    def _copy_transcripts(self, folders: list[Path]) -> None:
        """Copy what was added to transcripts on the box since the last copy."""
        self._transcripts.copy(folders)

    def _fail(self, error: Exception) -> None:
        """Abandon the round that failed, and schedule the next one."""
        self._stop_listening(forget=is_lost(error))
        self._bringing.want_nothing()
        self._due = self.steady() + self._contact.failed(error)
        if not is_lost(error):
            self._bringing.all_failed(self.remote_tasks, str(error) or repr(error))

    def _is_kept(self, remote_task: RemoteTask) -> bool:
        """Return whether a task still has something in a place on the box, which may have ended during a round."""
        with self._lock:
            kept = self._remote_tasks.get(remote_task.task, ())
            return any(each.place == remote_task.place for each in kept)

    def _publish_belief(self) -> None:
        """Have every task look at the believed state of the box now."""
        for task in {remote_task.task for remote_task in self.remote_tasks}:
            self.post(h.BoxHint(task))
        self.changed()

    # The standing channel -------------------------------------------------------------------------

    def _listen(self, remote_tasks: list[RemoteTask]) -> None:
        """Listen for changes in the folders of these tasks; without a channel, rounds come by schedule."""
        keys, now = {(remote_task.task, remote_task.place) for remote_task in remote_tasks}, self.steady()
        same = self._listening is not None and self._listening[0] == keys
        if same and (not self._deaf or now - self._listening_since < DEAF):
            return
        self._stop_listening()
        if remote_tasks and not self._contact.is_crowded:
            self._listening_since = now
            self._listening = keys, ChannelListener(self.ways.channel(remote_tasks), self._changes.put)

    @property
    def _deaf(self) -> bool:
        """Return whether no channel reports changes on the box."""
        listening = self._listening  # another thread may end it
        return listening is None or listening[1].ended

    def _stop_listening(self, *, forget: bool = True) -> None:
        """End the channel; if it is not forgotten, the next one waits its time, as after one that ended."""
        if self._listening is not None:
            self._listening[1].close()
            self._listening = None if forget else self._listening
