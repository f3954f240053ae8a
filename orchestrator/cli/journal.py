"""Reads a task's journal: its lines, newest first, and the runs in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import own_files
from orchestrator.daemon.journal.old_names import renewed
from orchestrator.daemon.journal.segments import first_line, segments, unpacked


@dataclass(frozen=True, slots=True)
class RunSeen:
    """A run as it was opened. `purpose` is `work` of an agent, or what a command of the daemon was for."""

    id: str
    step: str
    attempt: int
    agent: str
    instance: str
    purpose: str

    @property
    def check(self) -> bool:
        """True if it was a check, not an agent."""
        return self.purpose == "check"


def newest_first(journal: Path, token: bytes | re.Pattern[bytes] = b"") -> Iterator[dict[str, Any]]:
    """Yield the journal's lines that hold `token`, newest first.

    Unreadable lines are skipped: the daemon deals with them. So are lines at the end of a segment that the next one
    replaces: a failed write left them, and what they say was never done.
    """
    names = segments(path.name for path in journal.iterdir()) if journal.is_dir() else []
    upto = math.inf
    for name in reversed(names):
        for raw in reversed(_holding(_content(journal, name), token)):
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if not isinstance(line, dict) or "fact" not in line:
                continue
            if isinstance(number := line.get("n", 0), int) and number < upto:
                yield renewed(raw, line)
        upto = first_line(name)


def runs(journal: Path) -> Iterator[RunSeen]:
    """Yield the runs of a task, newest first."""
    for line in newest_first(journal, b'"run_opened"'):
        for change in reversed(line["changes"]):
            run = change.get("run")
            if change.get("kind") == "run_opened" and isinstance(run, dict):
                yield RunSeen(
                    id=str(run.get("id")),
                    step=str(run.get("step")),
                    attempt=int(run.get("attempt") or 1),
                    agent=str(run.get("agent")),
                    instance=str(run.get("instance")),
                    purpose=str(run.get("purpose") or "work"),
                )


def _holding(content: bytes, token: bytes | re.Pattern[bytes]) -> list[bytes]:
    """Return the lines that hold `token`, which has no line end; all that are not empty, if it is empty itself.

    The others, by far the most, are passed over without being made lines.
    """
    if not token:
        return [raw for raw in content.split(b"\n") if raw]
    pattern = re.compile(re.escape(token)) if isinstance(token, bytes) else token
    found, end = list[bytes](), 0
    while (match := pattern.search(content, end)) is not None:
        start, end = content.rfind(b"\n", 0, match.start()) + 1, content.find(b"\n", match.end())
        end = len(content) if end < 0 else end
        found.append(content[start:end])
    return found


def _content(journal: Path, name: str) -> bytes:
    for each in (name, f"{name}.gz"):  # the daemon may be compressing it
        with suppress(FileNotFoundError, ValueError):
            return unpacked(each, own_files.own_bytes(str(journal / each)))
    return b""
