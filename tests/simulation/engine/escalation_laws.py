"""The laws of escalated notes, held by what the user, the resolvers and the architect really said."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.model.escalation import CaseState, EscalationCase, Via
from orchestrator.model.plan import StepState
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow_records import Note, NoteStatus, Resolver
from tests.simulation.engine.law import Finding, Law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.pm.state.task_state import PMState
    from tests.simulation.engine.workflow_player import Left
    from tests.simulation.engine.workflow_tasks import WorkflowTask
    from tests.simulation.engine.world import World

BY_EDIT = "The plan was changed as proposed."
NO_EDIT = "The plan could not be changed as proposed. Go on without that."


@dataclass(slots=True)
class EscalationLaws:
    """What is known of the escalations of one workflow.

    passed: the agents that are verified. said: the last verdict on each, and the run that gave it. open: the
    escalations that wait for an answer. looped: how often the loop agent was asked about each agent's task since the
    user last dealt with it.
    """

    world: World
    task: WorkflowTask
    passed: set[str]
    said: dict[str, tuple[str, Left | None]]
    open: set[int] = field(default_factory=set)
    looped: Counter[tuple[str, str]] = field(default_factory=Counter)

    def moved(self, state: PMState, case: EscalationCase) -> Iterator[Finding]:
        """Where somebody is asked, nobody waits who came earlier, and the loop agent is not asked without end."""
        self.open.discard(case.number)
        earlier = {each for each in self.open if each < case.number}
        if case.open:
            self.open.add(case.number)
        if case.state is CaseState.SETTLED:
            yield from _lost(state, case)
        if case.state is not CaseState.ASKED:
            return
        self.world.shared.did[f"escalation asks the {case.to}"] += 1
        if earlier:
            yield Finding(Law.ESCALATED, f"{case.number} is asked about, and {min(earlier)} came first")
        about = (case.agent, case.task_id)
        if case.to is Via.USER and case.loop:
            self.looped[about] = 0
        if case.to is Via.LOOP:
            self.looped[about] += 1
            if self.looped[about] > self.task.plan.bounds.loops:
                yield Finding(
                    Law.ESCALATED, f"{case.agent} goes to the loop agent for the {self.looped[about]}. time"
                )

    def answered(
        self, state: PMState, agent: str, known: AgentRecord | None, record: AgentRecord
    ) -> Iterator[Finding]:
        """A note that was escalated is resolved: somebody must have said so."""
        before = {each.id: each for each in known.session.notes} if known and known.session else {}
        for note in record.session.notes if record.session else ():
            was = before.get(note.id)
            resolved = note.status is NoteStatus.RESOLVED
            if was is None or was.status is not NoteStatus.ESCALATED or not resolved:
                continue
            if not self._was_said(state, agent, note):
                yield Finding(
                    Law.ESCALATED,
                    f"{note.id} of {agent} is resolved by {note.resolved_by}, who never said: {note.resolution}",
                )

    def _was_said(self, state: PMState, agent: str, note: Note) -> bool:
        text = note.resolution or ""
        if note.resolved_by is Resolver.USER:
            words = {each.answer for each in state.questions.values() if each.answer} | {BY_EDIT, NO_EDIT}
            return any(text == each or text.startswith(f"{each}\n(") for each in words)
        folder = layout.orchestration(self.task.folder)
        return text in self.world.shared.answers.get((folder, agent, note.id), ()) or text in self._decided()

    def _decided(self) -> set[str]:
        """Return what the architect decided, once its verifier has passed that."""
        architect = self.task.plan.escalation.architect
        _, left = self.said.get(architect, ("", None))
        if architect not in self.passed or left is None:
            return set()
        return {b"\n".join(data for _, data in left.seen).decode().strip()}


def _lost(state: PMState, case: EscalationCase) -> Iterator[Finding]:
    """An agent that goes on has what was answered in its notes."""
    record = state.records.get(case.agent)
    if state.steps[case.step].state is StepState.SET_ASIDE or record is None or record.session is None:
        return
    waiting = {each.id for each in record.session.notes if each.status is NoteStatus.ESCALATED}
    for note in case.notes:
        if note.via is Via.NOBODY and note.id in waiting:
            yield Finding(Law.ESCALATED, f"{note.id} of {case.agent} was answered, and it never hears of it")
