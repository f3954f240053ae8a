"""Ingest of events that agent programs report: files of `relay.sh` become facts, once each (U2).

These files were written by agents' processes: they are not trusted, and count only for a live run. A program that
waits gets an answer to every event, even one that cannot be parsed.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.hook_replies import put_reply
from orchestrator.daemon.core.task_paths import zone_of
from orchestrator.daemon.ingest.workplace import may_write, workplace_of
from orchestrator.formats.redact import redacted
from orchestrator.formats.reset_time import reset_time
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import cut, neutral
from orchestrator.model.errors import BadFile
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.facts import EventLanded
from orchestrator.model.permission import PermissionDecision
from orchestrator.model.tool_request import Judgement
from orchestrator.pm.handlers.permission_requests import leave_for
from orchestrator.pm.permissions import judge
from orchestrator.ports.files import Unreadable
from orchestrator.runtimes import Recorded
from orchestrator.runtimes.registry import runtime_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.daemon.ingest.transcripts import Line
    from orchestrator.model.permission import Policy
    from orchestrator.model.programs import Program
    from orchestrator.model.run import Run
    from orchestrator.model.tool_request import ToolRequest
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Entry, Files
    from orchestrator.runtimes import Runtime

log = logging.getLogger(__name__)

EVENT_BYTES: Final = 4_194_304
TEXT: Final = 400
"""How many characters of an agent's message are journaled."""

_NAME: Final = re.compile(r"(r-[0-9a-f]{1,32}\.[0-9]{1,20}\.[0-9]{1,10})(\.waits)?\.json")


@dataclass(slots=True)
class EventIngest:
    """Watches one task's `requests/events`.

    `environ` returns the environment of programs on a host, by the host's name. `policy` returns the rules for an
    agent. `defined` are the programs of the settings.
    """

    files: Files
    home: Path
    environ: Callable[[str], Mapping[str, str]]
    policy: Callable[[PMState, Run], Policy]
    defined: tuple[Program, ...] = ()

    def waiting(self) -> list[Entry]:
        """Return the event files, in the order of arrival; other files are removed."""
        folder = layout.task_events(self.home)
        found = [entry for entry in self.files.entries(folder) if not entry.name.startswith(".")]
        for entry in found:
            if not (entry.is_file and _NAME.fullmatch(entry.name)):
                log.warning("%s is not an event, and is removed", folder / entry.name)
                self.take_away(entry.name)
        events = [entry for entry in found if entry.is_file and _NAME.fullmatch(entry.name)]
        return sorted(events, key=lambda entry: (entry.mtime_ns, entry.name))

    def take_away(self, name: str) -> None:
        """Remove a file that was handled."""
        self.files.remove(layout.task_events(self.home) / name)

    def let_go(self, run: Run, name: str) -> None:
        """Let a program that waits go on by its own rules: it gets an empty answer."""
        put_reply(self.files, self.home, run.id, name, "", far=run.on_box)

    def fact(
        self, entry: Entry, state: PMState, where: TaskPaths, at: float
    ) -> tuple[EventLanded | None, str]:
        """Return an event file's fact, and its agent's full message; no fact if it does not concern a turn."""
        parts = _NAME.fullmatch(entry.name)
        if parts is None:
            return None, ""
        name, waits = parts[1], parts[2] is not None
        run = state.runs.get(name.partition(".")[0])
        agent = state.agents.get(run.agent) if run is not None else None
        if run is None or agent is None or not run.live:
            return None, ""
        runtime = runtime_known(agent, self.defined)
        event = self._event(entry.name, runtime)
        if event is None:
            if waits:
                self.let_go(run, name)
            return None, ""
        return self._landed(name, event, run, state, where, at, waits=waits), event.text

    def from_lines(
        self, lines: Sequence[Line], run: Run, state: PMState, where: TaskPaths, at: float
    ) -> list[EventLanded]:
        """Return events from new lines of the transcript of a live run that no hook reports."""
        runtime = runtime_known(state.agents[run.agent], self.defined)
        return [
            self._landed(f"{run.id}.t{line.place}", event, run, state, where, at, waits=False)
            for line in lines
            for event in runtime.appended([line.data])
        ]

    def _event(self, name: str, runtime: Runtime) -> Event | None:
        try:
            data = load_json(
                self.files.read(layout.task_events(self.home) / name, EVENT_BYTES), name, EVENT_BYTES
            )
        except (BadFile, Unreadable) as error:
            log.warning("an event cannot be parsed: %s", error)
            return None
        if not isinstance(data, dict):
            return None
        return runtime.event(data)

    def _landed(
        self, name: str, event: Event, run: Run, state: PMState, where: TaskPaths, at: float, *, waits: bool
    ) -> EventLanded:
        whole, judgement = None, None
        if event.kind is EventKind.TAKEN:
            # Gemini CLI strips the prompt.
            whole = event.text.strip() == self._order(run).strip()
        if event.tool_request is not None:
            request = self._resolved(event.tool_request, run, state, where)
            event = replace(event, tool_request=request)
            judgement = self._judged(request, run, state, where)
        if event.failure is Failure.LIMIT and event.reset is None:
            event = replace(event, reset=reset_time(event.text, at, zone_of(run, self.environ)))
        kept = self._believed(event.transcript, run, runtime_known(state.agents[run.agent], self.defined))
        text = "" if event.kind is EventKind.TAKEN else cut(redacted(neutral(event.text)), TEXT)
        event = replace(event, text=text, transcript=kept)
        return EventLanded(at, f"{run.id}:{name}", run.id, name, event, waits, whole, judgement)

    def _believed(self, transcript: str, run: Run, runtime: Runtime) -> str:
        """Return where to read a transcript, if it is where its program keeps them; otherwise nothing.

        A transcript on a box is copied into the run's folder.
        """
        if not transcript.startswith("/"):
            return ""
        real, folder = self._real_of(run), layout.run_home(self.home, run.id)
        own = runtime.recorded if isinstance(runtime, Recorded) else ""
        try:
            path = real(Path(transcript))
            roots = [real(root) for root in runtime.transcripts(self.environ(run.host))]
        except (OSError, ValueError):
            return ""
        # On a box a run's folder is elsewhere, under the same name.
        is_own = (
            bool(own)
            and path.parts[-3:] == ("runs", run.id, own)
            and (run.on_box or path.parent == real(folder))
        )
        if not (is_own or any(path.is_relative_to(root) for root in roots)):
            return ""
        if not run.on_box:
            return str(path)
        note = layout.run_transcript_there(folder)
        if self.files.entry(note) is None or self.files.read(note) != bytes(path):
            self.files.write(note, bytes(path))
        return str(layout.run_transcript(folder))

    def _order(self, run: Run) -> str:
        try:
            return self.files.read(layout.run_order(layout.run_home(self.home, run.id))).decode(
                "utf-8", "replace"
            )
        except Unreadable:
            return ""

    def _resolved(self, request: ToolRequest, run: Run, state: PMState, where: TaskPaths) -> ToolRequest:
        """Return a tool request with its paths resolved, and whether they are where the run may write."""
        real = self._real_of(run)
        folders = [real(folder) for folder in may_write(run, state, where)]
        at = Path(request.cwd) if request.cwd.startswith("/") else folders[0]
        try:
            paths = [real(at / path) for path in request.paths]
        except (OSError, ValueError):  # too long, or with a NUL in it
            return replace(request, cwd=str(at))
        inside = bool(paths) and all(any(path.is_relative_to(folder) for folder in folders) for path in paths)
        return replace(request, paths=tuple(map(str, paths)), inside=inside, cwd=str(at))

    def _real_of(self, run: Run) -> Callable[[Path], Path]:
        """Return a function that resolves a run's paths; on a box links are unknown, so it only normalises them."""
        return (lambda path: Path(normpath(path))) if run.on_box else self.files.real

    def _judged(self, request: ToolRequest, run: Run, state: PMState, where: TaskPaths) -> Judgement:
        if leave_for(request) in state.rules:
            return Judgement(PermissionDecision.ALLOW, "the user said: always")
        policy = self.policy(state, run)
        real = self._real_of(run)
        workplace = workplace_of(run, state, where, self.environ(run.host), self.files, real)
        return replace(judge(policy, request, workplace), wait=policy.wait)
