"""A runtime that only the settings define (`[runtimes.NAME]`, `model/programs.py`).

Its command line is the user's, with `{…}` filled in and no shell. Where it names a runtime whose hooks it speaks, that
one's files are laid into the run's folder, its environment is set, and it reads and answers the events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator import plain_files
from orchestrator.model.activity import Record
from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.model.event import Event, Reply
from orchestrator.model.permission import Act
from orchestrator.model.programs import PLACE, Program
from orchestrator.model.usage import Read
from orchestrator.runtimes import Launching, Metered, Recorded, Remembering, Spawn, Traced
from orchestrator.runtimes.screens import ScreenRule, rules_of

if TYPE_CHECKING:
    from orchestrator.runtimes import Runtime


class Configured:
    """One program of the settings. `speaks` is the runtime whose hooks it speaks, if any."""

    def __init__(self, program: Program, speaks: Runtime | None = None) -> None:
        self.program = program
        self.speaks = speaks

    @property
    def name(self) -> str:
        """The name of its table."""
        return self.program.name

    @property
    def receipts(self) -> bool:
        """Whether the hooks that it speaks tell of its turns."""
        return self.speaks is not None and self.speaks.receipts

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the settings let pass."""
        return self.program.variables

    @property
    def unruled(self) -> frozenset[Act]:
        """What the program whose hooks it speaks does unasked; without hooks, all."""
        return frozenset(Act) if self.speaks is None else self.speaks.unruled

    @property
    def screens(self) -> tuple[ScreenRule, ...]:
        """The rules of its file, or of the runtime whose hooks it speaks. A file that does not read has none."""
        if not self.program.screens:
            return self.speaks.screens if self.speaks else ()
        try:
            return self._rules()
        except Refused:
            return ()

    def _rules(self) -> tuple[ScreenRule, ...]:
        path = Path(self.program.screens)
        try:
            return rules_of(plain_files.read(path, 1 << 20).decode())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, re.error) as error:
            raise Refused(f"the screen rules {path} of runtime {self.name} do not read: {error!r}") from error

    def listens(self, agent: Agent) -> bool:
        """Return whether the program reads lines from its terminal: only whoever defined it knows."""
        return agent.listens

    def launching(self, spawn: Spawn) -> Launching:
        """Return its command line with all places filled in.

        Raises:
            Refused: its screen rules do not read, or it speaks as a runtime that is not here.

        """
        program = self.program
        if program.screens:
            self._rules()
        if program.events and self.speaks is None:
            raise Refused(f"runtime {self.name} speaks as {program.events}, which is not here")
        theirs = self.speaks.launching(spawn) if self.speaks else Launching(())
        words = program.resume if spawn.resumes and program.resume else program.command
        environment = dict(theirs.environment) | dict(program.environment)
        return Launching(tuple(_filled(words, spawn)), environment, theirs.files)

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what the hooks that it speaks mean."""
        return self.speaks.event(payload) if self.speaks else None

    def answer(self, reply: Reply) -> str:
        """Return what such a hook prints."""
        return self.speaks.answer(reply) if self.speaks else ""

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return the folders of such transcripts."""
        return self.speaks.transcripts(environ) if self.speaks else ()

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return what such a transcript tells."""
        return self.speaks.appended(lines) if self.speaks else []

    def usage(self, appended: bytes, before: Read) -> Read:
        """Return what such a transcript tells of tokens and cost, if anything."""
        theirs: object = self.speaks
        return theirs.usage(appended, before) if isinstance(theirs, Metered) else before

    @property
    def recorded(self) -> str:
        """The name of the file that the plugin or hook records into which it speaks by, if there is one."""
        theirs: object = self.speaks
        return theirs.recorded if isinstance(theirs, Recorded) else ""

    def records(self, line: bytes) -> list[Record]:
        """Return what a line of such a transcript tells of a turn, if anything."""
        theirs: object = self.speaks
        return theirs.records(line) if isinstance(theirs, Traced) else []

    def remembers(self, transcript: bytes) -> bool:
        """Return whether the program whose hooks it speaks would go on with it."""
        theirs: object = self.speaks
        return theirs.remembers(transcript) if isinstance(theirs, Remembering) else True


def _filled(words: Sequence[str], spawn: Spawn) -> list[str]:
    """Return words with their places filled in; what is filled in is not looked at again."""
    granted = [str(folder) for folder in spawn.granted]
    values = {
        "prompt": spawn.prompt,
        "order": str(spawn.order),
        "session": spawn.resumes or spawn.session,
        "folder": str(spawn.folder),
        "workspace": str(spawn.workspace),
        "granted": ",".join(granted),
        "model": spawn.agent.model or "",
    }
    filled: list[str] = []
    for word in words:
        if word == "{granted}":
            filled += granted
        else:
            filled.append(PLACE.sub(lambda place: values[place[1]], word))
    return filled
