"""A story: a task told fact by fact, in the words of the people and programs in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.model import facts as f
from orchestrator.model.actions import (
    Action,
    Answer,
    Commit,
    End,
    Inspect,
    Launch,
    Look,
    Merge,
    Notify,
    Nudge,
    Rebase,
    ResolveEvidence,
    TendBranch,
    Undo,
)
from orchestrator.model.activity import Activity
from orchestrator.model.agents import Agent, Role
from orchestrator.model.consultation import PMAction, PMDecision
from orchestrator.model.errors import Fault
from orchestrator.model.event import Event, Reply
from orchestrator.model.evidence import Resolution
from orchestrator.model.handoff import CriterionMark, Order, Report, ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Step, StepState
from orchestrator.model.question import Question
from orchestrator.model.run import Delivery, Exit, Run, Sight
from orchestrator.model.task import Brief, Config, Phase, TaskState
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.policies.stalls import is_worth_journaling
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.task_state import PMState
from tests.unit.pm.deciding import decided

AT = 1_764_254_100.0
CRITERIA = ("All tests pass", "The README shows it")
MET = tuple(CriterionMark(text, met=True, evidence=("artifacts/reviews/seen.md",)) for text in CRITERIA)
ONE_AT_A_TIME = Limits(max_concurrent_runs=1)
ROLES = {role.value: Agent(role.value, role, command=("agent",)) for role in Role}


class Story:
    """A task and its world. Time moves only when told; commits and merges succeed unless `works` says no.

    A quiet run that is looked at looks as `sees` says: by default, hung. Evidence exists, but for what `nowhere` names.
    `races` says, once, what becomes of a step's merge where the branch has gained others' work: fields of `WorkMerged`;
    `odds` the same of its commit, as fields of `WorkCommitted`.
    `strewn` are files that steps change which are only to look.
    The branch is found at `astray` when it is looked at next, what was on it is kept as `branch_kept`, and it cannot be
    put back for `branch_fault`.
    Actions of the kinds in `undone` are left undone.
    What works in a tree that is not the task's own has `changed` something there; None: nobody can tell.
    """

    def __init__(
        self, *, limits: Limits | None = None, checks: tuple[str, ...] = (), **config: object
    ) -> None:
        self.limits = limits or Limits()
        self.at = AT
        self.state = PMState()
        self.last = Decision(self.state)
        self.brief = Brief("Title", "Make it so", CRITERIA, Config(**config))  # type: ignore[arg-type]
        self.agents = {
            name: replace(agent, check=("check",)) if name in checks else agent
            for name, agent in ROLES.items()
        }
        self.works = True
        self.undone: tuple[type[Action], ...] = ()
        self.sees: Sight | None = Sight()
        self.merge_refused = ""
        self.rebase_refused = ""
        self.undo_refused = ""
        self.astray = ""
        self.branch_kept = ""
        self.branch_fault = ""
        self.commit_refused = ""
        self.races: dict[str, dict[str, Any]] = {}
        self.odds: dict[str, dict[str, Any]] = {}
        self.left = ""
        self.commit = "c"
        self.changed: bool | None = True
        self.nowhere: set[str] = set()
        self.strewn: dict[str, tuple[str, ...]] = {}
        self.serial = 0
        self.replies: dict[str, Reply] = {}

    # What happens ---------------------------------------------------------------------------------

    def feed(self, fact: f.Fact) -> Decision:
        """Let a fact happen, and what the hands do at once because of it."""
        self.last = decided(self.state, fact, self.limits)
        self.state = self.last.state
        decision = self.last
        if self.works:
            for action in decision.actions:
                if not isinstance(action, self.undone):
                    self._work(action)
        return decision

    def _work(self, action: Action) -> None:
        match action:
            case Commit(step=step, attempt=attempt):
                made = (
                    f"{self.commit}{attempt}"
                    if self.commit and not (self.commit_refused or self.left)
                    else ""
                )
                plain = f.WorkCommitted(
                    self.at, self.nonce(), step, attempt, made, 1, self.commit_refused, self.left
                )
                self.feed(replace(plain, **self.odds.pop(step, {})))
            case Inspect(step=step, attempt=attempt):
                changed = None if self.changed is None else bool(self.changed)
                files = self.strewn.pop(step, ())
                kept = "refs/tasks/kept" if files and self.state.steps[step].workspace else ""
                self.feed(
                    f.WorkInspected(
                        self.at, self.nonce(), step, attempt, "/project", changed, files=files, kept=kept
                    )
                )
            case ResolveEvidence(step=step, attempt=attempt, references=named):
                found = tuple(Resolution(each.text, each.target not in self.nowhere) for each in named)
                self.feed(f.EvidenceResolved(self.at, self.nonce(), step, attempt, found))
            case TendBranch():
                self.tends()
            case Merge():
                self.feed(self._merged(action))
            case Look(run=run):
                reason = "" if self.sees else "tmux is frozen"
                self.feed(f.Looked(self.at, self.nonce(), run, self.sees, reason))
            case Nudge(id=notified, run=run):
                self.feed(f.Nudged(self.at, self.nonce(), run, notified, Delivery.UNKNOWN))
            case Notify(id=notified):
                self.feed(f.Notified(self.at, notified))
            case Rebase() | Undo():
                self.moves(action)
            case Answer(id=notified, name=name, reply=reply):
                self.replies[name] = reply
                self.feed(f.AnswerGiven(self.at, notified))
            case Launch() | End():
                return

    def moves(self, action: Rebase | Undo) -> None:
        """The branch is moved, or files are put back, as the user has asked; or that is refused."""
        if isinstance(action, Rebase):
            self.feed(f.Rebased(self.at, action.id, self.rebase_refused))
        else:
            self.feed(f.Undone(self.at, action.id, self.undo_refused))

    def tends(self) -> Decision:
        """The branch is looked at: it is where it was left, or `astray`."""
        action = next(each for each in self.state.outbox.values() if isinstance(each, TendBranch))
        tip, self.astray = self.astray or self.state.tip, ""
        seen = (tip, self.state.tip, self.branch_kept, self.branch_fault)
        return self.feed(f.BranchTended(self.at, action.id, action.step, action.attempt, *seen))

    def _merged(self, action: Merge) -> f.WorkMerged:
        outcome = f.WorkMerged(self.at, self.nonce(), action.step, action.attempt, action.commit)
        if self.merge_refused:
            return replace(outcome, reason=self.merge_refused)
        if action.step not in self.races:
            return replace(outcome, tip=action.commit)
        if action.forward_only:
            return replace(outcome, commit="", onto="tip")
        return replace(outcome, **self.races.pop(action.step))

    def nonce(self) -> str:
        """Return a word that was not used before."""
        self.serial += 1
        return f"n{self.serial}"

    def starts(self, request: str = "", brief: Brief | None = None, confirmed: str = "") -> Decision:
        """The user says `task start`."""
        self.brief = brief or self.brief
        return self.feed(
            f.TaskStarted(
                self.at, self.nonce(), request or self.nonce(), "demo-1", "demo", "/project", self.brief,
                self.agents, "base", confirmed=confirmed,
            )
        )  # fmt: skip

    def comes_alive(self, step: str) -> Run:
        """The launcher of a step's run claims it."""
        run = self.run_of(step)
        self.feed(f.RunStarted(self.at, run.id, 4711, "%1"))
        return self.state.runs[run.id]

    def emits(self, step: str, event: Event, *, waits: bool = False, **more: Any) -> str:
        """The program of a step's run tells something of itself; return the event's name."""
        run = self.run_of(step)
        name = f"{run.id}.{self.nonce()}"
        self.feed(f.EventLanded(self.at, name, run.id, name, event, waits, **more))
        return name

    def records(self, step: str, activity: Activity) -> bool:
        """The program of a step's run has recorded so much by now; return whether the daemon takes note of it."""
        run = self.run_of(step)
        news = is_worth_journaling(self.step(step).tally, self.limits, run, activity, self.at)
        if news:
            self.feed(f.ActivitySeen(self.at, self.nonce(), run.id, activity))
        return news

    def reports(
        self,
        step: str,
        status: ReportStatus = ReportStatus.COMPLETE,
        *,
        missing: tuple[str, ...] = (),
        withheld: tuple[tuple[str, str], ...] = (),
        run: Run | None = None,
        name: str = "",
        **said: object,
    ) -> Decision:
        """The agent of a step lays down its report."""
        run = run or self.run_of(step)
        report = Report(status, run=run.id, in_reply_to=run.order, **said)  # type: ignore[arg-type]
        return self.lands(run.instance, report, missing=missing, withheld=withheld, name=name)

    def lands(
        self,
        instance: str,
        report: Report | None = None,
        *,
        faults: tuple[Fault, ...] = (),
        missing: tuple[str, ...] = (),
        withheld: tuple[tuple[str, str], ...] = (),
        name: str = "",
    ) -> Decision:
        """A file of `instance` lies whole in `handoffs/`."""
        nonce = self.nonce()
        name = name or f"{instance}-{nonce}.md"
        landed = f.ReportLanded(self.at, nonce, name, nonce, instance, report, faults, missing, withheld)
        return self.feed(landed)

    def decides(
        self, action: PMAction = PMAction.WAIT, target: str = "", *, run: Run | None = None, **said: Any
    ) -> Decision:
        """The PM agent lays down a decision, of the open consultation where no other run is named."""
        run = run or self.run_of(self.state.consultation.step)
        decision = PMDecision(action, run.id, target, **said)
        nonce = self.nonce()
        return self.feed(f.DecisionLanded(self.at, nonce, f"pm-{nonce}.md", nonce, run.id, decision))

    def is_led(self, action: PMAction = PMAction.WAIT, target: str = "", **said: Any) -> None:
        """The PM agent is asked, decides once and exits."""
        run = self.comes_alive(self.state.consultation.step)
        self.decides(action, target, **said)
        self.ends(run=run)

    def ends(self, step: str = "", how: Exit | None = None, *, run: Run | None = None) -> Decision:
        """The process of a step's run is gone."""
        run = run or self.run_of(step)
        return self.feed(f.RunGone(self.at, self.nonce(), run.id, how or Exit(code=0)))

    def does(self, step: str, status: ReportStatus = ReportStatus.COMPLETE, **said: object) -> None:
        """A step's run lives, works a minute, reports and exits."""
        run = self.comes_alive(step)
        self.at += 60
        self.reports(step, status, **said)  # type: ignore[arg-type]
        self.ends(run=run)

    def approves(self, step: str) -> None:
        """A judge's run approves and exits."""
        self.does(step, verdict=Verdict.APPROVED)

    def rejects(self, step: str, why: str = "the loop never ends") -> None:
        """A judge's run rejects and exits."""
        self.does(step, verdict=Verdict.REJECTED, completed=why)

    def answers(self, question: str, text: str, request: str = "") -> Decision:
        """The user answers a question."""
        return self.feed(f.Answered(self.at, self.nonce(), request or self.nonce(), question, text))

    def stops(self) -> Decision:
        """The user says `task stop`."""
        return self.feed(f.StopAsked(self.at, self.nonce()))

    def rebases(self, base: str = "today", old: str = "", new: str = "anew", **commits: str) -> Decision:
        """The user says `task rebase`: each commit of the branch became another one."""
        old = old or self.state.tip or "tip"
        return self.feed(f.RebaseAsked(self.at, self.nonce(), self.nonce(), base, old, new, commits))

    def undoes(self, step: str, old: str = "", new: str = "") -> Decision:
        """The user says `task undo`."""
        return self.feed(f.UndoAsked(self.at, self.nonce(), self.nonce(), step, old, new))

    def gives_back(self) -> Decision:
        """The user says `task skill run --state FILE`."""
        return self.feed(f.SessionAsked(self.at, self.nonce()))

    def spawns(self, agent: str, instructions: str = "Look around") -> Decision:
        """The user says `task spawn`."""
        return self.feed(f.SpawnAsked(self.at, self.nonce(), self.nonce(), self.agents[agent], instructions))

    def passes(self, seconds: float) -> None:
        """Time passes; the deadlines in it are acted on when they come."""
        until = self.at + seconds
        while (moment := wake_at(self.state, self.limits)) is not None and moment <= until:
            self.at = max(self.at, moment)
            self.feed(f.TimePassed(self.at, self.nonce()))
        self.at = until

    def checks_in(self, **progress: float) -> Decision:
        """The heartbeat; `progress` names runs by their step."""
        signs = {self.run_of(step).id: at for step, at in progress.items()}
        return self.feed(f.CheckedIn(self.at, self.nonce(), signs))

    def loses(self, box: str, why: str = "", *, refused: bool = False) -> Decision:
        """A box does not answer, or refuses."""
        why = why or f"{box} is unreachable"
        return self.feed(f.BoxLost(self.at, self.nonce(), box, why, refused=refused))

    def finds(self, box: str) -> Decision:
        """A box answers again."""
        return self.feed(f.BoxBack(self.at, self.nonce(), box))

    # The usual way --------------------------------------------------------------------------------

    def planned(self, *subtasks: str | Subtask) -> Story:
        """Tell the story up to the plan, which has these subtasks."""
        self.starts()
        self.does("explore")
        if "architect" in self.state.steps:
            self.does("architect")
        self.does("plan", subtasks=plan_of(*subtasks))
        return self

    def finishes(self, subtask: str) -> None:
        """A subtask goes well: developed, tested, reviewed."""
        self.does(f"dev:{subtask}")
        self.approves(f"test:{subtask}")
        self.approves(f"review:{subtask}")

    def finishes_order(self, step: str) -> None:
        """An order beside the plan goes well: developed, tested, reviewed."""
        self.does(step)
        self.approves(f"test:{step}")
        self.approves(f"review:{step}")

    # What is to be seen ---------------------------------------------------------------------------

    def task(self) -> TaskState:
        """Return what the PM does with the task."""
        return self.state.state

    def phase(self) -> Phase:
        """Return the label that the user sees."""
        return self.state.phase

    def step(self, step: str) -> Step:
        """Return a step as it stands."""
        return self.state.steps[step]

    def run_of(self, step: str) -> Run:
        """Return the newest live run of a step."""
        return [run for run in self.state.live_runs if run.step == step][-1]

    def order_of(self, step: str) -> Order:
        """Return the open order of a step."""
        return self.state.orders[self.run_of(step).order]

    def works_on(self) -> set[str]:
        """Return the steps that have a live run."""
        return {run.step for run in self.state.live_runs}

    def question(self) -> Question:
        """Return the one open question."""
        (question,) = self.state.open_questions
        return question

    def stands(self, **states: str) -> None:
        """Check the states of the steps of a subtask: `stands(dev='passed')` speaks of `dev:a`."""
        found = {role: self.step(f"{role}:a").state.value for role in states}
        assert found == states

    def states(self) -> dict[str, StepState]:
        """Return the state of every step."""
        return {step.id: step.state for step in self.state.steps.values()}


def apart(*ids: str) -> tuple[Subtask, ...]:
    """Return subtasks that are worked on one after the other, since they change the same file."""
    return tuple(Subtask(each, f"Do {each}", files=("shop.py",)) for each in ids)


def plan_of(*subtasks: str | Subtask) -> tuple[Subtask, ...]:
    """Return subtasks, given as they are or by their ids."""
    return tuple(each if isinstance(each, Subtask) else Subtask(each, f"Do {each}") for each in subtasks)
