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
from orchestrator.daemon import start
from orchestrator.daemon.core import hints as h
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.ingest import requests
from orchestrator.daemon.journal.store import PASSING_TROUBLE
from orchestrator.daemon.process.clock_drift import Drift, Moved
from orchestrator.daemon.process.orphans import Orphans
from orchestrator.daemon.retention.passivation import PassiveTasks
from orchestrator.daemon.retention.task_removal import leaves, let_go
from orchestrator.daemon.task import Task
from orchestrator.extensions import missing_for_state
from orchestrator.formats.scarcity import cause_of, no_thread
from orchestrator.model.errors import BadName, JournalFailed, OrchestratorError, Refused, Unconfirmed
from orchestrator.model.facts import Answered, ClockMoved, LaunchFailed, RebaseAsked, SpawnAsked, StopAsked
from orchestrator.pm.state.transitions import IllegalMove

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.agents import Agent
    from orchestrator.model.facts import Fact
    from orchestrator.model.notification import Notification
    from orchestrator.pm.state.draft import Decision

log = logging.getLogger(__name__)

HINTS_PER_TURN: Final = 1000


@dataclass(slots=True)
class Loop:
    """All tasks of this user, and the queue of hints.

    `watch` has a task's files watched, `beat` shows that the loop turns, `rescanned` is called after each rescan,
    `clock_moved` when the machine slept or its clock was set, `passivated` when a task became passive, `let_go` when
    one is deleted or archived. `tasks` are those that are open; the others are `passive`.
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
    stopping: bool = False
    _refused: dict[str, str] = field(default_factory=dict)
    _drift: Drift = field(init=False)
    _orphans: Orphans = field(init=False)

    def __post_init__(self) -> None:
        """Remember how the clocks stand, and connect the notifier to the open questions."""
        self._drift = Drift(self.context.clock)
        self._orphans = Orphans(self.context)
        self.passive = PassiveTasks(self.context.adapters.files)
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
                    self._guarded(found, partial(self._look, found, hint))

    def _look(self, task: Task, hint: h.TaskHint) -> None:  # noqa: C901, PLR0912 (a case per hint)
        match hint:
            case h.RequestHint():
                self._hear(task)
            case _ if not task.begun:
                return
            case h.HandoffHint(name=name):
                task.see_reports(name)
                task.show(name)
            case h.OutboxHint():
                task.see_outboxes()
            case h.RunHint(run=run):
                task.see_run(run)
            case h.OutcomeHint(fact=fact):
                if fact is not None:
                    try:
                        task.feed(fact)
                    finally:
                        task.doing.heard(fact)
                    if isinstance(fact, LaunchFailed):  # for want of its folders, perhaps
                        task.see_folder()
            case h.TreeHint():
                task.see_trees()
            case h.BoxHint():
                task.see_boxes()
            case h.SayHint(text=text):
                task.engine.say(text)
            case h.EventHint():
                task.see_events()
            case h.BriefHint():
                task.see_brief()
            case h.ArtifactHint(path=path):
                task.show(f"artifacts/{path}")

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
        if missing and not self._is_to_stop(home):
            task.close()
            self._refuse(home, f"{name} cannot go on: {missing}. Or stop it: `task stop {name}`")
            return None
        self._refused.pop(name, None)
        self.passive.take(name)
        self.tasks[name] = task
        if task.begun:
            task.template = self._template(task)
        self._guarded(task, partial(self.watch, task))
        self._guarded(task, task.recover)
        self._guarded(task, partial(self._hear, task))
        if name not in self.tasks:  # it was only opened to be removed
            return None
        self._guarded(task, task.show)
        return task

    def _is_to_stop(self, home: Path) -> bool:
        """Return whether the user has asked to stop a task, which needs nothing of its plan."""
        files = self.context.adapters.files
        for name in requests.waiting(files, home):
            with suppress(OrchestratorError):  # an invalid request is answered once the task is open
                if requests.read_request(files, home, name).verb == "stop":
                    return True
        return False

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
                self._guarded(task, partial(self._answer, task, name))

    def _answer(self, task: Task, name: str) -> None:
        files = self.context.adapters.files
        try:
            task.keep()  # nothing would be kept in a folder that was deleted
            request = requests.read_request(files, task.home, name)
            message = self._granted(task, request)
            if message is None:  # it is handled again when a worker has done its part
                return
            requests.answer(files, task.home, name, ok=True, message=message)
        except JournalFailed:  # no refusal: it may be written, and the next daemon handles it again
            raise
        except OrchestratorError as error:
            confirm = error.confirm if isinstance(error, Unconfirmed) else ""
            requests.answer(files, task.home, name, ok=False, message=str(error), confirm=confirm)

    def _granted(self, task: Task, request: requests.Request) -> str | None:
        """Do what a request asks for and return the reply; None if it must wait. Raises Refused."""
        arguments, at = request.arguments, self.context.clock.now()
        if request.verb == "release":
            return self._let_go(task, arguments.get("why", ""))
        if request.verb != "start" and not task.begun:
            raise Refused(f"{task.id} was never started")
        fact: Fact
        match request.verb:
            case "start":
                self.context.adapters.boxes.call_again()  # the cause of a failure may be fixed
                given = tuple(arguments.get(word, "") for word in ("project", "name", "unfit", "confirmed"))
                self._refuse_twin(task, *given[:2])
                states = [each.engine.state for each in self.tasks.values() if each.begun]
                fact = start.started(self.context, task, start.StartRequest(request.id, *given), states)
            case "stop":
                fact = StopAsked(at, request.id)
            case "answer":
                self.context.adapters.boxes.call_again()  # the question may have been about a box that is fixed now
                text = arguments.get("text", "")
                question = arguments.get("question", "")
                task.see_last_words(question)
                task.make_folder_again(question, text)
                skills = start.skills_of(self.context, Path(task.engine.state.project)).found
                fact = Answered(at, self.context.nonce(), request.id, question, text, skills)
            case "spawn":
                agent = self._agent(task, arguments.get("agent", ""))
                instructions = arguments.get("instructions", "")
                fact = SpawnAsked(at, self.context.nonce(), request.id, agent, instructions)
            case "rebase":
                base, old, new = (arguments.get(word, "") for word in ("base", "old", "new"))
                commits = _pairs(arguments.get("commits", ""))
                fact = RebaseAsked(at, self.context.nonce(), request.id, base, old, new, commits)
            case "checkin":
                self.context.adapters.boxes.call_again()  # the user may ask because something was fixed
                task.check_in(asked=True)
                task.act_again()
                task.show(now=True)
                return f"{task.engine.state.name} was checked: {task.engine.state.state}"
            case verb:
                raise Refused(f"there is no request {verb[:40]!a}")
        was_begun = task.begun
        ended = "" if was_begun else self._end_unknown(task, Path(arguments["project"]), arguments["name"])
        if ended is None:
            return None
        decision = task.feed(fact)
        if not was_begun:
            task.template = self._template(task)
        self.watch(task)
        task.show(now=True)
        return f"{_reply(decision)}{ended}"

    def _end_unknown(self, task: Task, project: Path, name: str) -> str | None:
        """End what works for a task that is to begin, and that no journal knows; return a sentence for the user.

        None while it ends.

        Raises Refused: another daemon of this user knows it.
        """
        task.end_strangers()
        folder = layout.task_folder(project, name)
        known = {run for each in self.tasks.values() for run in each.engine.state.runs}
        ended = self._orphans.end(task.id, folder, known)
        if ended is None:
            return None
        for each in ended:
            log.warning("task %s: run %s is in no journal and is ended", task.id, each)
            task.engine.say(f"run {each} worked for {name} and is in no journal: it was ended")
        return f"; ended what worked for it and is in no journal: {', '.join(ended)}" if ended else ""

    def _refuse_twin(self, task: Task, project: str, name: str) -> None:
        """Refuse to begin a task while one of the same name is at work whose own folder was deleted. Raises Refused.

        The caller found nothing there. That folder is written anew now, and will be found the next time.
        """
        for each in self.tasks.values():
            known = each.engine.state
            if task.begun or each.rests or (known.project, known.name) != (project, name):
                continue
            each.keep()
            each.show(now=True)
            raise Refused(
                f"{name} is at work as {each.id}; its own folder was deleted and is being restored: try again"
            )

    def _agent(self, task: Task, name: str) -> Agent:
        state = task.engine.state
        found = state.agents.get(name)
        if found is None:
            found = start.roster(self.context, Path(state.project), state.brief).agents.get(name)
        if found is None:
            raise Refused(f"there is no agent {name[:64]!a}: `task setup-agents` writes those that ship")
        return found

    def _template(self, task: Task) -> Path | None:
        try:
            return start.template_of(self.context, task.engine.state.brief)
        except Refused as error:
            task.engine.say(f"its template is gone: {error}")
            return None

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


def _pairs(text: str) -> dict[str, str]:
    """Return the lines of a text as pairs of words; the second word may be missing."""
    return {old: new for old, _, new in (line.partition(" ") for line in text.splitlines())}


def _reply(decision: Decision | None) -> str:
    if decision is None:
        return ""
    if decision.confirm:
        raise Unconfirmed(decision.reply, decision.confirm)
    if decision.refused:
        raise Refused(decision.reply)
    return decision.reply
