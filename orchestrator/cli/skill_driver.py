"""Drives a session of a composite skill by directives: each command does one step and prints what comes next (S1, S4).

The state is saved before the directive of the next step is returned, so a session that ended anywhere goes on at the
same step. A step that was done already changes nothing: it shows the directive again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.cli.exits import SAID
from orchestrator.cli.screen import typed
from orchestrator.formats.skill.memory import read_memory, workflow_context
from orchestrator.formats.skill.prompt import phase_prompt
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
)
from orchestrator.model.errors import BadFile, Refused
from orchestrator.pm.plan.composite import machine
from orchestrator.pm.plan.composite.recognition import classify
from orchestrator.ports.files import Unreadable
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
        task_state: Returns in which state the task of a session is; empty if there is no such task.

    """

    new_id: Callable[[], str]
    skill: Callable[[SkillSession], CompositeSkill]
    rules: Callable[[SkillSession], DomainRules]
    learnings: Callable[[SkillSession], Sequence[str]]
    content: Callable[[SkillSession, int], str]
    task_state: Callable[[SkillSession], str] = lambda _: "running"


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
        return self._directive(self._loaded())

    def step(self, number: int, domain: Domain | None = None) -> str:
        """Do a step, if it is due, and return its instruction text with the next directive.

        Args:
            number: From 1 to 6.
            domain: In step 2, what the caller says that the request is about.

        Raises:
            Refused: a step before it has not been done.

        """
        session = self._loaded()
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
        """End the phase at work, if its memory file is complete, and return the directive of the next one.

        Phases that work at the same time end by one call, in the order of the skill, up to the first that is not
        complete.
        """
        session = self._loaded()
        at_once = _at_once(session)
        while True:
            phase = session.phase
            session = machine.phase_done(session, self._store.memory(session, phase.agent) if phase else None)
            if phase:
                self._store.keep(session, phase.agent)
            if session.phase not in at_once:
                self._begin_phases(session)
            self._store.save(session)
            if session.phase not in at_once:
                return self._phase_directive(session) if session.phase else self._directive(session)

    def complete(self) -> str:
        """End the session: every output and every memory file is there. Return the last line."""
        session = self._loaded(ended=True)
        ended = machine.validated(session, self._store.memories(session))
        if ended != session:
            self._store.save(ended)
        return DONE

    def session(self) -> SkillSession:
        """Return the session, whoever drives it. Raises Refused."""
        return self._store.load()

    def take_over(self, task: str) -> SkillSession:
        """Do the steps that are due before the phases, end the phase at work if it is complete, and name a task.

        From then on the daemon drives the session in that task, and the commands refuse it. Raises Refused where no
        phase is left, or another task drives it.
        """
        session = self._store.load()
        if session.task not in {"", task}:
            raise Refused(self.driven(session))
        while machine.ORDER.index(session.state) < machine.ORDER.index(SkillState.TRIGGER_AGENTS):
            session = self._processed(session, None)
            self._store.save(session)
        if not session.task and session.phase is not None:
            with suppress(BadFile, Unreadable):
                self.advance_phase()
            session = self._store.load()
        if session.phase is None:
            raise Refused(f"no phase is left to work on: {self._directive(session)}")
        session = replace(session, task=task)
        self._store.save(session)
        return session

    def give_back(self, task: str) -> None:
        """Let the commands drive a session again that a task was to drive, and has not begun."""
        session = self._store.load()
        if session.task == task:
            self._store.save(replace(session, task=""))

    def _loaded(self, *, ended: bool = False) -> SkillSession:
        """Return the session, if commands drive it. Raises Refused. `ended`: one that has ended is anybody's."""
        session = self._store.load()
        if session.task and not (ended and session.state is SkillState.COMPLETE):
            raise Refused(self.driven(session))
        return session

    def driven(self, session: SkillSession) -> str:
        """Return why a command does nothing: a task drives the session, or did, or was to; and what helps."""
        task = session.task
        if session.state is SkillState.COMPLETE:
            return f"the task {task} has carried this session out: it is complete"
        state = self._around.task_state(session)
        again = typed("task", "skill", "run", "--daemon", "--state", self._store.path)
        back = typed("task", "skill", "run", "--state", self._store.path)
        if not state:
            return (
                f"the task {task} that drove this session was deleted or archived: `{again}` goes on with a new one, "
                f"`{back}` goes on here"
            )
        if state not in {"running", "waiting", "requested"}:
            return (
                f"the task {task} drives this session, and is {SAID.get(state, state)}: `{again}` goes on with it, "
                f"`{back}` takes the session back"
            )
        return f"the task {task} drives this session: `task status {task}` shows how far it is"

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
                session = machine.memory_created(session)
                self._begin_phases(session)
                return session
            case SkillState.COMPLETE_WORKFLOW:
                return machine.summarized(session, self._store.memories(session))
            case SkillState.TRIGGER_AGENTS | SkillState.VALIDATE | SkillState.COMPLETE:
                raise Refused(f"{session.state} is no step of its own")

    def _begin_phases(self, session: SkillSession) -> None:
        """Set memory files aside that lie there ahead of their phases, as long as no directive has named the agents."""
        for phase in _at_once(session):
            self._store.set_aside(session, phase)

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
        due = [phase for phase in _at_once(session) if not self._is_complete(session, phase)]
        due = due or [phase for phase in (session.phase,) if phase]
        if not due or session.config is None:
            raise Refused("no phase is at work")
        lines = list[str]()
        if len(due) > 1:
            lines += [
                f"MANDATORY DIRECTIVE: start these {len(due)} agents at the same time, and wait for all.",
                "",
            ]
        for phase in due:
            lines += [
                f"Phase {session.config.phases.index(phase) + 1} of {len(session.config.phases)}: {phase.id}",
                "",
                f"MANDATORY DIRECTIVE: Execute Task tool with subagent_type: '{phase.agent}'",
                "Prompt:",
                "",
                *(f"    {line}".rstrip() for line in phase_prompt(session, phase).splitlines()),
                "",
            ]
        ended = "When the agent has ended:" if len(due) == 1 else "When all these agents have ended:"
        return "\n".join([*lines, ended, "", self._run("advance_phase")])

    def _is_complete(self, session: SkillSession, phase: SkillPhase) -> bool:
        """Return whether a phase's memory file is complete: its agent is not to be started again."""
        try:
            data = self._store.memory(session, phase.agent)
            if data is not None:
                read_memory(data, session.task_id or "", phase)
        except Refused:
            return False
        return data is not None


def _at_once(session: SkillSession) -> tuple[SkillPhase, ...]:
    """Return the phases that are at work: that whose turn it is, and those after it that work at the same time."""
    phase, config = session.phase, session.config
    if phase is None or config is None:
        return ()
    together = config.at_once(phase)
    return together[together.index(phase) :]
