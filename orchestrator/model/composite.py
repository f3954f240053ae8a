"""Composite skills and their sessions (S1, S2): phases, each the work of one agent, in six steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

STEPS: Final = (
    "generate_task_id",
    "classify_domain",
    "read_skill",
    "create_memory",
    "trigger_agents",
    "complete_workflow",
)
"""The names of the six steps, in order; the first is step 1."""

MEMORY_FOLDER: Final = ".claude/memory"
"""Where a session's memory files lie, below its project."""


class Domain(StrEnum):
    """What a request is about: it decides which learnings the agents get."""

    TECHNICAL = "technical"
    PERSONAL = "personal"
    CREATIVE = "creative"
    PROFESSIONAL = "professional"


DomainRules: TypeAlias = Mapping[Domain, tuple[str, ...]]
"""Words and phrases by domain; `debug*` stands for words that begin so."""


class Confidence(StrEnum):
    """How sure a classification or a match is."""

    CERTAIN = "CERTAIN"
    LIKELY = "LIKELY"
    UNSURE = "UNSURE"


class Context(StrEnum):
    """Which memory files of earlier phases a phase may read, besides the workflow context."""

    PREVIOUS = "previous"
    """That of the phase before it."""

    ALL = "all"
    """Those of all phases before it."""

    NONE = "none"
    """None."""


class SkillState(StrEnum):
    """What a session does next."""

    GENERATE_TASK_ID = "GENERATE_TASK_ID"
    CLASSIFY_DOMAIN = "CLASSIFY_DOMAIN"
    READ_SKILL = "READ_SKILL"
    CREATE_MEMORY = "CREATE_MEMORY"
    TRIGGER_AGENTS = "TRIGGER_AGENTS"
    COMPLETE_WORKFLOW = "COMPLETE_WORKFLOW"
    VALIDATE = "VALIDATE"
    COMPLETE = "COMPLETE"


@dataclass(frozen=True, slots=True)
class SkillPhase:
    """One phase of a skill. Its agent works in no other phase: the memory file is named by the agent.

    Attributes:
        id: The phase's name.
        agent: Who works in it.
        instructions: What the agent is asked for.
        context: Which memory files it may read: a pattern, or the ids of earlier phases.
        alongside: Whether it works at the same time as the phase before it.

    """

    id: str
    agent: str
    instructions: str = ""
    context: Context | tuple[str, ...] = Context.PREVIOUS
    alongside: bool = False


@dataclass(frozen=True, slots=True)
class CompositeSkill:
    """A skill of several phases.

    Attributes:
        name: Its name.
        phases: Its phases, in order; one at least.
        description: What it is for.
        match: Words and phrases by which a request for it is recognised; `build*` stands for words that begin so.
        domain: What its requests are about if no rule says otherwise.

    """

    name: str
    phases: tuple[SkillPhase, ...]
    description: str = ""
    match: tuple[str, ...] = ()
    domain: Domain | None = None

    def readable(self, phase: SkillPhase) -> tuple[str, ...]:
        """Return the agents whose memory files a phase may read: of phases that have ended before it begins."""
        before = self.before(phase)
        match phase.context:
            case Context.PREVIOUS:
                return tuple(each.agent for each in self.at_once(before[-1])) if before else ()
            case Context.ALL:
                return tuple(each.agent for each in before)
            case Context.NONE:
                return ()
            case wanted:
                return tuple(each.agent for each in before if each.id in wanted)

    def at_once(self, phase: SkillPhase) -> tuple[SkillPhase, ...]:
        """Return the phases that work at the same time as a phase, itself among them, in order."""
        first = last = self.phases.index(phase)
        while first and self.phases[first].alongside:
            first -= 1
        while last + 1 < len(self.phases) and self.phases[last + 1].alongside:
            last += 1
        return self.phases[first : last + 1]

    def before(self, phase: SkillPhase) -> tuple[SkillPhase, ...]:
        """Return the phases that have ended before a phase begins."""
        return self.phases[: self.phases.index(self.at_once(phase)[0])]


@dataclass(frozen=True, slots=True)
class Classified:
    """The domain of a request, how sure that is, and by what it was recognised."""

    domain: Domain
    confidence: Confidence
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PhaseDone:
    """A phase that was completed, with the agent's memory file as a path in the project."""

    phase: str
    agent: str
    memory_file: str


@dataclass(frozen=True, slots=True)
class SkillSession:
    """One run of a composite skill: all that its state file holds. An output that is None is not there yet.

    Attributes:
        session: The session's name, 12 hexadecimal digits.
        project: The absolute path of the project in which it works.
        skill: The name of the skill.
        request: What the user asks for.
        state: What it does next.
        task_id: The output of step 1, 12 hexadecimal digits.
        classified: That of step 2.
        config: That of step 3.
        memory_file: That of step 4: the workflow context, as a path in the project.
        phases_completed: That of step 5, in the order of the phases; empty until the first is completed.
        summary: That of step 6.
        task: The name of the task in which the daemon drives the session; empty while commands drive it.

    """

    session: str
    project: str
    skill: str
    request: str
    state: SkillState = SkillState.GENERATE_TASK_ID
    task_id: str | None = None
    classified: Classified | None = None
    config: CompositeSkill | None = None
    memory_file: str | None = None
    phases_completed: tuple[PhaseDone, ...] = ()
    summary: str | None = None
    task: str = ""

    @property
    def phase(self) -> SkillPhase | None:
        """The phase at work; None before the first and after the last."""
        if self.state is not SkillState.TRIGGER_AGENTS or self.config is None:
            return None
        done = len(self.phases_completed)
        return self.config.phases[done] if done < len(self.config.phases) else None


@dataclass(frozen=True, slots=True)
class SkillPlan:
    """The session that a task carries out, as the daemon took it over.

    Attributes:
        session: With the outputs of steps 1 to 4 at least.
        state_file: The absolute path of its state file.
        context: The SHA-256 of its workflow context.
        memories: The memory files that were complete by then, those of phases beside the one at work, too: each agent
            with its file's SHA-256.
        returned: Whether commands have taken the session back: the daemon has let go of it for good.

    """

    session: SkillSession
    state_file: str
    context: str = ""
    memories: tuple[tuple[str, str], ...] = ()
    returned: bool = False

    @property
    def skill(self) -> CompositeSkill:
        """The skill as step 3 read it."""
        if self.session.config is None:
            raise ValueError("a session is taken over after step 4")
        return self.session.config

    @property
    def task_id(self) -> str:
        """The output of step 1."""
        return self.session.task_id or ""

    @property
    def phases_left(self) -> tuple[SkillPhase, ...]:
        """The phases whose memory files were not complete when the daemon took the session over."""
        complete = {agent for agent, _ in self.memories}
        return tuple(phase for phase in self.skill.phases if phase.agent not in complete)


@dataclass(frozen=True, slots=True)
class AgentMemory:
    """What an agent left for those after it: the sections of its memory file."""

    summary: str
    output: str


@dataclass(frozen=True, slots=True)
class SkillMatch:
    """Which skill a request is for. `skill` is empty where nothing was recognised; `others` would suit too."""

    skill: str
    confidence: Confidence
    reason: str
    others: Sequence[str] = ()


def context_file(task_id: str) -> str:
    """Return the workflow context of a task as a path in its project."""
    return f"{MEMORY_FOLDER}/{task_id}-workflow-context.md"


def agent_memory_file(task_id: str, agent: str) -> str:
    """Return the memory file of an agent as a path in the project."""
    return f"{MEMORY_FOLDER}/{task_id}-{agent}-memory.md"


def name_of(path: str) -> str:
    """Return the name of a memory file, or of a workflow context, within its folder."""
    return path.rpartition("/")[2]
