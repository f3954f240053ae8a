"""The folder `orchestration/` of a task: read with suspicion, for agents write there, and written whole.

A folder beneath it that is a link leads elsewhere, and is neither read nor written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.status import render_status
from orchestrator.model.errors import BadFile
from orchestrator.model.workflow import OUTPUT_FOLDER, STATUS_FILE
from orchestrator.model.workflow_records import AgentStatus, SharedStatus
from orchestrator.pm.plan.workflow_status import shared_status_of
from orchestrator.pm.policies.turn_ends import hands_in_by_files, subjects_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

SHARED: Final = 0o755
FILE: Final = 0o644

TRIES: Final = 5
"""How often the shared status is read again because somebody wrote it meanwhile."""

_writing = Lock()
"""Held while shared_status.json is read and written again: the thread that shows the state and those that launch do."""

_runs_shown: dict[Path, int] = {}
"""How many runs the newest state had that was written, by the task's folder. An older state may come later."""


@dataclass(frozen=True, slots=True)
class WorkflowFolder:
    """The files of a workflow. `task` is the task's folder. Paths are given beneath `orchestration/`."""

    files: Files
    task: Path

    def read(self, path: str, most: int = FILE_BYTES) -> bytes:
        """Return a file; nothing if it is not there.

        Raises:
            Unreadable: it is no plain file, is larger than `most`, or lies behind a link.

        """
        place = self._place(path)
        if place is None or self.files.entry(place) is None:
            return b""
        return self.files.read(place, most)

    def write(self, path: str, data: bytes) -> None:
        """Write a file whole, with its folders, unless it is like that already.

        Raises:
            Unreadable: it lies behind a link.
            OSError: the disk cannot do it.

        """
        place = self._place(path, make=True)
        if place is None:
            return
        try:
            if self.files.entry(place) is not None and self.files.read(place, FILE_BYTES) == data:
                return
        except Unreadable:
            pass  # it is replaced
        self.files.write(place, data, FILE, durable=False)

    def append(self, path: str, data: bytes) -> None:
        """Add to the end of a file, durably. Raises Unreadable, OSError."""
        place = self._place(path, make=True)
        if place is None:
            return
        log = self.files.open_log(place)
        try:
            log.append(data)
        finally:
            log.close()

    def tail(self, path: str, most: int) -> bytes:
        """Return the end of a file, from the first whole line on; nothing if it is not there. Raises Unreadable."""
        place = self._place(path)
        entry = self.files.entry(place) if place is not None else None
        if place is None or entry is None:
            return b""
        start = max(0, entry.size - most)
        data = self.files.read(place, most + 1, start)
        return data.partition(b"\n")[2] if start else data

    def move(self, path: str, to: str) -> str:
        """Give a file another name that is free: `to`, or that with a number. Return it; empty if there was no file.

        Raises Unreadable, OSError.
        """
        place, target = self._place(path), self._place(to, make=True)
        if place is None or target is None or self.files.entry(place) is None:
            return ""
        free, number = target, 1
        while self.files.entry(free) is not None:
            number += 1
            free = target.with_name(f"{target.stem}_{number}{target.suffix}")
        self.files.rename(place, free)
        return f"{to.rpartition('/')[0]}/{free.name}"

    def remove(self, path: str) -> None:
        """Remove a file, if it is there. Raises Unreadable, OSError."""
        place = self._place(path)
        if place is not None and self.files.entry(place) is not None:
            self.files.remove(place)

    def make(self, path: str) -> None:
        """Make a folder. Raises Unreadable, OSError."""
        self._place(f"{path}/.", make=True)

    def output(self, agent: str, path: str) -> bytes | None:
        """Return a file of an agent's `task_output/`; None if it is not there or cannot be read."""
        try:
            place = self._place(f"agents/{agent}/{OUTPUT_FOLDER}/{path}")
            if place is None or (entry := self.files.entry(place)) is None or not entry.is_file:
                return None
            return self.files.read(place)
        except (Unreadable, OSError):
            return None

    def digest(self, agent: str, path: str) -> str:
        """Return the SHA-256 of a file of an agent's `task_output/`; empty if it is not there or cannot be read."""
        data = self.output(agent, path)
        return "" if data is None else sha256(data).hexdigest()

    def claim(self, agent: str) -> AgentStatus | None:
        """Return the status in an agent's entry of `shared_status.json`; None if it has none that there is.

        Raises:
            BadFile: the file is no JSON.
            Unreadable: it cannot be read.

        """
        return _claims(self.read(STATUS_FILE)).get(agent)

    def publish(self, state: PMState, own: Collection[str] = ()) -> None:
        """Write `shared_status.json` from the state.

        The entries that a live run may speak for stay as they are, until its turn ends: what it wrote there is a claim.
        `own` are agents whose entries are written nevertheless, as a run of theirs is about to begin.

        Raises Unreadable, OSError.
        """
        plan = state.brief.workflow
        if plan is None:
            return
        status, spoken_for = shared_status_of(state, plan), spoken_for_in(state) - set(own)
        with _writing:
            if len(state.runs) < _runs_shown.get(self.task, 0):
                return  # it is older than what a launch wrote: a run that it does not know may have claimed something
            _runs_shown[self.task] = len(state.runs)
            for _ in range(TRIES):
                data = self.read(STATUS_FILE)
                text = self._with_claims(status, spoken_for, data)
                if self.read(STATUS_FILE) == data:  # an agent may have written meanwhile
                    break
            self.write(STATUS_FILE, text)

    def _with_claims(self, status: SharedStatus, spoken_for: Collection[str], data: bytes) -> bytes:
        """Return a shared status with the claims that stand in the file for those who may still be spoken for."""
        try:
            claims = _claims(data)
        except BadFile:
            self.set_aside(STATUS_FILE, data)
            claims = {}
        kept = {name: claims[name] for name in spoken_for if name in claims}
        return render_status(_with(status, kept), data)

    def set_aside(self, path: str, data: bytes) -> None:
        """Keep a copy of a file that cannot be read, before it is written anew. Raises Unreadable, OSError."""
        name = path.replace("/", "-")
        self.write(f"records/unreadable/{sha256(data).hexdigest()[:8]}-{name}", data)

    def _place(self, path: str, *, make: bool = False) -> Path | None:
        """Return the place of a file, or None if a folder on the way to it is not there.

        Raises:
            Unreadable: a folder on the way is none, such as a link.

        """
        folder = layout.orchestration(self.task)
        *above, name = path.split("/")
        for part in ["", *above]:
            folder = folder / part if part else folder
            entry = self.files.entry(folder)
            if entry is None and not make:
                return None
            if entry is None:
                self.files.make_folder(folder, SHARED)
            elif not entry.is_folder:
                raise Unreadable(f"{folder} is no folder")
        return folder / name


def spoken_for_in(state: PMState) -> set[str]:
    """Return the agents about which a live run may write a status: its own, and that of the work which it judges."""
    found = set[str]()
    for run in state.live_runs:
        step = state.steps[run.step]
        if run.order in state.orders and hands_in_by_files(step):
            found.update(subjects_of(state, step) or [run.agent])
    return found


def _with(status: SharedStatus, claims: dict[str, AgentStatus]) -> SharedStatus:
    agents = tuple(replace(each, status=claims.get(each.name, each.status)) for each in status.agents)
    return replace(status, agents=agents)


def _claims(data: bytes) -> dict[str, AgentStatus]:
    """Return the statuses in a shared status, whatever else stands there. Raises BadFile."""
    document: Any = load_json(data, STATUS_FILE, FILE_BYTES) if data else {}
    agents = document.get("agents") if isinstance(document, dict) else None
    found = dict[str, AgentStatus]()
    for name, entry in agents.items() if isinstance(agents, dict) else ():
        status = entry.get("status") if isinstance(entry, dict) else None
        if isinstance(status, str) and status in set(AgentStatus):
            found[name] = AgentStatus(status)
    return found
