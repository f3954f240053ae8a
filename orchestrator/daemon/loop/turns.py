"""The loop: one thread takes hints, looks, decides, journals, and has actions carried out.

It reads as one turn: handle the hints, handle what is due, update the projections. Everything that waits for the
outside world is done by worker threads, and comes back as a hint.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.commands.commands import Commands
from orchestrator.daemon.core import hints as h
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.ingest import requests
from orchestrator.daemon.journal.store import PASSING_TROUBLE
from orchestrator.daemon.loop.hint_handling import follow
from orchestrator.daemon.process.clock_drift import Drift, Moved
from orchestrator.daemon.retention.passivation import PassiveTasks
from orchestrator.daemon.retention.task_removal import leaves, let_go
from orchestrator.daemon.task import Task
from orchestrator.extensions import missing_for_state
from orchestrator.formats.scarcity import cause_of, no_thread
from orchestrator.model.errors import BadName, JournalFailed, OrchestratorError, Refused
from orchestrator.model.facts import ClockMoved
from orchestrator.pm.state.transitions import IllegalMove

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.notification import Notification
    from orchestrator.workspaces.leases import Lease

log = logging.getLogger(__name__)

HINTS_PER_TURN: Final = 1000


@dataclass(slots=True)
class Loop:
    """All tasks of this user, and the queue of hints.

    `watch` has a task's files watched, `beat` shows that the loop turns, `rescanned` is called after each rescan,
    `clock_moved` when the machine slept or its clock was set, `passivated` when a task became passive, `let_go` when
    one is deleted or archived. `tasks` are those that are open; the others are `passive`. `opened` is true once all
    tasks were opened: before that, nobody knows who works where.
    """

    context: Context
    watch: Callable[[Task], None]
    beat: Callable[[], None]
    hints: SimpleQueue[h.Hint]
    rescanned: Callable[[], None] = lambda: None
    clock_moved: Callable[[], None] = lambda: None
    passivated: Callable[[Task], None] = lambda _: None
    let_go: Callable[[Task], None] = lambda _: None
    tasks: dict[str, Task] = field(default_factory=dict)
    passive: PassiveTasks = field(init=False)
    opened: bool = False
    stopping: bool = False
    _refused: dict[str, str] = field(default_factory=dict)
    _drift: Drift = field(init=False)
    _commands: Commands = field(init=False)

    def __post_init__(self) -> None:
        """Remember how the clocks stand, and connect the notifier to the open questions."""
        self._drift = Drift(self.context.clock)
        self.passive = PassiveTasks(self.context.adapters.files)
        self._commands = Commands(self.context, self.tasks, self._let_go, self.watch)
        self.context.desk.asks = self._asks

    def open(self) -> None:
        """Open every task that is not passivated, and recover it.

        A task that has long been over is passivated before the next is opened: there may be more tasks than open files.

        Raises:
            OSError: the PM's own folder cannot be read now.

        """
        homes = layout.task_homes(self.context.state_folder)
        self.context.adapters.files.make_folder(homes)
        for entry in sorted(self.context.adapters.files.entries(homes), key=lambda each: each.name):
            if not (entry.is_file or entry.name in self.tasks or self.passive.keeps(homes / entry.name)):
                task = self._opened(entry.name)
                if task is not None and task.rests:
                    self._guarded(task, partial(task.show, now=True))
                    self._guarded(task, partial(self._passivate_if_over, task))
        if not self.opened:
            self.opened = True
            for task in list(self.tasks.values()):
                if task.begun:
                    self._guarded(task, task.see_what_is_due)  # launches waited for this
        self.context.desk.look()

    def turn(self, timeout: float | None = None) -> None:
        """Take one turn: wait at most `timeout` seconds for a hint, handle all hints, handle what is due.

        A burst of equal hints is one look. Clock changes are handled before anything else, and lead to one check-in.
        """
        waiting = self._waiting(timeout)
        if (moved := self._drift.look()) is not None:
            waiting.appendleft(h.CheckIn())
            self._set_by(moved)
        for hint in dict.fromkeys(waiting):
            self._take(hint)
        for task in list(self.tasks.values()):
            if task.rested:
                self._guarded(task, task.recover)
            if task.begun:
                self._guarded(task, task.see_what_is_due)
        self.context.desk.see_what_is_due()
        for task in list(self.tasks.values()):
            self._guarded(task, task.show)

    def wake_at(self) -> float | None:
        """Return when something is due next, by the wall clock; None if only a hint can bring something."""
        moments = [at for task in self.tasks.values() if task.begun and (at := task.wake_at()) is not None]
        if (notify_at := self.context.desk.wake_at()) is not None:
            moments.append(notify_at)
        return min(moments, default=None)

    def leases(self) -> list[Lease] | None:
        """Return what the live runs of all tasks hold or wait for; None while not all tasks were opened."""
        if not self.opened:
            return None
        return [lease for task in self.tasks.values() if task.begun for lease in task.leases()]

    def close(self) -> None:
        """Write the projections, and close every file. Runs go on; the next daemon finds them."""
        for task in self.tasks.values():
            self._guarded(task, partial(task.show, now=True))
            task.close()

    def _waiting(self, timeout: float | None) -> deque[h.Hint]:
        taken: deque[h.Hint] = deque()
        try:
            taken.append(self.hints.get(timeout=timeout) if timeout != 0 else self.hints.get_nowait())
            while len(taken) < HINTS_PER_TURN:
                taken.append(self.hints.get_nowait())
        except Empty:
            pass
        return taken

    def _set_by(self, moved: Moved) -> None:
        """Tell every task of time in which nobody worked, or that did not pass."""
        log.warning("asleep for %.0f s, the clock set by %.0f s: checking in once", moved.slept, moved.put)
        self.clock_moved()
        for task in list(self.tasks.values()):
            if task.begun:
                at, nonce = self.context.clock.now(), self.context.nonce()
                fact = ClockMoved(at, nonce, slept=moved.slept, put=moved.put)
                self._guarded(task, partial(task.feed, fact))

    def _take(self, hint: h.Hint) -> None:
        match hint:
            case h.Stop():
                self.stopping = True
            case h.Beat():
                _patiently(self.beat)
            case h.NotificationHint():
                pass  # the turn itself asks the notifier for its next deadline
            case h.SharedArchiveHint(handoff=handoff):
                self._follow_handoff(handoff)
            case h.CheckIn():
                self._passivate_idle_tasks()
                for task in list(self.tasks.values()):
                    if task.begun:
                        self._guarded(task, task.check_in)
            case h.Rescan():
                _patiently(self.beat)
                _patiently(self.open)
                for task in list(self.tasks.values()):
                    self._guarded(task, partial(self.watch, task))
                    if task.begun:
                        self._guarded(task, task.keep)
                        self._guarded(task, task.see_everything)
                        self._guarded(task, task.act_again)
                    self._guarded(task, partial(self._hear, task))
                self.rescanned()
            case _:
                found = self._opened(hint.task)
                if found is not None:
                    self._guarded(found, partial(self._follow, found, hint))

    def _follow(self, task: Task, hint: h.TaskHint) -> None:
        if isinstance(hint, h.RequestHint):
            self._hear(task)
        else:
            follow(task, hint)

    def _follow_handoff(self, handoff: str) -> None:
        """Have the task look whose handoff it is. One that is not open looks when it is opened."""
        for task in [each for each in self.tasks.values() if handoff in each.engine.state.handoffs]:
            self._guarded(task, partial(follow, task, h.ArchiveHint(task.id, handoff)))

    def _opened(self, name: str) -> Task | None:
        """Open a task's journal and recover the task; None if there is no such task."""
        if name in self.tasks:
            return self.tasks[name]
        try:
            home = layout.task_home(self.context.state_folder, name)
            entry = self.context.adapters.files.entry(home)
            if entry is None or entry.is_file:
                return None
            if leaves(self.context.adapters.files, home):
                self._refuse(home, f"{name} is being removed: `task delete {name}` continues that")
                return None
            task = Task(self.context, home)
        except BadName:
            return None  # not a task
        except Refused as error:
            self._refuse(home, str(error))
            return None
        except (OrchestratorError, OSError):
            log.exception("task %s could not be opened", name)
            return None
        missing = "" if task.rests else missing_for_state(task.engine.state)
        if missing and not self._commands.is_to_stop(home):
            task.close()
            self._refuse(home, f"{name} cannot go on: {missing}. Or stop it: `task stop {name}`")
            return None
        self._refused.pop(name, None)
        self.passive.take(name)
        self.tasks[name] = task
        if task.begun:
            task.template = self._commands.template(task)
        self._guarded(task, partial(self.watch, task))
        self._guarded(task, task.recover)
        self._guarded(task, partial(self._hear, task))
        if name not in self.tasks:  # it was only opened to be removed
            return None
        self._guarded(task, task.show)
        return task

    def _let_go(self, task: Task, why: str) -> str:
        """Close a task that its user deletes or archives, and return the reply. Raises Refused."""
        reply = let_go(self.context, task, why)
        del self.tasks[task.id]
        self.let_go(task)
        return reply

    def _passivate_idle_tasks(self) -> None:
        """Passivate the tasks that are over and long quiet, and check a few passive ones."""
        old = self.passive.to_look_through(self.context.clock.monotonic())
        for task in list(self.tasks.values()):
            self._guarded(task, partial(self._passivate_if_over, task))
        for name in old:
            self._opened(name)

    def _passivate_if_over(self, task: Task) -> None:
        settings, clock = self.context.adapters.settings, self.context.clock
        patience = max(settings.daemon.passivate_after, settings.logs.pack_after)
        if not task.is_over or clock.now() - task.engine.journaled_at < patience:
            return
        if requests.waiting(self.context.adapters.files, task.home):
            return
        self.passive.put(task, clock.monotonic())
        task.close()
        del self.tasks[task.id]
        self.passivated(task)

    def _refuse(self, home: Path, reason: str) -> None:
        """Leave a task alone whose files cannot be trusted: say so once, and in reply to each request."""
        if self._refused.get(home.name) != reason:
            self._refused[home.name] = reason
            log.error("task %s is not opened: %s", home.name, reason)
        files = self.context.adapters.files
        with suppress(OrchestratorError, OSError):
            for name in requests.waiting(files, home):
                requests.answer(files, home, name, ok=False, message=reason)

    def _asks(self, news: Notification) -> bool:
        """Return whether a question still waits for its answer. Called by the thread that sends notifications."""
        task = self.tasks.get(news.task)
        if task is None:
            home = layout.task_home(self.context.state_folder, news.task)
            files = self.context.adapters.files  # a deleted task asks nothing
            return news.task not in self.passive and files.entry(home) is not None and not leaves(files, home)
        question = task.engine.state.questions.get(news.question)
        return question is not None and question.open and question.asked_at == news.at

    def _hear(self, task: Task) -> None:
        """Handle the requests that wait for a task, oldest first."""
        files = self.context.adapters.files
        for name in requests.waiting(files, task.home):
            if task.id in self.tasks:
                self._guarded(task, partial(self._commands.answer, task, name))

    def _guarded(self, task: Task, work: Callable[[], object]) -> None:
        """Do something for one task; what goes wrong there must not stop the others.

        A full disk or too many open files let the task rest for a while. `JournalFailed` ends the daemon.
        """
        if task.troubled:
            return
        try:
            work()
        except JournalFailed:
            raise
        except IllegalMove:
            log.exception("task %s: a rule erred; nothing was changed", task.id)
        except OrchestratorError as error:
            log.warning("task %s: %s", task.id, error)
        except OSError as error:
            if error.errno in PASSING_TROUBLE:
                self._rest(task, error)
            else:
                log.exception("task %s: the disk failed", task.id)
        except Exception as error:
            if (scarce := no_thread(error)) is not None:
                self._rest(task, scarce)
                return
            log.exception("task %s rests: this should not happen", task.id)
            task.engine.say("an unexpected error occurred: see the daemon's log; the task pauses")
            task.rest()

    def _rest(self, task: Task, error: OSError) -> None:
        """Let a task rest until the system has room again, and report what it lacked."""
        log.error("task %s pauses: %s; it goes on when there is room", task.id, cause_of(error))
        task.rest()
        name = task.engine.state.name or task.id
        text = f"{cause_of(error)}. It goes on by itself when there is room."
        self.context.desk.report(f"rests {task.id}", f"{name} pauses", text)


def _patiently(work: Callable[[], object]) -> None:
    """Do something that belongs to no task; if the system cannot do it now, it is done the next time."""
    try:
        work()
    except OSError as error:
        if error.errno not in PASSING_TROUBLE:
            raise
        log.error("the PM's own folder: %s; it goes on when there is room", error)  # noqa: TRY400
