"""Drives a session of a composite skill by directives: each command does one step and prints what comes next (S1, S4).

The state is saved before the directive of the next step is returned, so a session that ended anywhere goes on at the
same step. A step that was done already changes nothing: it shows the directive again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.cli.screen import typed
from orchestrator.formats.skill.memory import memory_form, workflow_context
from orchestrator.formats.text import neutral
from orchestrator.model.composite import (
    STEPS,
    Classified,
    CompositeSkill,
    Confidence,
    Domain,
    DomainRules,
    SkillPhase,
    SkillSession,
    SkillState,
    agent_memory_file,
    context_file,
)
from orchestrator.model.errors import Refused
from orchestrator.pm.plan.composite import machine
from orchestrator.pm.plan.composite.recognition import classify
from orchestrator.records.skill_store import SkillStore

STEP_NAMES: Final = tuple(f"step_{number}_{name}" for number, name in enumerate(STEPS, 1))
"""The names of the commands for the six steps."""

DONE: Final = "SKILL_ORCHESTRATION_COMPLETE"
"""The line by which a session ends."""

_AGENTS_STEP: Final = 5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a session needs to know of the world.

    Attributes:
        new_id: Makes 12 random hexadecimal digits.
        skill: Returns the skill of a session, or raises Refused.
        rules: Returns the rules for domains that hold in its project.
        learnings: Returns what was learned about its domain.
        content: Returns the instruction text of a step.

    """

    new_id: Callable[[], str]
    skill: Callable[[SkillSession], CompositeSkill]
    rules: Callable[[SkillSession], DomainRules]
    learnings: Callable[[SkillSession], Sequence[str]]
    content: Callable[[SkillSession, int], str]


class SkillDriver:
    """The commands of a session; each returns the text to print. They raise Refused, BadFile and OSError.

    Args:
        store: The session's files.
        around: What it needs to know of the world.

    """

    def __init__(self, store: SkillStore, around: Surroundings) -> None:
        self._store = store
        self._around = around

    def dispatch(self, session: SkillSession) -> str:
        """Begin a session; return the directive for its entry."""
        self._store.create(session)
        return self._run("entry")

    def entry(self) -> str:
        """Return the directive of the step that comes next: of the first, or of that at which the session stands."""
        return self._directive(self._store.load())

    def step(self, number: int, domain: Domain | None = None) -> str:
        """Do a step, if it is due, and return its instruction text with the next directive.

        Args:
            number: From 1 to 6.
            domain: In step 2, what the caller says that the request is about.

        Raises:
            Refused: a step before it has not been done.

        """
        session = self._store.load()
        at, due = machine.ORDER.index(session.state), number - 1
        if at < due:
            raise Refused(f"step {number} does not come now: the next is {STEP_NAMES[at]}")
        if at > due:
            return f"Step {number} is done.\n\n{self._directive(session)}"
        content = self._around.content(session, number)
        if number == _AGENTS_STEP:
            return f"{neutral(content)}\n{self._phase_directive(session)}"
        session = self._processed(session, domain)
        self._store.save(session)
        return f"{neutral(content)}\n{self._directive(session)}"

    def advance_phase(self) -> str:
        """End the phase at work, if its memory file is complete, and return the directive of the next one."""
        session = self._store.load()
        phase = session.phase
        session = machine.phase_done(session, self._store.memory(session, phase.agent) if phase else None)
        if phase:
            self._store.keep(session, phase.agent)
        self._store.save(session)
        return self._phase_directive(session) if session.phase else self._directive(session)

    def complete(self) -> str:
        """End the session: every output and every memory file is there. Return the last line."""
        session = self._store.load()
        ended = machine.validated(session, self._store.memories(session))
        if ended != session:
            self._store.save(ended)
        return DONE

    # The steps ------------------------------------------------------------------------------------

    def _processed(self, session: SkillSession, domain: Domain | None) -> SkillSession:
        around = self._around
        match session.state:
            case SkillState.GENERATE_TASK_ID:
                return machine.task_id_made(session, around.new_id())
            case SkillState.CLASSIFY_DOMAIN:
                return machine.domain_classified(session, self._classified(session, domain))
            case SkillState.READ_SKILL:
                return machine.skill_read(session, around.skill(session))
            case SkillState.CREATE_MEMORY:
                self._store.write_context(session, workflow_context(session, around.learnings(session)))
                return machine.memory_created(session)
            case SkillState.COMPLETE_WORKFLOW:
                return machine.summarized(session, self._store.memories(session))
            case SkillState.TRIGGER_AGENTS | SkillState.VALIDATE | SkillState.COMPLETE:
                raise Refused(f"{session.state} is no step of its own")

    def _classified(self, session: SkillSession, domain: Domain | None) -> Classified:
        if domain is not None:
            return Classified(domain, Confidence.CERTAIN, "it was given")
        return classify(session.request, self._around.rules(session), self._around.skill(session).domain)

    # The directives -------------------------------------------------------------------------------

    def _directive(self, session: SkillSession) -> str:
        match session.state:
            case SkillState.VALIDATE | SkillState.COMPLETE:
                return self._run("complete")
            case state:
                return self._run(STEP_NAMES[machine.ORDER.index(state)])

    def _run(self, command: str) -> str:
        words = typed("task", "skill", command, "--state", self._store.path)
        return f"MANDATORY DIRECTIVE: execute this command now, and follow what it prints:\n\n    {words}\n"

    def _phase_directive(self, session: SkillSession) -> str:
        phase, config = session.phase, session.config
        if phase is None or config is None:
            raise Refused("no phase is at work")
        number = config.phases.index(phase) + 1
        return "\n".join(
            [
                f"Phase {number} of {len(config.phases)}: {phase.id}",
                "",
                f"MANDATORY DIRECTIVE: Execute Task tool with subagent_type: '{phase.agent}'",
                "Prompt:",
                "",
                *(f"    {line}".rstrip() for line in phase_prompt(session, phase).splitlines()),
                "",
                "When the agent has ended:",
                "",
                self._run("advance_phase"),
            ]
        )


def phase_prompt(session: SkillSession, phase: SkillPhase) -> str:
    """Return what an agent is asked for in a phase: its instructions, what it may read, and what it has to write."""
    task_id, config = session.task_id or "", session.config
    read = [agent_memory_file(task_id, agent) for agent in (config.readable(phase) if config else ())]
    return neutral(
        "\n".join(
            [
                phase.instructions.strip() or f"Carry out the phase {phase.id} of the request.",
                "",
                f"All paths are in {session.project}.",
                f"Read first: {', '.join([context_file(task_id), *read])}. Read no other memory file.",
                f"At the end write {agent_memory_file(task_id, phase.agent)} in this form, its last line last:",
                "",
                memory_form(task_id, phase),
            ]
        )
    )
