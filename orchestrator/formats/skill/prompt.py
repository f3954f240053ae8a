"""What the agent of a phase is asked for, whoever drives the session: it has to be the same for both drivers (S4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.formats.skill.memory import memory_form
from orchestrator.formats.text import neutral
from orchestrator.model.composite import agent_memory_file, context_file, name_of

if TYPE_CHECKING:
    from orchestrator.model.composite import SkillPhase, SkillSession


def phase_prompt(session: SkillSession, phase: SkillPhase) -> str:
    """Return what an agent is asked for in a phase: its instructions, what it may read, and what it has to write."""
    return f"{neutral(phase_instructions(phase))}\n\n{memory_request(session, phase)}"


def phase_instructions(phase: SkillPhase) -> str:
    """Return the instructions of a phase."""
    return phase.instructions.strip() or f"Carry out the phase {phase.id} of the request."


def memory_request(session: SkillSession, phase: SkillPhase, folder: str = "") -> str:
    """Return which memory files an agent may read, and which it has to write, in its form.

    Args:
        session: With the outputs of steps 1 to 4.
        phase: One of its phases.
        folder: The folder of the memory files, absolute, for an agent that does not see the project's own.

    """
    task_id, config = session.task_id or "", session.config
    readable = config.readable(phase) if config else ()
    read = [context_file(task_id), *(agent_memory_file(task_id, agent) for agent in readable)]
    own = agent_memory_file(task_id, phase.agent)
    if folder:
        read, own = [name_of(each) for each in read], name_of(own)
    return neutral(
        "\n".join(
            [
                f"All paths are in {folder or session.project}.",
                f"Read first: {', '.join(read)}. Read no other memory file.",
                f"At the end write {own} in this form, its last line last:",
                "",
                memory_form(task_id, phase),
            ]
        )
    )
