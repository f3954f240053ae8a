"""What must hold of phases: each ends by what its own agent left, in its order, and the state file says so."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from orchestrator.formats.skill.memory import read_memory
from orchestrator.formats.skill.state import read_session
from orchestrator.model.composite import SkillState, agent_memory_file
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.plan import StepState
from orchestrator.pm.plan.families.skills import phase_step
from orchestrator.pm.state.run_changes import RunOpened
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.user_task import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.composite import SkillPhase
    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from tests.simulation.engine.skill_tasks import SkillTask
    from tests.simulation.engine.world import World


@dataclass(slots=True)
class SkillLaws:
    """The phases of one task."""

    world: World
    task: SkillTask

    def enter(self, was: PMState, fact: Fact, decision: Decision) -> list[Finding]:
        """Enter a line of the journal, and return the laws that it breaks."""
        del fact
        now = decision.state
        opened = {each.run.step for each in decision.changes if isinstance(each, RunOpened)}
        found = list[str]()
        if opened and was.brief.skill is not None and was.brief.skill.returned:
            found.append(f"{sorted(opened)} began, and the session was given back")
        for phase in self.task.skill.phases:
            step = phase_step(phase.id)
            if step in opened:
                found += [
                    f"{phase.id} began before {each.id} had passed"
                    for each in self.task.skill.before(phase)
                    if not _passed(now, each)
                ]
            if _passed(now, phase) and not _passed(was, phase):
                found += self._unproven(now, phase)
        return [Finding(Law.PHASES, each) for each in found]

    def _unproven(self, state: PMState, phase: SkillPhase) -> Iterator[str]:
        """Yield why a phase must not have passed: what was handed in is not what its agent really left."""
        path = agent_memory_file(self.task.session.task_id or "", phase.agent)
        record = state.records.get(phase.agent)
        if record is None or [each for each, _ in record.outputs] != [path]:
            yield f"{phase.id} passed without a memory file"
        elif record.outputs[0][1] not in self.world.shared.memories.get(path, set()):
            yield f"{phase.id} passed by a memory file that its agent did not leave"

    def shown(self, state: PMState) -> list[Finding]:
        """Return how the files of the session differ from what the journal says, when all is over."""
        return [Finding(Law.SESSION_SHOWN, each) for each in self._differences(state)]

    def _differences(self, state: PMState) -> Iterator[str]:
        if state.brief.skill is None or state.brief.skill.returned:
            return  # `skill_commands` looks at a session that was given back
        files, path = self.world.files, self.task.state_file
        try:
            session = read_session(files.read(path), path.name)
        except OrchestratorError as error:
            yield f"the state file does not read: {error}"
            return
        done = list[str]()
        for phase in self.task.skill.phases:
            if not _passed(state, phase):
                break
            done.append(phase.id)
        whole = len(done) == len(self.task.skill.phases)
        if [each.phase for each in session.phases_completed] != done:
            yield f"the state file has {len(session.phases_completed)} phases, and {len(done)} have passed"
        if session.task != self.task.name:
            yield f"the state file is of {session.task or 'nobody'}"
        if session.state is not (SkillState.COMPLETE if whole else SkillState.TRIGGER_AGENTS):
            yield f"the state file says {session.state}"
        if whole:
            yield from self._incomplete(state)

    def _incomplete(self, state: PMState) -> Iterator[str]:
        """Yield which memory files of an ended session are not what was handed in."""
        files, task_id = self.world.files, self.task.session.task_id or ""
        for phase in self.task.skill.phases:
            path = agent_memory_file(task_id, phase.agent)
            try:
                data = files.read(PROJECT / path)
                read_memory(data, task_id, phase)
            except OrchestratorError as error:
                yield f"{path} is not complete at the end: {error}"
                continue
            if sha256(data).hexdigest() != state.records[phase.agent].outputs[0][1]:
                yield f"{path} is not what was handed in"


def _passed(state: PMState, phase: SkillPhase) -> bool:
    step = state.steps.get(phase_step(phase.id))
    return step is not None and step.state is StepState.PASSED
