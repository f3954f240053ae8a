"""The last lines that an agent's terminal showed, and those that are added: what `task logs AGENT -f` prints."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.tail import Tail, last_lines, readable
from orchestrator.model.errors import OrchestratorError

KEPT: Final = 200


class RunScreen:
    """The log of one run. `look` costs one stat while nothing is added."""

    def __init__(self, home: str, run: str) -> None:
        # Imported late: its patterns take 20 ms to compile, and the first picture shows no log.
        from orchestrator.formats.redact import LineMask, redacted_lines

        self.lines: deque[str] = deque(maxlen=KEPT)
        self.fault = ""
        self._mask = LineMask()
        self._size = -1
        self._tail: Tail | None = None
        there = list[str]()
        try:
            self._path = Path(layout.run_home(home, run)) / "pane.log"
            self._tail = Tail(self._path, from_end=True)
            there = last_lines(self._path, KEPT) if self._path.exists() else []
        except (OrchestratorError, own_files.Untrusted, OSError, ValueError) as error:
            self.fault, self._tail = str(error), None
        self.lines.extend(redacted_lines([readable(line) for line in there], self._mask))

    def look(self) -> bool:
        """Take over the lines that were added; return whether there are any."""
        if self._tail is None:
            return False
        try:
            size = self._path.stat().st_size
            if size == self._size:
                return False
            added = [self._mask.line(readable(line)) for line in self._tail.lines()]
        except FileNotFoundError:
            return False
        except (own_files.Untrusted, OSError) as error:
            self.fault, self._tail = str(error), None
            return True
        self._size = size
        self.lines.extend(added)
        return bool(added)
