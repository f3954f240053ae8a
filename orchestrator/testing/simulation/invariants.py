"""What must hold in a world: after every turn, after every restart, and when all is over."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Final

from orchestrator import places
from orchestrator.daemon.journal import Journal
from orchestrator.daemon.project import projection
from orchestrator.daemon.task import Task
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.task import TaskState
from orchestrator.pm.state import PMState
from orchestrator.testing.simulation.audit import Audit
from orchestrator.testing.simulation.laws import broken_laws
from orchestrator.testing.simulation.world import PROJECT, Wish, World

_RUN: Final = re.compile(r"^\*\*Run:\*\* (\S+)$", re.MULTILINE)
_TIMES: Final = ("updated", "last_checkin")


class Broken(AssertionError):
    """The simulation found a law broken."""


@dataclass(slots=True)
class Invariants:
    """Watches a world. `known` is the state that each task was last seen in, with its lines in the journal."""

    world: World
    known: dict[str, tuple[int, PMState]] = field(default_factory=dict)
    tips: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Watch from now on."""
        self.world.after_turns.append(self.after_turn)

    def after_turn(self) -> None:
        """Hold everything that is cheap to see against the laws. Raises Broken."""
        found = list(self.world.complaints) + self.world.desk.lost_work
        found += [
            f"run {run} was started {n} times" for (run, _), n in self.world.host.starts.items() if n > 1
        ]
        for task in self.world.tasks().values():
            found += self._of_task(task)
        for wish in self.world.wishes:
            found += self._branch(wish)
        self._raise(found)

    def _of_task(self, task: Task) -> list[str]:
        state, lines = task.engine.state, task.engine.lines
        known_lines, known = self.known.get(task.id, (0, PMState()))
        found = []
        if lines < known_lines:
            found.append(f"{task.id} forgot: {known_lines} lines were journaled, and {lines} are known")
        elif lines == known_lines and known_lines and state != known:
            differ = [
                each.name for each in fields(state) if getattr(state, each.name) != getattr(known, each.name)
            ]
            found.append(
                f"{task.id} knows another {', '.join(differ)} than before, from the same {lines} lines"
            )
        self.known[task.id] = (lines, state)
        if task.troubled:
            return found
        limits, at = self.world.settings.limits, self.world.clock.now()
        if lines != known_lines:
            found += [f"{task.id}: {law}" for law in broken_laws(state, limits, at)]
        return found + self._projection(task)

    def _projection(self, task: Task) -> list[str]:
        """What others read is the state, once the hands had their time and the disk has room again."""
        if not self.world.daemon.idle or self.world.daemon.checked_in_at <= self.world.trouble_at:
            return []
        wish = next(wish for wish in self.world.wishes if wish.id == task.id)
        shown = self.world.shown(wish)
        true = projection(task.engine.state, last_checkin=0.0, at=0.0)
        differ = [
            key
            for key, value in json.loads(json.dumps(true)).items()
            if key not in _TIMES and shown.get(key) != value
        ]
        return [f"{task.id}: state.json tells another {', '.join(differ)} than the state"] if differ else []

    def _branch(self, wish: Wish) -> list[str]:
        """Hold the task's branch to what was merged: it only moves forward."""
        workspaces = self.world.workspaces
        tip = workspaces.refs(PROJECT).get(f"task/{wish.name}", "")
        old = self.tips.get(wish.name, "")
        self.tips[wish.name] = tip
        if tip == old or not old:
            return []
        here = tip
        while here and here != old:
            here = workspaces.commits[here].parent
        return (
            []
            if here == old
            else [f"task/{wish.name} was moved from {old[-4:]} to {tip[-4:]}, which is not ahead"]
        )

    # When all is over -----------------------------------------------------------------------------

    def at_end(self) -> None:
        """Hold the whole history against the laws. Raises Broken."""
        found = []
        for wish in self.world.wishes:
            found += [f"{wish.id}: {each}" for each in self._history(wish)]
        alive = [process.run for process in self.world.host.living]
        found += [f"run {run} still lives" for run in alive]
        self._raise(found)

    def _history(self, wish: Wish) -> list[str]:
        files = self.world.files
        audit = Audit().read(files, wish.home)
        found = audit.broken + audit.twice()
        reopened = Journal(files, places.task_journal(wish.home))
        if reopened.state != audit.state:
            found.append("the journal does not fold to the state that it opens with")
        task = self.world.tasks().get(wish.id)
        if task is None or task.engine.state != audit.state:
            found.append("the journal does not fold to the state that the daemon has")
        reopened.close()
        if audit.state.state not in {TaskState.COMPLETE, TaskState.FAILED, TaskState.STOPPED}:
            found.append(f"it is {audit.state.state} at the end")
        return found + self._words(wish, audit) + self._orders(wish) + self._merged(wish, audit)

    def _words(self, wish: Wish, audit: Audit) -> list[str]:
        """No handoff is lost: a run that left one that counts has reported, exactly once."""
        left = set()
        for said in self.world.desk.said:
            path = places.handoffs(wish.folder) / said.name
            if said.run in audit.state.runs and said.counts and self.world.files.entry(path) is not None:
                data = self.world.files.read(path)
                if sha256(data).digest() == sha256(said.data).digest():
                    left.add(said.run)
        return [f"the handoff of run {run} was lost" for run in sorted(left) if not audit.reported[run]]

    def _orders(self, wish: Wish) -> list[str]:
        """No order is published twice, under two names."""
        files, folder = self.world.files, places.handoffs(wish.folder)
        runs: Counter[str] = Counter()
        for entry in files.entries(folder):
            if entry.name.startswith("pm-") and entry.is_file:
                runs.update(_RUN.findall(files.read(folder / entry.name).decode())[:1])
        return [f"run {run} has {times} orders" for run, times in runs.items() if times > 1]

    def _merged(self, wish: Wish, audit: Audit) -> list[str]:
        """What the task's branch gained is what the PM decided to merge, all of it and nothing else."""
        workspaces, found, merged = self.world.workspaces, list[str](), set[str]()
        here = workspaces.refs(PROJECT).get(f"task/{wish.name}", "")
        while here and here != audit.state.base:
            if here not in audit.merges:
                found.append(f"the branch has {here[-4:]}, which the PM did not merge")
            merged.add(here)
            here = workspaces.commits[here].parent
        for step in audit.state.steps.values():
            if Gate.MERGED in step.gates and step.state is StepState.PASSED:
                commit = step.commit or (audit.state.steps[step.judges].commit if step.judges else "")
                if commit and commit not in merged:
                    found.append(f"{step.id} has passed, and its commit {commit[-4:]} is not on the branch")
        return found

    def _raise(self, found: list[str]) -> None:
        if found:
            raise Broken("; ".join(found[:10]))
