"""The machine of a composite skill: six steps, and the phases within the fifth (S1, S3, S5).

::

    GENERATE_TASK_ID ─▶ CLASSIFY_DOMAIN ─▶ READ_SKILL ─▶ CREATE_MEMORY ─▶ TRIGGER_AGENTS ⟲ a phase is done
                                                                              │ the last phase is done
                                     COMPLETE ◀─ VALIDATE ◀─ COMPLETE_WORKFLOW ◀┘

A session changes by the functions here alone; what is not in `TRANSITIONS` is refused and changes nothing. A phase ends
by the bytes of its memory file, which are read here: there is no other way. Whatever drives the machine keeps
the session; `checked` refuses one whose state and outputs do not belong together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from orchestrator.formats.skill.memory import read_memory
from orchestrator.model.composite import (
    AgentMemory,
    Classified,
    CompositeSkill,
    PhaseDone,
    SkillPhase,
    SkillSession,
    SkillState,
    agent_memory_file,
    context_file,
)
from orchestrator.model.errors import BadFile, Fault, Refused


class Event(StrEnum):
    """What can happen to a session."""

    TASK_ID_MADE = "a task id was made"
    DOMAIN_CLASSIFIED = "the domain was classified"
    SKILL_READ = "the skill was read"
    MEMORY_CREATED = "the workflow context was written"
    PHASE_DONE = "a phase was completed"
    LAST_PHASE_DONE = "the last phase was completed"
    SUMMARIZED = "the work was summarized"
    VALIDATED = "everything was found complete"


S, E = SkillState, Event

TRANSITIONS: Final[Mapping[tuple[SkillState, Event], SkillState]] = {
    (S.GENERATE_TASK_ID, E.TASK_ID_MADE): S.CLASSIFY_DOMAIN,
    (S.CLASSIFY_DOMAIN, E.DOMAIN_CLASSIFIED): S.READ_SKILL,
    (S.READ_SKILL, E.SKILL_READ): S.CREATE_MEMORY,
    (S.CREATE_MEMORY, E.MEMORY_CREATED): S.TRIGGER_AGENTS,
    (S.TRIGGER_AGENTS, E.PHASE_DONE): S.TRIGGER_AGENTS,
    (S.TRIGGER_AGENTS, E.LAST_PHASE_DONE): S.COMPLETE_WORKFLOW,
    (S.COMPLETE_WORKFLOW, E.SUMMARIZED): S.VALIDATE,
    (S.VALIDATE, E.VALIDATED): S.COMPLETE,
    (S.COMPLETE, E.VALIDATED): S.COMPLETE,
}
"""Where an event leads. In any other state it is refused."""

ORDER: Final = tuple(SkillState)
"""The states in the order in which a session goes through them."""


def task_id_made(session: SkillSession, task_id: str) -> SkillSession:
    """Step 1: give the session its task id, 12 hexadecimal digits. Raises Refused, as all functions here."""
    return replace(session, state=_after(session, E.TASK_ID_MADE), task_id=task_id)


def domain_classified(session: SkillSession, classified: Classified) -> SkillSession:
    """Step 2."""
    return replace(session, state=_after(session, E.DOMAIN_CLASSIFIED), classified=classified)


def skill_read(session: SkillSession, skill: CompositeSkill) -> SkillSession:
    """Step 3: keep the skill as it was read. What becomes of its file later changes this session no more."""
    state = _after(session, E.SKILL_READ)
    if skill.name != session.skill:
        raise Refused(f"the session is of the skill {session.skill}, not of {skill.name}")
    return replace(session, state=state, config=skill)


def memory_created(session: SkillSession) -> SkillSession:
    """Step 4: the workflow context lies at its place."""
    state = _after(session, E.MEMORY_CREATED)
    return replace(session, state=state, memory_file=context_file(_task_id(session)))


def phase_done(session: SkillSession, memory: bytes | None) -> SkillSession:
    """End the phase at work by its agent's memory file; `memory` is its bytes, None if there is no such file.

    Raises:
        Refused: no phase is at work.
        BadFile: the memory file is missing or incomplete, with everything that it lacks.

    """
    _after(session, E.PHASE_DONE)
    phase, config = session.phase, session.config
    if phase is None or config is None:
        raise Refused("no phase is at work")
    _complete(session, phase, memory)
    last = phase == config.phases[-1]
    task_id = _task_id(session)
    done = PhaseDone(phase.id, phase.agent, agent_memory_file(task_id, phase.agent))
    return replace(
        session,
        state=_after(session, E.LAST_PHASE_DONE if last else E.PHASE_DONE),
        phases_completed=(*session.phases_completed, done),
    )


def summarized(session: SkillSession, memories: Mapping[str, bytes]) -> SkillSession:
    """Step 6: gather what the agents left. `memories` has the bytes of the memory files by agent.

    Raises:
        BadFile: one of them is missing or incomplete by now.

    """
    state = _after(session, E.SUMMARIZED)
    found = _memories(session, memories)
    parts = [f"Workflow completed successfully: {session.skill}, {_phases(len(found))}."]
    parts += [f"## {phase.id} ({phase.agent})\n\n{memory.summary}" for phase, memory in found]
    return replace(session, state=state, summary="\n\n".join(parts))


def validated(session: SkillSession, memories: Mapping[str, bytes]) -> SkillSession:
    """End the session: all six outputs are there, and every memory file still is complete. Raises BadFile.

    A session that is over is looked through again: a state file that only says so is not believed.
    """
    state = _after(session, E.VALIDATED)
    _memories(session, memories)
    return replace(session, state=state)


def checked(session: SkillSession) -> SkillSession:
    """Return a session that was read from a file, if it can have come about by the functions here.

    Raises:
        Refused: a step is skipped, a phase is claimed out of order, or a path is not what the task id makes it.

    """
    at = ORDER.index(session.state)
    outputs = {
        1: (session.task_id, S.CLASSIFY_DOMAIN),
        2: (session.classified, S.READ_SKILL),
        3: (session.config, S.CREATE_MEMORY),
        4: (session.memory_file, S.TRIGGER_AGENTS),
        6: (session.summary, S.VALIDATE),
    }
    for number, (output, since) in outputs.items():
        if (output is not None) != (at >= ORDER.index(since)):
            there = "is missing" if output is None else "is there too early"
            raise Refused(f"the state is {session.state}, and the output of step {number} {there}")
    if session.config is not None and session.config.name != session.skill:
        raise Refused(f"the skill's configuration is that of {session.config.name}, not of {session.skill}")
    if session.memory_file is not None and session.memory_file != context_file(_task_id(session)):
        raise Refused(f"the memory file is not {context_file(_task_id(session))}")
    _check_phases(session)
    return session


def _check_phases(session: SkillSession) -> None:
    done, phases = session.phases_completed, session.config.phases if session.config else ()
    first = [
        PhaseDone(each.id, each.agent, agent_memory_file(_task_id(session), each.agent))
        for each in phases[: len(done)]
    ]
    if list(done) != first:
        raise Refused(
            "the completed phases are not the first ones of the skill, each with its own memory file"
        )
    at, here = ORDER.index(session.state), ORDER.index(S.TRIGGER_AGENTS)
    if (
        (at < here and done)
        or (at == here and len(done) == len(phases))
        or (at > here and len(done) != len(phases))
    ):
        raise Refused(f"{len(done)} of {len(phases)} phases are completed, and the state is {session.state}")


def _after(session: SkillSession, event: Event) -> SkillState:
    found = TRANSITIONS.get((session.state, event))
    if found is None:
        raise Refused(f"{event} does not come now: the session's next step is {session.state}")
    return found


def _task_id(session: SkillSession) -> str:
    if session.task_id is None:
        raise Refused("the session has no task id yet")
    return session.task_id


def _complete(session: SkillSession, phase: SkillPhase, memory: bytes | None) -> AgentMemory:
    task_id = _task_id(session)
    if memory is None:
        name = agent_memory_file(task_id, phase.agent)
        raise BadFile(name, [Fault(0, f"is missing: {phase.agent} has to write it")])
    return read_memory(memory, task_id, phase)


def _memories(session: SkillSession, memories: Mapping[str, bytes]) -> list[tuple[SkillPhase, AgentMemory]]:
    if session.config is None:
        raise Refused("the session has read no skill yet")
    return [(phase, _complete(session, phase, memories.get(phase.agent))) for phase in session.config.phases]


def _phases(count: int) -> str:
    return "1 phase" if count == 1 else f"{count} phases"
