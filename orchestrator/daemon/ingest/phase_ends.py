"""The end of a turn of a phase's agent: its memory file becomes its report; an incomplete one hands nothing in (S3)."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.core.memory_files import MemoryFolder
from orchestrator.formats.skill.memory import read_memory
from orchestrator.formats.text import cut
from orchestrator.model.composite import agent_memory_file
from orchestrator.model.errors import BadFile
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.model.turn_end import TurnEnd
from orchestrator.pm.plan.families.skills import phase_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

SUMMARY: Final = 4000
"""How many characters of a summary its handoff repeats."""

_UNCHANGED: Final = "its outcome is in its memory file"


def phase_end(files: Files, state: PMState, run: Run, kept: list[bytes]) -> Report:
    """Return the report of a phase's run, by the memory file that lies there when its turn has ended.

    `kept` is given the bytes of a complete one. Raises OSError.
    """
    plan, phase = state.brief.skill, phase_of(state.brief, state.steps[run.step])
    if plan is None or phase is None:
        raise ValueError(f"{run.step} is no phase of a skill")
    path = agent_memory_file(plan.task_id, phase.agent)
    try:
        data = MemoryFolder(files, Path(state.project)).memory(path)
        memory = None if data is None else read_memory(data, plan.task_id, phase)
    except (BadFile, Unreadable) as problem:
        return _asked(run, f"your memory file is not complete: {problem}")
    if data is None or memory is None:
        return _asked(run, f"your turn is over, and {state.project}/{path} is missing: write it")
    kept.append(data)
    digest = sha256(data).hexdigest()
    return Report(
        ReportStatus.COMPLETE,
        run=run.id,
        in_reply_to=run.order,
        completed=cut(memory.summary, SUMMARY),
        artifacts=(f"{state.project}/{path}",),
        unchanged=_UNCHANGED,
        turn=TurnEnd(outputs=((path, digest),), version=digest),
    )


def _asked(run: Run, why: str) -> Report:
    """Return a report that hands nothing in, so that the agent is asked again, with the reason."""
    return Report(ReportStatus.IN_PROGRESS, run=run.id, in_reply_to=run.order, completed=why, turn=TurnEnd())
