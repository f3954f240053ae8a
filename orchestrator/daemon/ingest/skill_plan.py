"""The session of a composite skill, read when its task starts. From then on the journal has it (S4)."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.memory_files import MemoryFolder
from orchestrator.formats.skill.memory import read_memory
from orchestrator.model.composite import SkillPlan, SkillState, agent_memory_file, context_file
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.task import SKILLS
from orchestrator.pm.plan.composite.obstacles import obstacles
from orchestrator.records.skill_key import skill_key
from orchestrator.records.skill_store import SkillStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.composite import SkillSession
    from orchestrator.model.task import Brief
    from orchestrator.ports.files import Files


def with_skill(
    files: Files, project: Path, home: Path, name: str, brief: Brief, running: SkillPlan | None = None
) -> Brief:
    """Return what a task asks for together with the session that it carries out, if it is of that family.

    Args:
        files: The disk.
        project: The task's project.
        home: The task's own folder, which keeps the memory files of completed phases.
        name: The task's name.
        brief: Its task.md.
        running: The session of a task that was begun: it stays.

    Raises:
        Refused: there is no session, it is not this task's, or it cannot be carried out; the message says what to do.
        OSError: the disk cannot do it now.

    """
    if brief.config.family != SKILLS:
        return brief
    if running is not None:
        if running.returned:
            raise Refused(taken_back(running.state_file))
        return replace(brief, skill=running)
    key = skill_key(files, layout.state_above(home))
    plan, kept = read_plan(files, project, name, brief, key)
    files.make_folder(layout.task_reports(home))
    for data in kept:
        files.write(layout.task_reports(home) / _hash(data), data)
    return replace(brief, skill=plan)


def read_plan(
    files: Files, project: Path, name: str, brief: Brief, key: bytes
) -> tuple[SkillPlan, tuple[bytes, ...]]:
    """Return the session that a new task is to carry out, and the files that it is to keep. Writes nothing.

    `key` is that by which its state file is sealed.

    Raises:
        Refused: as `with_skill` does.
        OSError: the disk cannot do it now.

    """
    path = session_file(project, brief)
    session = SkillStore(files, path, key).load()
    if faults := list(_faults(files, session, project, name, brief)):
        raise Refused(f"the session {path} cannot be carried out: {'; '.join(faults)}")
    folder = MemoryFolder(files, project)
    kept = dict(_memories(folder, session))
    context = folder.memory(context_file(session.task_id or ""))
    if context is None:
        raise Refused(f"there is no {project / context_file(session.task_id or '')}: begin a new session")
    memories = tuple((agent, _hash(data)) for agent, data in kept.items())
    return SkillPlan(session, str(path), _hash(context), memories), (context, *kept.values())


def taken_back(path: str) -> str:
    """Return why a task does not go on that has given the session of a state file back."""
    again = "`task skill run --daemon --state FILE` has the daemon drive it, in a new task"
    return f"commands took the session {path} back: {again}"


def session_file(project: Path, brief: Brief) -> Path:
    """Return the state file that a task.md names. Raises Refused: it names none."""
    if not brief.config.session:
        raise Refused(
            "task.md names no `session:`: `task skill run --daemon` begins a task of the family skills"
        )
    return project / brief.config.session


def _faults(files: Files, session: SkillSession, project: Path, name: str, brief: Brief) -> Iterator[str]:
    if files.real(Path(session.project)) != files.real(project):
        yield f"its project is {session.project}"
    if session.task != name:
        whose = f"the task {session.task} drives it" if session.task else "commands drive it"
        yield f"{whose}: `task skill run --daemon --state FILE` hands it over"
    if session.state is not SkillState.TRIGGER_AGENTS:
        yield f"no phase is left to work on, its next step is {session.state}"
    yield from obstacles(session.config, brief)


def _memories(folder: MemoryFolder, session: SkillSession) -> Iterator[tuple[str, bytes]]:
    """Yield the memory files of completed phases, and of those beside the phase at work that are complete, by agent.

    Raises BadFile if that of a completed phase is not complete any more.
    """
    task_id, config, at_work = session.task_id or "", session.config, session.phase
    if config is None or at_work is None:
        return
    done = config.phases[: len(session.phases_completed)]
    for phase in dict.fromkeys((*done, *config.at_once(at_work))):
        memory = folder.memory(agent_memory_file(task_id, phase.agent)) or b""
        try:
            read_memory(memory, task_id, phase)
        except BadFile:
            if phase in done:
                raise
            continue
        if phase != at_work:
            yield phase.agent, memory


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
