"""Reading a journal while the daemon writes it: each line, and the moment at which it was there to be read."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.benchmarks.inotify import Inotify
from tests.benchmarks.waiting import PATIENCE, TooLong


@dataclass(frozen=True)
class Line:
    """One line of the journal; `seen` is in nanoseconds since the epoch."""

    content: dict[str, Any]
    seen: int

    @property
    def fact(self) -> dict[str, Any]:
        return dict(self.content["fact"])

    @property
    def launched(self) -> list[str]:
        """The runs that this line launches."""
        return [action["run"] for action in self.content["actions"] if action["kind"] == "launch"]


class JournalTail:
    """Follows a journal from its end at the time this is made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._watch = Inotify(folder)
        self._lines: deque[Line] = deque()
        self._segment = max(folder.glob("*.jsonl"))
        self._place = self._segment.stat().st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.close()

    def next(self) -> Line:
        """Wait for a line. Raises TooLong."""
        deadline = time.monotonic() + PATIENCE
        while not self._lines:
            left = deadline - time.monotonic()
            if left < 0:
                raise TooLong(f"no line came into {self._folder} within {PATIENCE:.0f} s")
            names = self._watch.wait(left)
            seen = time.time_ns()
            self._read(seen)
            if any(name.endswith(".jsonl") and name > self._segment.name for name in names):
                self._segment, self._place = max(self._folder.glob("*.jsonl")), 0
                self._read(seen)
        return self._lines.popleft()

    def skip(self) -> None:
        """Pass over what is there by now."""
        while self._watch.wait(0):
            self._read(0)
        self._lines.clear()

    def _read(self, seen: int) -> None:
        with self._segment.open("rb") as file:
            file.seek(self._place)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._place += len(whole)
        contents = map(json.loads, whole.splitlines())
        self._lines.extend(Line(content, seen) for content in contents if "fact" in content)
