"""The state file and the memory files of one session of a composite skill."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from orchestrator.formats.skill.memory import MEMORY_BYTES, read_memory
from orchestrator.formats.skill.seal import is_sealed, sealed
from orchestrator.formats.skill.state import PROTOCOL, read_session, write_session
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.composite import SkillPhase, SkillSession, agent_memory_file, context_file
from orchestrator.model.errors import Refused
from orchestrator.pm.plan.composite.machine import checked
from orchestrator.ports.files import Files

_FILE_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755


def state_file(project: Path, session: str) -> Path:
    """Return where the state of a session lies, if nobody chose another place."""
    return project / PROTOCOL / "state" / f"{PROTOCOL}-{session}.json"


class SkillStore:
    """Reads and writes the files of a session. Methods raise Refused for what does not read, OSError of the disk.

    Args:
        files: The disk.
        path: The state file.
        key: By what it is sealed (`records.skill_key`).

    """

    def __init__(self, files: Files, path: Path, key: bytes) -> None:
        self._files = files
        self.path = path
        self._key = key

    def is_there(self) -> bool:
        """Return whether there is a state file."""
        return self._files.entry(self.path) is not None

    def load(self) -> SkillSession:
        """Return the session, if its file is as the machine left it. Contents of memory files are not looked at."""
        if not self.is_there():
            raise Refused(f"there is no {self.path}: begin a session with `task skill run`")
        data = self._files.read(self.path, FILE_BYTES)
        session = read_session(data, str(self.path))
        try:
            checked(session)
        except Refused as problem:
            raise Refused(f"{self.path} was changed by hand or damaged: {problem}") from None
        if not is_sealed(data, self._key, self._place()):
            raise Refused(
                f"{self.path} was changed by hand, or is of another place or user: its seal does not fit. Put back "
                "what it was, or begin a new session"
            )
        return session

    def rendered(self, session: SkillSession) -> bytes:
        """Return the state file of a session, sealed."""
        return sealed(write_session(session), self._key, self._place())

    def _place(self) -> str:
        return str(self._files.real(self.path))

    def create(self, session: SkillSession) -> None:
        """Begin a session; its own folder of states is hidden from git."""
        self._files.make_folder(self.path.parent, _FOLDER_MODE)
        if self.path.parent == state_file(Path(session.project), session.session).parent:
            self._files.create(self.path.parent / ".gitignore", b"*\n", _FILE_MODE)
        if not self._files.create(self.path, self.rendered(session), _FILE_MODE):
            raise Refused(
                f"there is a session in {self.path}: `task skill entry --state FILE` goes on with it"
            )

    def save(self, session: SkillSession) -> None:
        """Put a session on the disk, whole and durably: only then may the next directive be shown."""
        self._files.write(self.path, self.rendered(session), _FILE_MODE)

    def write_context(self, session: SkillSession, text: str) -> None:
        """Write the workflow context of a session that has its task id."""
        path = Path(session.project) / context_file(session.task_id or "")
        self._files.make_folder(path.parent, _FOLDER_MODE)
        self._files.write(path, text.encode(), _FILE_MODE)

    def memory(self, session: SkillSession, agent: str) -> bytes | None:
        """Return the bytes of an agent's memory file, or None if there is none. Raises Unreadable."""
        path = Path(session.project) / agent_memory_file(session.task_id or "", agent)
        return self._files.read(path, MEMORY_BYTES) if self._files.entry(path) is not None else None

    def set_aside(self, session: SkillSession, phase: SkillPhase) -> None:
        """Rename the memory file of a phase that is about to begin, if it is complete: it is not that work's."""
        path = Path(session.project) / agent_memory_file(session.task_id or "", phase.agent)
        try:
            data = self.memory(session, phase.agent)
            if data is None:
                return
            read_memory(data, session.task_id or "", phase)
        except Refused:
            return
        free, number = path.with_stem(f"{path.stem}-before-{phase.id}"), 1
        while self._files.entry(free) is not None:
            number += 1
            free = path.with_stem(f"{path.stem}-before-{phase.id}-{number}")
        self._files.rename(path, free)

    def keep(self, session: SkillSession, agent: str) -> None:
        """Have an agent's memory file survive a power cut: its agent need not have seen to that."""
        path = Path(session.project) / agent_memory_file(session.task_id or "", agent)
        self._files.open_log(path).close()

    def memories(self, session: SkillSession) -> dict[str, bytes]:
        """Return the memory files that there are, by agent."""
        agents = [phase.agent for phase in session.config.phases] if session.config else []
        found = {agent: self.memory(session, agent) for agent in agents}
        return {agent: data for agent, data in found.items() if data is not None}
