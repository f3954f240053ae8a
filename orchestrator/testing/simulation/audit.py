"""Reads a task's whole journal again and holds every line against the laws: what a state alone cannot tell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator import places
from orchestrator.daemon import codec
from orchestrator.daemon.journal import replayed, unsealed
from orchestrator.daemon.segments import MOST, segments, unpacked
from orchestrator.model.actions import Launch, Merge
from orchestrator.model.facts import Fact
from orchestrator.pm import changes as c
from orchestrator.pm.draft import Decision
from orchestrator.pm.state import PMState
from orchestrator.ports.files import Files
from orchestrator.testing.simulation.evidence import Evidence


@dataclass(slots=True)
class Audit:
    """What a task's journal says of its life. `broken` are the laws that it breaks."""

    state: PMState = field(default_factory=PMState)
    lines: int = 0
    broken: list[str] = field(default_factory=list)
    reported: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    launched: Counter[str] = field(default_factory=Counter)
    taken: Counter[tuple[str, str]] = field(default_factory=Counter)
    merges: set[str] = field(default_factory=set)
    _evidence: Evidence = field(default_factory=Evidence)

    def read(self, files: Files, home: Path) -> Audit:
        """Read all segments, oldest first."""
        folder = places.task_journal(home)
        for name in segments(entry.name for entry in files.entries(folder)):
            first, *lines = unpacked(name, files.read(folder / name, MOST)).rstrip(b"\n").split(b"\n")
            self._begin(unsealed(first), name)
            for line in lines:
                self._line(unsealed(line))
        return self

    def _begin(self, snapshot: dict[str, Any], name: str) -> None:
        if codec.decoded_state(snapshot["snapshot"]) != self.state or snapshot["n"] != self.lines:
            self.broken.append(f"{name} begins with another state than the lines before it lead to")

    def _line(self, line: dict[str, Any]) -> None:
        self.lines += 1
        if line["n"] != self.lines:
            self.broken.append(f"line {line['n']} stands where line {self.lines} should")
        fact = codec.decoded_fact(line["fact"])
        changes = codec.decoded_changes(line["changes"])
        actions = codec.decoded_actions(line["actions"])
        was, self.state = self.state, replayed(self.state, changes, actions)
        self._note(was, fact, Decision(self.state, changes, actions))

    def _note(self, was: PMState, fact: Fact, decision: Decision) -> None:
        self.broken += [
            f"line {self.lines}: {each}" for each in self._evidence.missing_for(was, fact, decision)
        ]
        for change in decision.changes:
            match change:
                case c.RunReported(run=run):
                    self.reported[run] += 1
                case c.RunOpened(run=opened):
                    self.opened[opened.id] += 1
                case c.HandoffSeen(name=name, sha256=digest):
                    self.taken[name, digest] += 1
                case _:
                    continue
        for action in decision.actions:
            match action:
                case Launch(run=run):
                    self.launched[run] += 1
                case Merge(commit=commit):
                    self.merges.add(commit)
                case _:
                    continue

    def twice(self) -> list[str]:
        """Return what was done twice and must not be."""
        counted: list[tuple[str, Counter[Any]]] = [
            ("reported", self.reported),
            ("opened", self.opened),
            ("launched", self.launched),
            ("taken in", self.taken),
        ]
        return [
            f"{key} was {what} {times} times"
            for what, counts in counted
            for key, times in counts.items()
            if times > 1
        ]
