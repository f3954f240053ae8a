"""What a rule of the judge is: it looks at sentences of one kind, counts them, and names those that are false."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tests.nights.looking import STATUS_JSON
from tests.nights.observation import Observation, Shown, TaskSeen, TipJudged

LAG: Final = 3.0
"""Real seconds that what is shown may lie behind what is: a look, a write, a busy machine."""
CAN_BE_CHECKED: Final = 240


@dataclass(frozen=True, slots=True)
class FalseStatement:
    """One sentence that is not so: where it stood, when, what it said, and what is true."""

    rule: str
    at: float
    source: str
    task: str
    said: str
    truth: str


@dataclass(slots=True)
class Ruled:
    """What one rule found: how many sentences it looked at, and which were false."""

    checked: int = 0
    false: list[FalseStatement] = field(default_factory=list)


Rule = Callable[[Observation], Ruled]


@dataclass(slots=True)
class Checking:
    """Counts the sentences that a rule looks at and keeps those that are false: each once, whatever its numbers."""

    rule: str
    ruled: Ruled = field(default_factory=Ruled)
    _known: set[tuple[str, ...]] = field(default_factory=set)

    def check(self, shown: Shown, said: str, truth: str | None) -> None:
        """Count a sentence; `truth` is what is so where it is false, None where it is true."""
        self.ruled.checked += 1
        if truth is None:
            return
        said = said.strip()[:CAN_BE_CHECKED]
        key = tuple(re.sub(r"\d+", "0", text) for text in (shown.source, shown.task, said, truth))
        if key not in self._known:
            self._known.add(key)
            self.ruled.false.append(
                FalseStatement(self.rule, shown.at, shown.source, shown.task, said, truth)
            )


def by_source(seen: Observation, *sources: str) -> Iterator[Shown]:
    """Yield what was shown by these commands or files, and read."""
    for each in seen.shown:
        if each.source in sources and each.text:
            yield each


def documents(seen: Observation) -> Iterator[tuple[Shown, dict[str, Any]]]:
    """Yield each JSON document that `task status` printed."""
    for each in by_source(seen, STATUS_JSON):
        reported = read(each.text)
        if reported:
            yield each, reported


@cache
def read(text: str) -> dict[str, Any]:
    """Return a JSON object; empty if it is none."""
    try:
        reported = json.loads(text)
    except ValueError:
        return {}
    return reported if isinstance(reported, dict) else {}


def still_documents(seen: Observation) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the JSON document of each round and task that said the same at the round's beginning and at its end."""
    rounds = defaultdict[tuple[int, str], list[dict[str, Any]]](list)
    for shown, reported in documents(seen):
        rounds[shown.round, shown.task].append(reported)
    return {
        key: reported[0]
        for key, reported in rounds.items()
        if len(reported) > 1 and all(each | {"daemon": 0} == reported[0] | {"daemon": 0} for each in reported)
    }


def task_named(seen: Observation, name: str) -> TaskSeen | None:
    """Return a task of the night."""
    return next((task for task in seen.tasks if task.name == name), None)


def moves_of(seen: Observation, task: TaskSeen) -> list[tuple[float, str]]:
    """Return when a task's branch was seen to stand at which commit, in order of time."""
    name = f"refs/heads/{task.branch}"
    return sorted((refs.at, refs.refs[name]) for refs in [*seen.refs, *seen.moves] if name in refs.refs)


def tip_at(seen: Observation, task: TaskSeen, at: float) -> TipJudged | None:
    """Return the judge's findings on the commit at which a task's branch stood then, or a moment later."""
    stood = [commit for moved, commit in moves_of(seen, task) if moved <= at + LAG]
    commit = stood[-1] if stood else task.base
    return next((tip for tip in seen.tips if tip.commit == commit), None)


def clock(at: float) -> str:
    """Return a moment as a clock shows it in UTC, which is the night's own zone."""
    import time

    return time.strftime("%H:%M:%S", time.gmtime(at))
