"""The invariants of a world: checked after each fact, after each turn, after each restart, and at the end."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.boxes.host_monitor import EVERY
from orchestrator.daemon.journal.store import Journal
from orchestrator.model.notification import NotificationRule
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Life
from orchestrator.model.task import TaskState
from orchestrator.pm.policies.notifications import question_news
from orchestrator.pm.policies.stalls import LOOKS
from tests.simulation.engine.audit import Audit
from tests.simulation.engine.box_leftovers import left_there
from tests.simulation.engine.branch import Branch
from tests.simulation.engine.handoff_accounting import ordered_twice, unread_reports
from tests.simulation.engine.law import Broken, Finding, Law, findings
from tests.simulation.engine.laws import lasting_laws, overdue
from tests.simulation.engine.ledger import Ledger
from tests.simulation.engine.pages import Pages
from tests.simulation.engine.removal import come_back, left_behind
from tests.simulation.engine.reports import reported_otherwise
from tests.simulation.engine.role_laws import RoleLaws
from tests.simulation.engine.role_tasks import RoleTask
from tests.simulation.engine.skill_laws import SkillLaws
from tests.simulation.engine.skill_tasks import SkillTask
from tests.simulation.engine.workflow_laws import WorkflowLaws
from tests.simulation.engine.workflow_tasks import WorkflowTask

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.task import Task
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.testing.fake_process import FakeProcess
    from tests.simulation.engine.user_task import UserTask
    from tests.simulation.engine.world import World

LONG: Final = 4 * 86_400.0
"""Seconds after which the user must have heard of a question, whatever clocks, disks and networks did."""

REPLY_WITHIN: Final = 3600.0
"""Seconds within which a daemon that is up and has no trouble with its disk replies to each request."""

ENDED = frozenset({TaskState.COMPLETE, TaskState.PARTIAL, TaskState.FAILED, TaskState.STOPPED})


KNOWN_BY: Final = 3 * EVERY
"""Seconds after which the daemon knows that it cannot fetch anything from a box: a scheduled round tried it."""


@dataclass(slots=True)
class Watched:
    """One task, with the audit of its journal, its pages and its branch.

    boot: the life of the daemon in which the audit last read the whole journal. known: the state that the daemon had
    at the last check. open: the actions without an outcome, and since when. noted: how much of the journal is counted
    in the days of the world: lines, runs and handoffs.
    """

    user_task: UserTask
    audit: Audit
    pages: Pages
    branch: Branch
    workflow: WorkflowLaws | None = None
    roles: RoleLaws | None = None
    skill: SkillLaws | None = None
    boot: int = 0
    known: PMState | None = None
    open: dict[str, float] = field(default_factory=dict)
    noted: tuple[int, int, int] = (0, 0, 0)


@dataclass(slots=True)
class Invariants:
    """Checks a world. The daemon must know, show and do what the journal on the disk says."""

    world: World
    tasks: list[Watched] = field(default_factory=list)
    _journals: dict[Path, Watched] = field(default_factory=dict)
    _found: list[Finding] = field(default_factory=list)
    _received: int = 0
    _started: int = 0

    def begin(self) -> None:
        """Check from now on."""
        for user_task in self.world.user_tasks:
            branch = Branch(self.world.workspaces, user_task)
            audit = Audit(Ledger(self.world.settings.limits))
            watched = Watched(user_task, audit, Pages(self.world, user_task), branch)
            if isinstance(user_task, WorkflowTask):
                watched.workflow = WorkflowLaws(self.world, user_task)
                audit.also.append(watched.workflow.enter)
            if isinstance(user_task, RoleTask):
                watched.roles = RoleLaws(self.world, user_task)
                audit.also.append(watched.roles.enter)
            if isinstance(user_task, SkillTask):
                watched.skill = SkillLaws(self.world, user_task)
                audit.also.append(watched.skill.enter)
            self.tasks.append(watched)
            self._journals[layout.task_journal(user_task.home)] = watched
        self.world.files.appended = self._appended
        for box in self.world.boxes.values():
            box.host.signalled = self._signalled
        self.world.after_turns.append(self.after_turn)

    # After every fact -----------------------------------------------------------------------------

    def _appended(self, path: Path, line: bytes) -> None:
        """A line is durable: check the fact, the decision, and the state that follows."""
        watched = self._journals.get(path.parent)
        if watched is None or path.suffix != ".jsonl":
            return
        audit = watched.audit
        if watched.boot == self.world.daemon.boots and audit.knows(path.name):
            audit.take(path.name, line)
        else:
            self._read_on(watched)
        self._note(watched)
        found = [*lasting_laws(audit.state, self.world.settings.limits), *audit.broken]
        found += self._silenced(audit) + self._stalled(audit) + self._declared_gone(watched)
        self._found += [each.about(f"{watched.user_task.id}, line {audit.lines}") for each in found]

    def _note(self, watched: Watched) -> None:
        """Count for the current day what was added to the journal."""
        audit, today = watched.audit, self.world.days.today
        lines, runs, taken = watched.noted
        ledger = audit.ledger
        watched.noted = audit.lines, len(ledger.alive), len(ledger.taken)
        today.decisions += watched.noted[0] - lines
        today.runs += watched.noted[1] - runs
        today.deliveries += watched.noted[2] - taken

    def _signalled(self, process: FakeProcess) -> None:
        """The daemon ends an agent only after that was decided."""
        for watched in self.tasks:
            run = watched.audit.state.runs.get(process.run)
            if run is None or not run.live or run.ending is not Ending.NOT:
                continue
            lived = self.world.clock.monotonic() - process.began
            text = f"run {run.id} was ended after {lived:.0f} s, though that was not decided"
            self._found.append(Finding(Law.ENDED_BY_DECISION, text))

    def _silenced(self, audit: Audit) -> list[Finding]:
        """A run that shows progress is not ended for inactivity, however long the machine slept.

        A run that never confirmed its order has less time. A run on a box is not ended while nothing can be fetched
        from there, since its silence proves nothing.
        """
        ended, audit.ledger.silenced = audit.ledger.silenced, []
        now, limits, found = self.world.clock.monotonic(), self.world.settings.limits, list[str]()
        for run in [audit.state.runs[each] for each in ended if audit.state.runs[each].on_box]:
            since = self.world.boxes[run.host].hindered_since
            if since is not None and now - since > KNOWN_BY:
                found.append(
                    f"{run.id} was ended as silent, {now - since:.0f} s after {run.host} sent nothing"
                )
        for run in [audit.state.runs[each] for each in ended if each in self.world.shared.signs]:
            since = now - self.world.shared.signs[run.id]
            unconfirmed = run.receipts and run.delivery is None
            if since < (limits.receipt_timeout if unconfirmed else limits.inactivity_timeout) - 1:
                found.append(f"{run.id} was ended as silent after {since:.0f} s")
        return findings(Law.AT_WORK, found)

    def _stalled(self, audit: Audit) -> list[Finding]:
        """A run whose model answers, however slowly, is not ended as stalled."""
        ended, audit.ledger.stalled = audit.ledger.stalled, []
        now, answered = self.world.clock.monotonic(), self.world.shared.answered
        late = [(run, now - answered[run]) for run in ended if run in answered]
        least = self.world.settings.limits.stall_timeout / LOOKS - 1
        found = (f"{run} was ended as stalled after {since:.0f} s" for run, since in late if since < least)
        return findings(Law.ANSWERED, found)

    def _declared_gone(self, watched: Watched) -> list[Finding]:
        """A run is not declared gone before its last report was read (law 5)."""
        gone, watched.audit.ledger.declared_gone = watched.audit.ledger.declared_gone, []
        return unread_reports(self.world, watched.user_task, watched.audit, gone)

    def _read_on(self, watched: Watched) -> None:
        """Read the journal: a new segment has begun, or a kill left lines that are still unread."""
        watched.boot = self.world.daemon.boots
        watched.audit.read(self.world.files, watched.user_task.home)

    # After every turn -----------------------------------------------------------------------------

    def after_turn(self) -> None:
        """Check what is cheap to look at. Raises Broken."""
        world = self.world
        found = [*self._found, *world.complaints, *world.shared.found]
        for host in world.hosts:
            found += findings(Law.ONE_LIFE, host.doubled) + findings(Law.TYPED_ONCE, host.typed_again)
        found += self._notified_once()
        open_ = world.tasks()
        for watched in self.tasks:
            found += watched.branch.moved()
            found += [each.about(watched.user_task.id) for each in watched.branch.foreign(watched.audit)]
            if (task := open_.get(watched.user_task.id)) is not None:
                found += self._of_task(watched, task)
        found += self._unknown() + self._unanswered() + come_back(world)
        if found:
            raise Broken(found[:10])

    def _of_task(self, watched: Watched, task: Task) -> list[Finding]:
        state, audit = task.engine.state, watched.audit
        if watched.boot != self.world.daemon.boots:
            self._read_on(watched)
        found = list[Finding]()
        if state is not watched.known:
            watched.known = state
            found += _forgotten(state, task.engine.lines, audit)
            parked = state.steps.among(state.steps.pausing)
            found += findings(Law.LIMIT, filter(None, map(self.world.service.overslept, parked)))
            now = self.world.clock.monotonic()
            watched.open = {action: watched.open.get(action, now) for action in state.outbox}
        if self.world.boxes:
            watched.open |= dict.fromkeys(self._held_up(state), self.world.clock.monotonic())
            if not task.troubled:
                found += overdue(state, self.world.settings.limits, self.world.clock.now())
        if not task.troubled and not task.behind:
            found += watched.pages.differ(state)
        found += self._undone(watched)
        return [each.about(watched.user_task.id) for each in found]

    def _held_up(self, state: PMState) -> list[str]:
        """Return the actions that cannot be carried out now, since the run is on a box that is lost or lacks its disk.

        The same holds while a person is asked whether a run is gone, whose files on its box were wiped.
        """
        asked = {each.run for each in state.open_questions if each.kind is QuestionKind.TERMINATION}
        found = []
        for name, action in state.outbox.items():
            run = state.runs.get(getattr(action, "run", ""))
            if run is not None and run.on_box:
                box = self.world.boxes[run.host]
                if run.life is Life.UNREACHABLE or box.emptied or run.id in asked:
                    found.append(name)
        return found

    def _undone(self, watched: Watched) -> list[Finding]:
        """Each action is carried out or given up within the longest time that one may wait for a lease."""
        if not watched.open:
            return []
        most = 2 * self.world.settings.limits.max_run_time
        late = self.world.clock.monotonic() - most
        return [
            Finding(Law.ACTION_DONE, f"action {action} is open for {most} s")
            for action, since in watched.open.items()
            if since < late
        ]

    def _unknown(self) -> list[Finding]:
        """No agent is started whose run no journal has. After a kill, the journal is read once the daemon is back."""
        if self.world.daemon.loop is None:
            return []
        started = [run for host in self.world.hosts for run in host.started]
        new = started if len(self.world.hosts) > 1 else started[self._started :]
        self._started = len(started)
        return [
            Finding(Law.JOURNAL_FIRST, f"{run} was started, and no journal knows of it")
            for run in new
            if not any(run in watched.audit.ledger.opened for watched in self.tasks)
        ]

    def _unanswered(self) -> list[Finding]:
        """Each request gets a reply soon, also if no watcher saw it: rescans find it."""
        world = self.world
        late = world.clock.monotonic() - REPLY_WITHIN
        if world.daemon.loop is None or max(world.daemon.booted_at, world.trouble_at) > late:
            return []
        waiting = takewhile(lambda request: world.waiting[request] < late, world.waiting)
        text = f"has no reply after {REPLY_WITHIN:.0f} s"
        lacking = (f"request {request} {text}" for request in waiting if not world.has_reply(request))
        return findings(Law.REQUEST_ANSWERED, lacking)

    def _notified_once(self) -> list[Finding]:
        """Each notification is sent once; only a question may be sent again, under the same id (law 4)."""
        received = self.world.phone.received
        if received.total() == self._received:
            return []
        self._received = received.total()
        return [
            Finding(Law.NOTIFIED_ONCE, f"{about} was notified {times} times")
            for about, times in received.items()
            if times > 1 and not about.startswith(NotificationRule.QUESTION)
        ]

    # When all is over -----------------------------------------------------------------------------

    def at_end(self) -> None:
        """Check the whole history. Raises Broken."""
        self.after_turn()
        self.world.take_replies()
        found = findings(
            Law.NOTHING_LEFT, (f"run {process.run} still lives" for process in self.world.living)
        )
        left = [process for host in self.world.hosts for process in host.left]
        found += findings(
            Law.NOTHING_LEFT, (f"what run {process.run} left behind still lives" for process in left)
        )
        unanswered = (f"request {request} was never answered" for request in sorted(self.world.waiting))
        found += findings(Law.REQUEST_ANSWERED, unanswered)
        found += left_behind(self.world)
        for watched in self.tasks:
            if watched.user_task.id not in self.world.deleted:
                found += [each.about(watched.user_task.id) for each in self._history(watched)]
        if found:
            raise Broken(found[:10])

    def _history(self, watched: Watched) -> list[Finding]:
        user_task, audit, files = watched.user_task, watched.audit, self.world.files
        self._read_on(watched)
        found = list(audit.broken)
        if watched.workflow is not None:
            found += watched.workflow.shown(audit.state)
        if watched.roles is not None:
            found += watched.roles.shown(audit.state)
        if watched.skill is not None:
            found += watched.skill.shown(audit.state)
        reopened = Journal(files, layout.task_journal(user_task.home))
        if reopened.state != audit.state:
            found.append(
                Finding(Law.JOURNAL_KEPT, "the journal does not fold to the state that it opens with")
            )
        reopened.close()
        if not self._is_known(user_task, audit.state):
            found.append(
                Finding(Law.JOURNAL_FIRST, "the journal does not fold to the state that the daemon has")
            )
        if audit.state.state not in ENDED:
            found.append(Finding(Law.ENDS, f"it is {audit.state.state} at the end"))
        return (
            found
            + unread_reports(self.world, user_task, audit, list(audit.state.runs))
            + ordered_twice(self.world, user_task)
            + watched.branch.unmerged(audit)
            + left_there(self.world, user_task, audit)
            + self._unnotified(audit)
            + reported_otherwise(self.world, user_task)
        )

    def _is_known(self, user_task: UserTask, state: PMState) -> bool:
        """Return whether the daemon has a task in this state. A passive task that is over is known by its journal."""
        loop, task = self.world.daemon.loop, self.world.tasks().get(user_task.id)
        if task is not None:
            return task.engine.state == state
        over = state.state in ENDED and not (state.outbox or state.live_runs or state.open_questions)
        return over and loop is not None and user_task.id in loop.passive

    def _unnotified(self, audit: Audit) -> list[Finding]:
        """A question that was open for long has reached the user (H14)."""
        state, received = audit.state, self.world.phone.received
        return [
            Finding(Law.NOTIFIED, f"{question.id} was open for days, and the user was not notified")
            for question in state.questions.values()
            if (question.answered_at or question.asked_at) - question.asked_at > LONG
            and question_news(state.id, question) not in received
        ]


def _forgotten(state: PMState, lines: int, audit: Audit) -> list[Finding]:
    """Return what the daemon knows and its journal does not, or the reverse."""
    if lines < audit.lines:
        return [Finding(Law.JOURNAL_FIRST, f"the daemon knows {lines} lines of {audit.lines} in the journal")]
    differ = [
        each.name for each in fields(state) if getattr(state, each.name) != getattr(audit.state, each.name)
    ]
    text = f"the daemon knows another {', '.join(differ)} than its {audit.lines} lines say"
    return [Finding(Law.JOURNAL_FIRST, text)] if differ else []
