"""The laws of a workflow, held by what its agents really left, and by its plan: not by what the daemon thinks of them.

- An agent starts only when all that it needs is verified; caps hold; overlapping files are never changed at once.
- Nothing is verified without a pass of its own verifier, on the outputs that it saw, with every note resolved.
- Rejections and crashes are bounded: then somebody is asked.
- An escalated note has the words of the user, of a resolver, or of the architect once these are verified.
- `shared_status.json` shows as verified what is verified, and nothing else.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.core.shared_status import spoken_for_in
from orchestrator.model import facts as f
from orchestrator.model.escalation import CaseState
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import AgentKind, WorkflowAgent
from orchestrator.model.workflow_records import NoteStatus
from orchestrator.pm.handlers.run_lifecycle import TERMINAL_GONE
from orchestrator.pm.state.changes import QuestionAnswered
from orchestrator.pm.state.run_changes import RunOpened, RunReported
from orchestrator.pm.state.step_changes import StepMoved, StepReopened
from orchestrator.pm.state.workflow_changes import AgentRecorded, EscalationMoved
from tests.simulation.engine.escalation_laws import EscalationLaws
from tests.simulation.engine.hand_in_laws import of_turn_end
from tests.simulation.engine.law import Finding, Law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from tests.simulation.engine.workflow_player import Left
    from tests.simulation.engine.workflow_tasks import WorkflowTask
    from tests.simulation.engine.world import World

PASSES: Final = frozenset({"pass", "proceed"})
SHOWN: Final = frozenset({"verified", "session_complete"})


@dataclass(slots=True)
class WorkflowLaws:
    """What is known of one workflow.

    passed: the agents that are verified. said: the last verdict on each, and the run that gave it. opened: when each
    run was opened, at the latest. failed, crashed: how often in a row since somebody was asked, or it went well.
    """

    world: World
    task: WorkflowTask
    passed: set[str] = field(default_factory=set)
    said: dict[str, tuple[str, Left | None]] = field(default_factory=dict)
    opened: dict[str, float] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    crashed: Counter[str] = field(default_factory=Counter)
    escalations: EscalationLaws = field(init=False)
    _at: float = 0.0
    _allowed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Look at its escalations too."""
        self.escalations = EscalationLaws(self.world, self.task, self.passed, self.said)

    def enter(self, was: PMState, fact: f.Fact, decision: Decision) -> list[Finding]:
        """Enter a line of the journal, and return the laws that it breaks."""
        found = list(of_turn_end(self.world, self.task, was, fact))
        self._count(was, fact)
        for change in decision.changes:
            match change:
                case QuestionAnswered(question=question) if question in was.questions:
                    self._answered(was.questions[question].step)
                case RunOpened(run=run):
                    self.opened[run.id] = self._at
                    found += self._opened(run.step)
                case RunReported(run=run):
                    found += self._reported(was, run)
                case EscalationMoved(case=case):
                    found += self.escalations.moved(decision.state, case)
                    if case.state is CaseState.ASKED:
                        self._begins_anew(case.answering)
                case AgentRecorded(agent=agent, record=record):
                    known = was.records.get(agent)
                    found += self.escalations.answered(decision.state, agent, known, record)
                    if agent == _who_reports(was, fact):
                        found += _settled(was, agent, record)
                case StepMoved(step=step, to=StepState.PASSED):
                    asked_anew = any(
                        isinstance(each, StepReopened) and each.step == step for each in decision.changes
                    )
                    found += self._passes(was if asked_anew else decision.state, fact, step)
                case _:
                    continue
        found += self._at_once(decision.state)
        self._at = self.world.clock.monotonic()
        return found

    # One line --------------------------------------------------------------------------------------

    def _answered(self, step: str) -> None:
        agent = step.partition(":")[2]
        self.failed[agent] = 0
        for each in (f"do:{agent}", f"verify:{agent}"):
            self.crashed[each] = 0
        self._allowed.add(agent)

    def _begins_anew(self, step: str) -> None:
        """Those who answer get another question: nothing of the last one counts."""
        kind, _, name = step.partition(":")
        if kind == "do":
            self.passed.discard(name)
            self.failed[name] = 0
            self.crashed[f"verify:{name}"] = 0
        self.crashed[step] = 0

    def _count(self, was: PMState, fact: f.Fact) -> None:
        if isinstance(fact, f.RunGone) and (run := was.runs.get(fact.run)) is not None and run.live:
            lost = fact.exit.lost or fact.exit.signal == TERMINAL_GONE
            own_end = not lost and not fact.exit.clean and run.ending is Ending.NOT
            if own_end and run.reported_at is None:
                self.crashed[run.step] += 1

    def _opened(self, step: str) -> Iterator[Finding]:
        kind, _, name = step.partition(":")
        agent = self.task.agents.get(name)
        if kind == "do" and agent is not None:
            lacks = [each for each in agent.needs if each not in self.passed]
            if lacks:
                yield Finding(Law.NEEDS, f"{name} starts, and {', '.join(lacks)} is not verified")
            if self.failed[name] >= self._bound(agent, "verifications"):
                yield Finding(
                    Law.BOUND, f"{name} starts after {self.failed[name]} failed verifications in a row"
                )
        if agent is not None and kind in {"do", "verify"}:
            judge = agent if kind == "do" else self.task.agents[agent.verifier]
            if self.crashed[step] > self._bound(judge, "crashes"):
                yield Finding(Law.BOUND, f"{step} starts after {self.crashed[step]} crashes in a row")

    def _bound(self, agent: WorkflowAgent, name: str) -> int:
        return int(dict(agent.own_bounds).get(name, getattr(self.task.plan.bounds, name)))

    def _reported(self, was: PMState, name: str) -> Iterator[Finding]:
        """Note what a verifier's run really said. Its run must be one of the agent's own verifier."""
        run = was.runs[name]
        self.crashed[run.step] = 0
        if not run.step.startswith("verify:"):
            return
        left = {each.agent: each for each in self.world.shared.verdicts.get(name, ())}
        points = {each.id: each.subjects for each in self.task.plan.checkpoints}
        subject = run.step.partition(":")[2]
        for agent in points.get(subject, (subject,)):
            if agent in self.passed:
                continue
            self.said[agent] = (name, left.get(agent))
            verdict = left[agent].verdict if agent in left else ""
            self.failed[agent] = self.failed[agent] + 1 if verdict == "fail" else self.failed[agent]
            if self.task.agents[agent].verifier != run.agent:
                yield Finding(Law.VERIFIED, f"{agent} is judged by {run.agent}, which is not its verifier")

    def _passes(self, state: PMState, fact: f.Fact, step: str) -> Iterator[Finding]:
        kind, _, name = step.partition(":")
        agent = self.task.agents.get(name)
        if kind != "verify" or agent is None:
            return
        self.passed.add(name)
        self.failed[name] = 0
        run, left = self.said.get(name, ("", None))
        record = state.records.get(name)
        notes = record.session.notes if record and record.session else ()
        if any(each.status is not NoteStatus.RESOLVED for each in notes):
            yield Finding(Law.VERIFIED, f"{name} is verified, and a note of it is not resolved")
        lacks = {each.path for each in agent.evidence}.union(agent.outputs).difference(
            path for path, _ in (record.outputs if record else ())
        )
        if lacks:
            yield Finding(Law.VERIFIED, f"{name} is verified without {', '.join(sorted(lacks))}")
        if agent.kind is AgentKind.POC and name in self._allowed:
            return
        if left is None and self._others_claimed(name, run):
            return  # whoever may write the file can say so while the verifier is at work: documented
        if left is None or left.verdict not in PASSES:
            yield Finding(
                Law.VERIFIED,
                f"{name} is verified, and its verifier said {left.verdict if left else 'nothing'!r}",
            )
        elif record and dict(record.outputs) != {path: sha256(data).hexdigest() for path, data in left.seen}:
            yield Finding(Law.VERIFIED, f"{name} is verified, and its verifier saw other outputs")

    def _others_claimed(self, agent: str, run: str) -> bool:
        folder = layout.orchestration(self.task.folder)
        since = self.opened.get(run, 0.0)
        return any(at >= since and by != run for at, by in self.world.shared.claims.get((folder, agent), ()))

    def _at_once(self, state: PMState) -> Iterator[Finding]:
        """At most so many runs are live as the plan wants, one of each agent, and none on the files of another."""
        plan = self.task.plan
        live = [state.steps[run.step] for run in state.live_runs]
        live = [step for step in live if step.id.startswith(("do:", "verify:"))]
        if len(live) > plan.max_parallel:
            yield Finding(Law.CAPS, f"{len(live)} agents are at work, and {plan.max_parallel} may be")
        for group, most in plan.groups:
            names = [step.id for step in live if self.task.agents[step.agent].group == group]
            if len(names) > most:
                yield Finding(Law.CAPS, f"{len(names)} of the group {group} are at work, and {most} may be")
        for name, times in Counter(step.agent for step in live).items():
            if times > 1:
                yield Finding(Law.CAPS, f"{name} is at work {times} times")
        claimed = defaultdict[str, list[str]](list)
        for step in live:
            if step.id.startswith("do:"):
                for path in self.task.agents[step.agent].files:
                    claimed[path].append(step.agent)
        for path, names in claimed.items():
            if len(names) > 1:
                yield Finding(Law.CAPS, f"{', '.join(names)} change {path} at once")

    # What is shown ---------------------------------------------------------------------------------

    def shown(self, state: PMState) -> list[Finding]:
        """Return where `shared_status.json` shows an agent as verified that is not, or the reverse.

        Not of those for whom a live run may speak: what stands there is a claim until its turn ends.
        """
        place = layout.orchestration(self.task.folder) / "shared_status.json"
        if self.world.files.entry(place) is None:
            return []
        try:
            document: Any = json.loads(self.world.files.read(place))
            agents = {name: entry["status"] for name, entry in document["agents"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return [Finding(Law.STATE_SHOWN, "shared_status.json cannot be read when all is over")]
        silent = agents.keys() - spoken_for_in(state)
        return [
            Finding(Law.STATE_SHOWN, f"shared_status.json shows {name} as {agents[name]}")
            for name in sorted(silent)
            if (agents[name] in SHOWN) is not (name in self.passed)
        ]


def _who_reports(was: PMState, fact: f.Fact) -> str:
    """Return the agent whose turn has ended by a fact."""
    run = (fact.report.run if isinstance(fact, f.ReportLanded) and fact.report else "") or ""
    return was.runs[run].agent if run in was.runs else ""


def _settled(was: PMState, agent: str, record: AgentRecord) -> Iterator[Finding]:
    """At the end of a turn every note is still there, and none that was escalated or resolved has changed."""
    known = was.records.get(agent)
    now = {each.id: each for each in record.session.notes} if record.session else {}
    for note in known.session.notes if known and known.session else ():
        if note.id not in now:
            yield Finding(Law.NOTES, f"{note.id} of {agent} was removed")
        elif note.status is NoteStatus.ESCALATED and now[note.id].status is not NoteStatus.ESCALATED:
            yield Finding(Law.NOTES, f"{note.id} of {agent} was escalated, and {agent} settled it")
        elif note.status is NoteStatus.RESOLVED and now[note.id] != note:
            yield Finding(Law.NOTES, f"{note.id} of {agent} was resolved, and has changed")
