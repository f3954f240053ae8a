"""Reads a task's journal as the daemon writes it, and checks each line against the laws that a state cannot show."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator import layout
from orchestrator.daemon.journal import codec
from orchestrator.daemon.journal.segments import MOST, segments, unpacked
from orchestrator.daemon.journal.store import replayed, unsealed
from orchestrator.model.facts import Fact
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.files import Files
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.ledger import Ledger


@dataclass(slots=True)
class Read:
    """How much of a segment was read, and a checksum of it."""

    size: int = 0
    crc: int = 0


@dataclass(slots=True)
class Audit:
    """A task as its journal describes it. `broken` has the laws that the journal breaks, `also` holds more laws."""

    ledger: Ledger
    state: PMState = field(default_factory=PMState)
    lines: int = 0
    broken: list[Finding] = field(default_factory=list)
    also: list[Callable[[PMState, Fact, Decision], list[Finding]]] = field(default_factory=list)
    _read: dict[str, Read] = field(default_factory=dict)

    def read(self, files: Files, home: Path) -> Audit:
        """Read what is new in all segments, oldest first. The bytes that were read before must not have changed."""
        folder = layout.task_journal(home)
        names = segments(entry.name for entry in files.entries(folder))
        for name in names:
            data = unpacked(name, files.read(folder / name, MOST))
            known = self._read.get(_number(name), Read())
            if zlib.crc32(data[: known.size]) != known.crc or len(data) < known.size:
                self.broken.append(
                    Finding(Law.JOURNAL_KEPT, f"{name} no longer holds what was written to it")
                )
            elif len(data) > known.size:
                self.take(name, data[known.size :])
        gone = set(self._read).difference(map(_number, names))
        self.broken += [Finding(Law.JOURNAL_KEPT, f"the segment {number} is gone") for number in sorted(gone)]
        return self

    def knows(self, name: str) -> bool:
        """Return whether anything of a segment was read."""
        return _number(name) in self._read

    def take(self, name: str, data: bytes) -> None:
        """Take whole lines that were appended to a segment."""
        known = self._read.setdefault(_number(name), Read())
        for line in data.rstrip(b"\n").split(b"\n"):
            content = unsealed(line)
            if "snapshot" in content:
                self._begin(content, name)
            else:
                self._line(content)
        known.size += len(data)
        known.crc = zlib.crc32(data, known.crc)

    def _begin(self, snapshot: dict[str, Any], name: str) -> None:
        if codec.decoded_state(snapshot["snapshot"]) != self.state or snapshot["n"] != self.lines:
            self.broken.append(
                Finding(
                    Law.JOURNAL_KEPT, f"{name} begins with another state than the lines before it lead to"
                )
            )

    def _line(self, line: dict[str, Any]) -> None:
        self.lines += 1
        if line["n"] != self.lines:
            self.broken.append(
                Finding(Law.JOURNAL_KEPT, f"line {line['n']} stands where line {self.lines} should")
            )
        fact = codec.decoded_fact(line["fact"])
        changes = codec.decoded_changes(line["changes"])
        actions = codec.decoded_actions(line["actions"])
        was, self.state = self.state, replayed(self.state, changes, actions)
        decision = Decision(self.state, changes, actions)
        found = self.ledger.enter(was, fact, decision)
        for law in self.also:
            found += law(was, fact, decision)
        self.broken += [each.about(f"line {self.lines} ({fact.kind})") for each in found]


def _number(name: str) -> str:
    """Return the number of a segment, compressed or not."""
    return name.partition(".")[0]
