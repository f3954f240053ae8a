"""Whatever happens, in whatever order: the laws hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

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
from orchestrator.model.agents import Agent, Role
from orchestrator.model.budget import Budget
from orchestrator.model.consultation import ConsultationState, PMAction, PMDecision
from orchestrator.model.errors import Fault
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.evidence import Resolution
from orchestrator.model.file_operations import OperationDone, OperationKind, OperationsRecord
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.plan import Gate
from orchestrator.model.run import Delivery, Exit, Leftover, Life, Run, Sight
from orchestrator.model.skills import Skill
from orchestrator.model.task import (
    AfterRejections,
    AgentOverrides,
    Approval,
    Brief,
    Bring,
    Config,
    Location,
    Recheck,
    Unanswered,
    WorkspaceKind,
)
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.model.usage import Usage
from orchestrator.model.usage_limit import Reset
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.readiness import may_be_ordered
from orchestrator.pm.state.task_state import PMState
from tests.simulation.engine.evidence import Evidence
from tests.unit.pm.deciding import decided

AGENTS = {
    role.value: Agent(role.value, role, command=("agent",), receipts=role in {Role.DEV, Role.TEST})
    for role in Role
}
BOXES = ("me@box", "other")
CRITERIA = ("It works", "It is documented")
SUBTASKS = ("a", "b", "c", "look", "plan", "dev-1")
FILES = ("shop.py", "shop/**", "shop/a.py", "**", "docs/index.md")

counts = st.integers(1, 3)
small_limits = st.builds(
    Limits,
    max_inactive_runs=counts,
    max_rejections=counts,
    max_blocks=st.integers(0, 2),
    max_crashes=st.integers(0, 2),
    max_losses=st.integers(0, 2),
    max_failed_launches=counts,
    max_report_requests=st.integers(0, 2),
    max_looks=counts,
    max_nudges=st.integers(0, 1),
    max_repeated_questions=st.integers(2, 4),
    max_replans=st.integers(0, 2),
    max_conflicts=st.integers(0, 2),
    max_concurrent_runs=st.integers(1, 4),
    max_subtasks=st.integers(3, 10),
    max_unplanned_orders=counts,
)
budgets = st.sampled_from([Budget(), Budget(), Budget(tokens=5000), Budget(cost=2.0), Budget(time=7200.0)])
usages = st.builds(
    Usage,
    input=st.sampled_from([0, 10, 900, 3000]),
    output=st.sampled_from([0, 50]),
    cost=st.sampled_from([None, 0.0, 0.3, 1.7]),
    context=st.sampled_from([None, 4000]),
)
configs = st.builds(
    Config,
    limits=budgets,
    workspace=st.sampled_from(WorkspaceKind),
    architect=st.booleans(),
    pm=st.sampled_from(["", "", "command"]),
    after_rejections=st.sampled_from(AfterRejections),
    approve=st.sampled_from([(), (), (Approval.PLAN,)]),
    recheck=st.sampled_from(Recheck),
    cwd=st.sampled_from([None, None, Location("/repo", BOXES[0])]),
    bring=st.sampled_from(Bring),
    agents=st.sampled_from([{}, {}, {"architect": AgentOverrides(cwd=Location("/there", BOXES[1]))}]),
    unanswered=st.sampled_from(
        [None, Unanswered("retry", 600.0), Unanswered("set-aside", 86_400.0), Unanswered("replan", 60.0)]
    ),
)
briefs = st.builds(
    Brief,
    title=st.just("Title"),
    goal=st.sampled_from(["one thing", "another"]),
    criteria=st.sampled_from([CRITERIA, CRITERIA[:1], (*CRITERIA, "It is fast"), ()]),
    config=configs,
)
subtasks = st.lists(
    st.builds(
        Subtask,
        id=st.sampled_from(SUBTASKS),
        text=st.just("do it"),
        agent=st.sampled_from(["dev", "dev", "dev", "architect", "nobody"]),
        needs=st.lists(st.sampled_from(SUBTASKS), max_size=1).map(tuple),
        files=st.lists(st.sampled_from(FILES), max_size=2).map(tuple),
    ),
    max_size=3,
).map(tuple)
good_subtasks = st.builds(
    lambda ids, files: tuple(Subtask(each, "do it", files=files) for each in ids),
    st.sampled_from([("a",), ("a", "b"), ("b", "c"), ("a", "b", "c"), ("plan", "a")]),
    st.sampled_from([(), (), ("shop.py",)]),
)
races = st.one_of(
    st.fixed_dictionaries({"reason": st.sampled_from(["", "no git"])}),
    st.fixed_dictionaries(
        {
            "commit": st.just("upon"),
            "onto": st.just("tip"),
            "both": st.sampled_from([(), ("shop.py",)]),
            "same": st.booleans(),
        }
    ),
    st.fixed_dictionaries({"conflicts": st.just(("shop.py",)), "others": st.just(("1234567 t: b",))}),
)
"""What becomes of a merge."""

odds: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"reason": "no git"},
        {"left": "me@box:/repo"},
        {"lost": "it is gone"},
        {"commit": "c2", "conflicts": ("shop.py",)},
        {"unresolved": ("shop.py",)},
    ]
)
"""What becomes of a commit that is not made as it should."""
exits = st.one_of(
    st.builds(Exit, code=st.sampled_from([0, 0, 0, 1, 7])),
    st.builds(Exit, signal=st.sampled_from([1, 9, 15])),
    st.just(Exit(lost=True)),
)
marks = st.lists(
    st.builds(
        CriterionMark,
        text=st.sampled_from((*CRITERIA, "It is fast")),
        met=st.booleans(),
        evidence=st.sampled_from([(), ("artifacts/x",)]),
    ),
    max_size=4,
).map(tuple)
sights = st.builds(
    Sight,
    cpu=st.sampled_from([None, 0.0, 5.0, 500.0]),
    printed=st.sampled_from([0, 100]),
    fresh=st.booleans(),
    changed_at=st.sampled_from([0.0, 2e9]),
    artifacts=st.sampled_from([(), ("done.md",)]),
    dialog=st.sampled_from(["", "", "yes or no"]),
    failure=st.sampled_from([None, None, None, *Failure]),
    line=st.sampled_from(["", "it says so"]),
    screen=st.just(("Go on? [y/N]",)),
    listens=st.booleans(),
)
tool_requests = st.builds(
    ToolRequest,
    tool=st.just("Bash"),
    act=st.sampled_from(Act),
    paths=st.sampled_from([(), ("/project/x",)]),
    command=st.sampled_from(["", "make"]),
)
events = st.builds(
    Event,
    kind=st.sampled_from(EventKind),
    session=st.sampled_from(["", "s-1"]),
    text=st.sampled_from(["", "it says so"]),
    tool_request=st.none() | tool_requests,
    failure=st.none() | st.sampled_from(Failure),
    reset=st.sampled_from([None, Reset((0.0,)), Reset((1_764_260_000.0, 1_764_346_400.0), 60.0)]),
    background=st.sampled_from([0, 0, 2]),
)
judgements = st.none() | st.builds(
    Judgement, st.sampled_from(PermissionDecision), st.just("a rule"), st.just(600.0)
)
words = st.sampled_from(
    [
        "allow",
        "always",
        "deny",
        "retry",
        "set-aside",
        "abandon",
        "accept",
        "continue",
        "approve",
        "reject",
        "replan",
        "double",
        "$9",
        "use the other one",
        "",
    ]
)
nonsense = st.sampled_from(["", "nothing", "r-00000000", "q1", "q9", "explore", "dev:a", "accept"])


class Mind(RuleBasedStateMachine):
    """Feeds facts of every kind: those that would come next, those that come late, and nonsense."""

    def __init__(self) -> None:
        super().__init__()
        self.state = PMState()
        self.limits = Limits()
        self.brief = Brief("Title", "one thing", CRITERIA)
        self.agents = AGENTS
        self.at = 1_764_254_100.0
        self.serial = 0
        self.sight = Sight()
        self.evidence = Evidence()
        self.led = False

    def feed(self, fact: f.Fact) -> None:
        was = self.state
        decision = decided(was, fact, self.limits)
        self.state = decision.state
        missing = self.evidence.missing_for(was, fact, decision)
        assert not missing, missing
        if not self.led:
            # Who is led by no agent is decided for as if there were no such thing.
            assert self.state.consultation == ConsultationState()
            assert not [step for step in self.state.steps.values() if step.agent == "pm"]

    def nonce(self) -> str:
        self.serial += 1
        return f"n{self.serial}"

    def run(self, data: st.DataObject, *, live: bool = False) -> Run | None:
        runs = self.state.live_runs if live else list(self.state.runs.values())
        return data.draw(st.sampled_from(runs)) if runs else None

    def pending(self, data: st.DataObject) -> Action | None:
        actions = list(self.state.outbox.values())
        return data.draw(st.sampled_from(actions)) if actions else None

    @initialize(limits=small_limits, brief=briefs, checks=st.sets(st.sampled_from(["test", "dev"])))
    def begin(self, limits: Limits, brief: Brief, checks: set[str]) -> None:
        self.limits, self.brief = limits, brief
        self.agents = {
            name: replace(agent, check=("check",)) if name in checks else agent
            for name, agent in AGENTS.items()
        }
        self.start()

    def start(self) -> None:
        self.led |= bool(self.brief.config.pm)
        self.feed(
            f.TaskStarted(
                self.at,
                self.nonce(),
                self.nonce(),
                "t-1",
                "t",
                "/p",
                self.brief,
                self.agents,
                "base",
                skills=(Skill("jtag", "Flash a board over JTAG", "/s/jtag/SKILL.md"),),
            )
        )

    # What would come next -------------------------------------------------------------------------

    @rule(moves=st.integers(1, 20), planned=good_subtasks)
    def goes_well(self, moves: int, planned: tuple[Subtask, ...]) -> None:
        """For a while all is as it should be: what is asked for is done, who works reports, who reported ends."""
        for _ in range(moves):
            action = next(iter(self.state.outbox.values()), None)
            run = next(iter(self.state.live_runs), None)
            if action is not None:
                self.done(action, "c1")
            elif run is not None and run.reported_at is None and run.order:
                self.report_well(run, planned)
            elif run is not None:
                self.feed(f.RunGone(self.at, f"{run.id}:gone", run.id, Exit(code=0)))

    def done(self, action: Action, commit: str) -> None:
        match action:
            case Launch(run=run):
                self.feed(f.RunStarted(self.at, run, 1, "%1"))
            case End(run=run):
                self.feed(f.RunGone(self.at, f"{run}:gone", run, Exit(signal=15)))
            case Look(id=notified, run=run):
                self.feed(f.Looked(self.at, notified, run, self.sight))
            case Nudge(id=notified, run=run):
                self.feed(f.Nudged(self.at, notified, run, notified, Delivery.UNKNOWN))
            case Commit(id=notified, step=step, attempt=attempt):
                self.feed(f.WorkCommitted(self.at, notified, step, attempt, commit))
            case Inspect(id=notified, step=step, attempt=attempt):
                self.feed(f.WorkInspected(self.at, notified, step, attempt, "/p", changed=bool(commit)))
            case ResolveEvidence(id=notified, step=step, attempt=attempt, references=named):
                found = tuple(Resolution(each.text, bool(commit)) for each in named)
                self.feed(f.EvidenceResolved(self.at, notified, step, attempt, found))
            case TendBranch() | Merge() | Rebase():
                self.branch_moved(action, commit)
            case Undo(id=notified):
                self.feed(f.Undone(self.at, notified))
            case Notify(id=notified):
                self.feed(f.Notified(self.at, notified))
            case Answer(id=notified):
                self.feed(f.AnswerGiven(self.at, notified))

    def branch_moved(self, action: TendBranch | Merge | Rebase, found: str) -> None:
        match action:
            case TendBranch(id=notified, step=step, attempt=attempt):
                self.feed(f.BranchTended(self.at, notified, step, attempt, found, self.state.tip or found))
            case Merge(id=notified, step=step, attempt=attempt, commit=made):
                self.feed(f.WorkMerged(self.at, notified, step, attempt, made, tip=made))
            case Rebase(id=notified):
                self.feed(f.Rebased(self.at, notified))

    def report_well(self, run: Run, planned: tuple[Subtask, ...]) -> None:
        gates = self.state.steps[run.step].gates
        if Gate.DECISION in gates:
            ready = self.state.steps.first(may_be_ordered(self.state))
            self.decide(run, PMAction.ORDER if ready else PMAction.COMPLETE, ready.id if ready else "")
            return
        report = Report(
            ReportStatus.COMPLETE,
            verdict=Verdict.APPROVED if Gate.VERDICT in gates else None,
            run=run.id,
            in_reply_to=run.order,
            subtasks=planned if Gate.SUBTASKS in gates else None,
            criteria=tuple(
                CriterionMark(text, met=True, evidence=("artifacts/x",)) for text in self.state.brief.criteria
            ),
        )
        self.feed(
            f.ReportLanded(self.at, self.nonce(), f"{self.nonce()}.md", self.nonce(), run.instance, report)
        )

    def decide(self, run: Run, action: PMAction, target: str, **said: Any) -> None:
        decision = PMDecision(action, run.id, target, **said)
        name = f"pm-{self.nonce()}.md"
        self.feed(f.DecisionLanded(self.at, self.nonce(), name, self.nonce(), run.id, decision))

    @rule(data=st.data(), action=st.sampled_from(PMAction), free=nonsense)
    def decides(self, data: st.DataObject, action: PMAction, free: str) -> None:
        """The PM agent decides something, or a run that is not asked does."""
        asked = self.state.runs.last_at_work_on(self.state.consultation.step)
        run = asked if asked and data.draw(st.booleans()) else self.run(data)
        if run is not None:
            live = [each.instance for each in self.state.live_runs]
            target = data.draw(st.sampled_from([free, *self.state.steps, *AGENTS, *live, "a", "b"]))
            self.decide(
                run,
                action,
                target,
                instructions="so",
                options=data.draw(st.sampled_from([(), ("replan", "x")])),
            )

    @rule(data=st.data())
    def stammers(self, data: st.DataObject) -> None:
        run = self.run(data)
        if run is not None:
            faults = (Fault(2, "no action"),)
            name = f"pm-{self.nonce()}.md"
            self.feed(f.DecisionLanded(self.at, self.nonce(), name, self.nonce(), run.id, faults=faults))

    @rule(data=st.data(), works=st.booleans(), sight=sights)
    def outcome(self, data: st.DataObject, *, works: bool, sight: Sight) -> None:
        self.sight = sight
        match self.pending(data):
            case None:
                return
            case Notify() | Answer() as action:
                self.done(action, "")
            case (
                Launch()
                | End()
                | Look()
                | Nudge()
                | Commit()
                | Inspect()
                | ResolveEvidence()
                | TendBranch()
                | Merge()
                | Rebase()
                | Undo()
            ) as action if works:
                self.done(action, data.draw(st.sampled_from(["c1", "c2", ""])))
            case Launch(run=run, id=notified):
                self.feed(f.LaunchFailed(self.at, notified, run, "no tmux", again=data.draw(st.booleans())))
            case End(run=run):
                self.feed(f.RunGone(self.at, f"{run}:gone", run, data.draw(exits)))
            case Look(id=notified, run=run):
                self.feed(f.Looked(self.at, notified, run, None, "tmux is frozen"))
            case Nudge(id=notified, run=run):
                self.feed(
                    f.Nudged(self.at, notified, run, notified, Delivery.NOT_DELIVERED, "its pane is gone")
                )
            case Undo(id=notified):
                self.feed(f.Undone(self.at, notified, "changed since: /tree/a.py"))
            case (Commit() | Inspect() | ResolveEvidence() | TendBranch() | Merge() | Rebase()) as action:
                self.git_fails(action, data)

    def git_fails(
        self,
        action: Commit | Inspect | ResolveEvidence | TendBranch | Merge | Rebase,
        data: st.DataObject,
    ) -> None:
        match action:
            case Commit(id=notified, step=step, attempt=attempt):
                plain = f.WorkCommitted(self.at, notified, step, attempt, "")
                self.feed(replace(plain, **data.draw(odds)))
            case Inspect(id=notified, step=step, attempt=attempt):
                reason = data.draw(st.sampled_from(["no git", ""]))
                self.feed(f.WorkInspected(self.at, notified, step, attempt, "/p", reason=reason))
            case ResolveEvidence(id=notified, step=step, attempt=attempt):
                reason = data.draw(st.sampled_from(["no git", ""]))
                self.feed(f.EvidenceResolved(self.at, notified, step, attempt, reason=reason))
            case TendBranch(id=notified, step=step, attempt=attempt):
                self.feed(f.BranchTended(self.at, notified, step, attempt, "c1", reason="no git"))
            case Merge(id=notified, step=step, attempt=attempt, commit=commit):
                merged = f.WorkMerged(self.at, notified, step, attempt, commit)
                self.feed(replace(merged, **data.draw(races)))
            case Rebase(id=notified):
                self.feed(f.Rebased(self.at, notified, "the branch moved on"))

    @rule(data=st.data(), planned=good_subtasks)
    def good_report(self, data: st.DataObject, planned: tuple[Subtask, ...]) -> None:
        """The report that the step of a run needs, whatever it is."""
        run = self.run(data, live=True)
        if run is not None:
            self.report_well(run, planned)

    @rule(data=st.data(), exit_=exits)
    def gone(self, data: st.DataObject, exit_: Exit) -> None:
        run = self.run(data, live=True)
        if run is not None:
            self.feed(f.RunGone(self.at, f"{run.id}:gone", run.id, exit_))

    @rule(data=st.data(), exit_=exits, left=st.lists(st.sampled_from([101, 102, 103]), max_size=2))
    def leaves(self, data: st.DataObject, exit_: Exit, left: list[int]) -> None:
        run = self.run(data)
        if run is not None:
            named = tuple(Leftover(pid, "node") for pid in left)
            self.feed(f.RunLeft(self.at, f"{run.id}:left:{left}", run.id, exit_, named))

    @rule(data=st.data())
    def tree_vanishes(self, data: st.DataObject) -> None:
        run = self.run(data)
        if run is not None:
            self.feed(f.TreeVanished(self.at, f"{run.id}:tree", run.id, "it is gone"))

    @rule()
    def deadline(self) -> None:
        moment = wake_at(self.state, self.limits)
        if moment is not None:
            self.at = max(self.at, moment)
            self.feed(f.TimePassed(self.at, self.nonce()))

    @rule(
        base=st.sampled_from(["base", "today"]),
        old=st.sampled_from(["tip", "c1"]),
        new=st.sampled_from(["c2", ""]),
    )
    def rebase(self, base: str, old: str, new: str) -> None:
        """The user wants the work to stand elsewhere, at rest or not."""
        self.feed(f.RebaseAsked(self.at, self.nonce(), self.nonce(), base, old, new or old, {"c1": new}))

    @rule(data=st.data())
    def applies(self, data: st.DataObject) -> None:
        """The file operations of a run were carried out."""
        run = self.run(data)
        if run is not None:
            done = (OperationDone(OperationKind.CREATE, "/tree/a.py", "what the goal asks for", 12),)
            record = OperationsRecord(self.at, run.id, run.instance, "Do a", 1, done)
            self.feed(f.OperationsSettled(self.at, self.nonce(), run.id, record))

    @rule(data=st.data(), new=st.sampled_from(["c2", ""]))
    def undo(self, data: st.DataObject, new: str) -> None:
        """The user wants a step's file operations undone, at rest or not, if it has any."""
        if self.state.steps:
            step = data.draw(st.sampled_from(list(self.state.steps)))
            old = self.state.tip if new else ""
            self.feed(f.UndoAsked(self.at, self.nonce(), self.nonce(), step, old, new))

    @rule(data=st.data(), word=words)
    def answer(self, data: st.DataObject, word: str) -> None:
        if self.state.questions:
            question = data.draw(st.sampled_from(list(self.state.questions)))
            self.feed(f.Answered(self.at, self.nonce(), self.nonce(), question, word))

    # What comes late, twice, or never should ------------------------------------------------------

    @rule(
        data=st.data(),
        status=st.sampled_from(ReportStatus),
        verdict=st.sampled_from([None, *Verdict]),
        planned=st.none() | subtasks,
        criteria=st.none() | marks,
        missing=st.sampled_from([(), (), ("artifacts/lie",)]),
        withheld=st.sampled_from([(), (), (("artifacts/large", "too large"),)]),
        unreadable=st.sampled_from([False, False, False, True]),
        names_run=st.booleans(),
        name=st.sampled_from(["x.md", "y.md", ""]),
    )
    def any_report(self, data: st.DataObject, **said: Any) -> None:
        run = self.run(data)
        other = self.run(data)
        instance = run.instance if run else data.draw(nonsense)
        report = None
        if not said["unreadable"]:
            report = Report(
                said["status"],
                said["verdict"],
                run=other.id if other and said["names_run"] else None,
                in_reply_to=other.order if other and said["names_run"] else None,
                blockers="no key",
                skill_gaps=data.draw(st.sampled_from(["", "jtag", "astrology"])),
                subtasks=said["planned"],
                criteria=said["criteria"],
            )
        faults = (Fault(3, "no status"),) if report is None else ()
        name = said["name"] or f"{self.nonce()}.md"
        digest = data.draw(st.sampled_from(["h1", "h2"])) if said["name"] else self.nonce()
        self.feed(
            f.ReportLanded(self.at, self.nonce(), name, digest, instance, report, faults, said["missing"])
        )

    @rule(
        data=st.data(), exit_=exits, kind=st.sampled_from(["started", "gone", "failed"]), real=st.booleans()
    )
    def any_life(self, data: st.DataObject, exit_: Exit, kind: str, *, real: bool) -> None:
        run = self.run(data) if real else None
        name = run.id if run else data.draw(nonsense)
        match kind:
            case "started":
                self.feed(f.RunStarted(self.at, name, 1))
            case "gone":
                self.feed(f.RunGone(self.at, f"{name}:gone", name, exit_))
            case _:
                self.feed(
                    f.LaunchFailed(
                        self.at,
                        f"{name}:failed",
                        name,
                        "why",
                        again=data.draw(st.booleans()),
                        tree_lost=data.draw(st.booleans()),
                    )
                )

    @rule(
        data=st.data(),
        attempt=st.integers(0, 4),
        commit=st.sampled_from(["", "c1"]),
        reason=st.sampled_from(["", "why"]),
        left=st.sampled_from(["", "me@box:/repo"]),
        lost=st.sampled_from(["", "", "it is gone"]),
    )
    def any_work(
        self, data: st.DataObject, attempt: int, commit: str, reason: str, left: str, lost: str
    ) -> None:
        step = data.draw(st.sampled_from([*self.state.steps, "nothing"]))
        if data.draw(st.booleans()):
            self.feed(
                f.WorkCommitted(
                    self.at, self.nonce(), step, attempt, commit, reason=reason, left=left, lost=lost
                )
            )
        else:
            self.feed(f.WorkMerged(self.at, f"{self.nonce()}", step, attempt, commit, reason))

    @rule(
        data=st.data(),
        event=events,
        waits=st.booleans(),
        whole=st.none() | st.booleans(),
        judgement=judgements,
        again=st.booleans(),
    )
    def any_event(self, data: st.DataObject, event: Event, *, again: bool, **notified: Any) -> None:
        run = self.run(data)
        name = run.acknowledged[-1] if again and run is not None and run.acknowledged else f"e.{self.nonce()}"
        landed = f.EventLanded(self.at, name, run.id if run else "r-0", name, event, **notified)
        answered = {each.name for each in self.state.outbox.values() if isinstance(each, Answer)}
        was = run is not None and run.live and name not in run.acknowledged
        self.feed(landed)
        if run is not None and was and landed.waits and run.live:
            # Whoever waits is answered, or a person is asked on its behalf.
            now = {each.name for each in self.state.outbox.values() if isinstance(each, Answer)} - answered
            assert (
                name in now or self.state.runs[run.id].waits_for == name or not self.state.runs[run.id].live
            )

    @rule(data=st.data(), usage=usages)
    def any_usage(self, data: st.DataObject, usage: Usage) -> None:
        run = self.run(data)
        self.feed(f.UsageSeen(self.at, self.nonce(), run.id if run else "r-0", usage))

    @rule(question=nonsense, word=words, request=st.sampled_from(["again", "once"]))
    def any_answer(self, question: str, word: str, request: str) -> None:
        self.feed(f.Answered(self.at, self.nonce(), request, question, word))

    @rule(data=st.data(), ahead=st.floats(-100, 100))
    def check_in(self, data: st.DataObject, ahead: float) -> None:
        run = self.run(data)
        progress = {run.id: self.at + ahead} if run else {}
        self.feed(f.CheckedIn(self.at, self.nonce(), {**progress, "nothing": self.at}))

    @rule(seconds=st.sampled_from([-3600.0, 0.0, 0.5, 20.0, 300.0, 1800.0, 14400.0, 86400.0]))
    def time_passes(self, seconds: float) -> None:
        self.at += seconds
        self.feed(f.TimePassed(self.at, self.nonce()))

    @rule(slept=st.sampled_from([0.0, 30.0, 28800.0]), put=st.sampled_from([0.0, -3600.0, 60.0, 86400.0]))
    def clock_moves(self, slept: float, put: float) -> None:
        self.at += slept + put
        self.feed(f.ClockMoved(self.at, self.nonce(), slept, put))

    @rule(box=st.sampled_from(BOXES), refused=st.booleans())
    def box_lost(self, box: str, *, refused: bool) -> None:
        self.feed(f.BoxLost(self.at, self.nonce(), box, f"{box} is gone", refused=refused))
        assert not any(run.life is Life.ALIVE for run in self.state.live_runs if run.host == box)

    @rule(box=st.sampled_from(BOXES))
    def box_back(self, box: str) -> None:
        self.feed(f.BoxBack(self.at, self.nonce(), box))
        assert not any(run.life is Life.UNREACHABLE for run in self.state.live_runs if run.host == box)

    @rule()
    def stop(self) -> None:
        self.feed(f.StopAsked(self.at, self.nonce()))

    @rule(again=st.booleans(), brief=briefs)
    def start_again(self, *, again: bool, brief: Brief) -> None:
        self.brief = self.brief if again else brief
        self.start()

    @rule(brief=briefs)
    def edit(self, brief: Brief) -> None:
        self.feed(f.BriefChanged(self.at, brief))

    @rule(agent=st.sampled_from(["dev", "review", "explore", "dev-2"]))
    def spawn(self, agent: str) -> None:
        given = self.agents.get(agent) or Agent(agent, Role.DEV, command=("agent",))
        self.feed(f.SpawnAsked(self.at, self.nonce(), self.nonce(), given, "Look around"))

    @rule(name=st.sampled_from(["pm-1.md", "x.md"]), digest=st.sampled_from(["h1", "h2"]))
    def intrude(self, name: str, digest: str) -> None:
        self.feed(f.Intruded(self.at, name, digest, "not yours"))

    @rule()
    def damage(self) -> None:
        self.feed(f.JournalDamaged(self.at, self.nonce(), 5, "1.jsonl.damaged"))


Mind.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=60,
    phases=(
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ),  # shrinking one of these takes longer than reading it
)
TestAnyFacts = Mind.TestCase


class MoreOften(Mind):
    """The same, three times as often."""


MoreOften.TestCase.settings = settings(Mind.TestCase.settings, max_examples=60)
TestManyFacts = pytest.mark.thorough(reason="TestAnyFacts, three times as often")(MoreOften.TestCase)
