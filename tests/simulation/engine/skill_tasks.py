"""A task of the user in which the daemon drives a composite skill, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Final

from orchestrator import layout
from orchestrator.formats.skill.memory import workflow_context
from orchestrator.formats.skill.seal import sealed
from orchestrator.formats.skill.state import write_session
from orchestrator.model.composite import (
    Classified,
    CompositeSkill,
    Confidence,
    Context,
    Domain,
    SkillPhase,
    SkillSession,
    SkillState,
    context_file,
)
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE
from orchestrator.records.skill_store import state_file
from tests.simulation.engine.daemon import STATE
from tests.simulation.engine.user_task import PROJECT, UserTask

KEY: Final = "0123456789abcdef0123456789abcdef"
"""By which all state files are sealed."""

LOOSE: Final = ("dev", "explore", "review")
"""Agents that may work beside the phases: the user spawns them, and one judges criteria."""

ALONE: Final = CompositeSkill("make", (SkillPhase("p0", "a0"),))


def drawn_skill(random: Random) -> CompositeSkill:
    """Return a skill of two to five phases, some of them at the same time."""
    count = random.randint(2, 5)
    return CompositeSkill(
        "make",
        tuple(
            SkillPhase(
                f"p{number}",
                f"a{number}",
                f"Do p{number}.",
                random.choice(tuple(Context)),
                alongside=number > 0 and random.random() < 0.4,
            )
            for number in range(count)
        ),
    )


@dataclass(frozen=True)
class SkillTask(UserTask):
    """A task of the family `skills`. judged: it has criteria beside that of the protocol."""

    skill: CompositeSkill = ALONE
    judged: bool = False

    @cached_property
    def session(self) -> SkillSession:
        """The session as it was handed over: its first phase is due."""
        number = sum(map(ord, self.name))
        task_id = f"{number:012x}"
        return SkillSession(
            f"{number:012x}",
            str(PROJECT),
            self.skill.name,
            f"Make {self.name}",
            SkillState.TRIGGER_AGENTS,
            task_id,
            Classified(Domain.TECHNICAL, Confidence.LIKELY, "it says make"),
            self.skill,
            context_file(task_id),
            task=self.name,
        )

    @cached_property
    def state_file(self) -> Path:
        """The session's state file."""
        return state_file(PROJECT, self.session.session)

    @cached_property
    def context(self) -> bytes:
        """The workflow context."""
        return workflow_context(self.session, ()).encode()

    def design(self) -> dict[str, str]:
        """Return the files of the session by their absolute paths."""
        context = PROJECT / context_file(self.session.task_id or "")
        return {
            str(layout.skill_key(STATE)): KEY,
            str(self.state_file): sealed(
                write_session(self.session), KEY.encode(), str(self.state_file)
            ).decode(),
            str(context): self.context.decode(),
        }

    def brief(self, goal: str, criteria: tuple[str, ...]) -> str:
        """Return task.md."""
        named = self.state_file.relative_to(PROJECT)
        lines = ["family: skills", f"session: {named}", f"workspace: {self.workspace}"]
        lines += [
            f"{agent}.command: {agent}" for agent in (*(each.agent for each in self.skill.phases), *LOOSE)
        ]
        lines += [f"unanswered: {self.unanswered}"] if self.unanswered else []
        wanted = criteria if self.judged else (MEMORIES_COMPLETE,)
        listed, config = "\n".join(f"- {each}" for each in wanted), "\n".join(lines)
        return f"# Task: {self.name}\n\n## Goal\n{goal}\n\n## Success Criteria\n{listed}\n\n## Agent Config\n{config}\n"
