"""A task's journal as `task` reads it, with the daemon up or down: line by line, the newest first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator import places
from orchestrator.daemon.segments import segments, unpacked


def newest_first(journal: Path, token: bytes = b"") -> Iterator[dict[str, Any]]:
    """Yield the lines of all segments that hold `token`, backwards.

    What does not read is passed over: it is for the daemon to judge.
    """
    names = segments(path.name for path in journal.iterdir()) if journal.is_dir() else []
    for name in reversed(names):
        for raw in reversed(_lines(journal, name)):
            try:
                line = json.loads(raw) if raw and token in raw else None
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict) and "fact" in line:
                yield line


def _lines(journal: Path, name: str) -> list[bytes]:
    for each in (name, f"{name}.gz"):  # the daemon may compress it just now
        with suppress(FileNotFoundError, ValueError):
            return unpacked(each, places.own_bytes(str(journal / each))).split(b"\n")
    return []
