"""An agent that does its work: writes, gives signs of it, reports, and leaves sooner or later.

It is another program: it knows what its environment says, and writes files and nothing else. What else agents do
is in `mischief`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.formats.handoff import handoff_name, render_report
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict
from orchestrator.ports.workspaces import Tree
from orchestrator.testing.fake_box import Clone
from orchestrator.testing.fake_process import FOREVER, FakeProcess
from tests.simulation.engine.shared_state import Dice, Life, Said, SharedState

MINUTE: Final = 60.0
EVEN: Final = 0.5

UNNAMED: Final = ".unnamed"
"""Ends the name of what an agent on a box leaves there and its report does not name."""

LATE: Final = "late-"
"""How the names of files begin that something writes which a run left behind; its run follows."""


class Agent:
    """One life of one agent. `told` is what its environment says of its order."""

    def __init__(self, desk: SharedState, dice: Dice, process: FakeProcess) -> None:
        self.desk = desk
        self.dice = dice
        self.random = dice.random
        self.process = process
        self.told = {
            name.removeprefix("ORCHESTRATOR_"): value for name, value in process.spec.environment.items()
        }

    # How it lives ---------------------------------------------------------------------------------

    def works(self) -> Generator[float, None, None]:
        """Give signs of work every quarter of an hour, and leave the work in the workspace early."""
        self._do_the_work()
        left = self.random.uniform(1, max(1.0, self.dice.manners.longest)) * MINUTE
        while left > 0:
            nap = min(left, self.random.uniform(5, 20) * MINUTE)
            yield nap
            left -= nap
            self.note()
        self._see_that_the_work_is_there()

    def leaves(self) -> Life:
        """End soon, or stay at the prompt until it is ended."""
        if self.random.random() < EVEN:
            yield self.random.uniform(0, 10)
            return 0
        yield FOREVER
        return 0

    def note(self) -> None:
        """Give a sign of work."""
        path = Path(self.told["SCRATCHPAD"], "notes.md")
        self.desk.write(path, f"{self.desk.clock.now()}\n".encode())
        self.desk.signs[self.process.run] = self.desk.clock.monotonic()
        self.process.say("still at it")

    # What it hands in -----------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """Where handoffs lie."""
        return Path(self.told["TASK_DIR"], "handoffs")

    def report(self) -> Report:
        """Return the report that its step wants, and leave the artifact that it names; on a box one more."""
        step, artifact = self.told["STEP"], Path(self.told["ARTIFACTS"], f"{self.process.run}.md")
        self.desk.write(artifact, b"evidence\n")
        if self.desk.box:
            self.desk.write(artifact.with_suffix(UNNAMED), b"more\n")
        report = Report(
            ReportStatus.COMPLETE,
            run=self.process.run,
            in_reply_to=self.told["REPLY_TO"],
            completed=f"Done with {step}.",
            artifacts=(str(artifact),),
        )
        role = step.partition(":")[0]
        if step == "plan":
            return replace(report, subtasks=self._plan())
        if step == "accept":
            return replace(report, criteria=self._marks(str(artifact)))
        if role in {"test", "review"}:
            rejects = self.dice.strays(self.dice.manners.rejects)
            return replace(report, verdict=Verdict.REJECTED if rejects else Verdict.APPROVED)
        return report

    def hand_in(self, report: Report) -> None:
        """Put a report in place under the next free name."""
        path, data = self.rendered(report)
        self.put(path, data, counts=report.status is not ReportStatus.IN_PROGRESS)

    def rendered(self, report: Report) -> tuple[Path, bytes]:
        """Return a report and the next free name for it."""
        at = self.desk.clock.now()
        while self.desk.files.entry(path := self.folder / handoff_name(self.told["AGENT"], at)) is not None:
            at += 1
        return path, render_report(self.told["AGENT"], self.desk.clock.now(), report).encode()

    def put(self, path: Path, data: bytes, *, counts: bool) -> None:
        """Put a report in place. One that `counts` must not be lost."""
        self.desk.write(path, data)
        self.desk.said.setdefault(self.process.run, []).append(Said(path.name, data, counts, self.desk.box))

    # Parts ----------------------------------------------------------------------------------------

    def _plan(self) -> tuple[Subtask, ...]:
        names = [f"s{number}" for number in range(1, self.dice.manners.subtasks + 1)]
        return tuple(
            Subtask(name, f"Do {name}", needs=(names[0],) if number and self.random.random() < 0.2 else ())
            for number, name in enumerate(names)
        )

    def _marks(self, evidence: str) -> tuple[CriterionMark, ...]:
        unmet = self.dice.strays(self.dice.manners.rejects / 2)
        criteria = self.desk.criteria[Path(self.told["TASK_DIR"])]
        return tuple(
            CriterionMark(text, met=not unmet or number > 0, evidence=(evidence,), reason="it is not")
            for number, text in enumerate(criteria)
        )

    def _tree(self) -> Tree | None:
        """Return the tree that this run writes in, or None if it only reads."""
        path, branch = Path(self.told["WORKSPACE"]), self.told["BRANCH"]
        writes = self.told["STEP"].startswith("dev") and "worktrees" in path.parts
        return Tree(path.parent, path.parent, path.name, branch, self.told["BASE"]) if writes else None

    @property
    def _clone(self) -> Clone | None:
        """The repository that this run writes in on its box, or None if it only reads, or lives here."""
        return self.desk.clone if self.told["STEP"].startswith("dev") else None

    @property
    def _shared(self) -> Path | None:
        """The user's own tree, if this run writes in it: it may only read, have a tree of its own, or be on a box."""
        path = Path(self.told["WORKSPACE"])
        writes = self.told["STEP"].startswith("dev") and not self.desk.box
        return path if writes and "worktrees" not in path.parts else None

    @property
    def _work(self) -> tuple[str, str]:
        name = self.told["SUBTASK"] or self.told["STEP"]
        return f"{name}.txt", f"{name}, attempt {self.told['ATTEMPT']}"

    def _do_the_work(self) -> None:
        if (tree := self._tree()) is not None and tree.path not in self.desk.vanished:
            name, text = self._work
            self.desk.workspaces.work(tree, text, name)
        if (clone := self._clone) is not None:
            name, text = self._work
            clone.commit(self.told["WORKSPACE"], self.told["BRANCH"], self.told["BASE"], text, name)
        if (shared := self._shared) is not None:
            name, text = self._work  # all tasks have one tree: what one wrote, another writes otherwise
            self.desk.workspaces.shared.setdefault(shared, {})[name] = f"{text}, {self.process.run}"

    def _is_without(self, tree: Tree) -> bool:
        """Tell whether somebody took the tree away; then the agent may make a folder in its place, and a file in it."""
        if tree.path not in self.desk.vanished:
            return False
        if self.random.random() < EVEN:
            self.desk.workspaces.work(tree, "all that I could do", "made.txt", makes=True)
        return True

    def starts_over(self) -> None:
        """Make a folder in the place of the tree, as who takes the tree away."""
        if (tree := self._tree()) is not None:
            self.desk.workspaces.lose(tree.path)
            self.desk.vanished.add(tree.path)
            self.desk.workspaces.work(tree, "all that I could do", "made.txt", makes=True)

    def write_late(self) -> None:
        """Write into the tree as something does that the run left behind; nothing, where the tree is gone."""
        if (tree := self._tree()) is not None:
            with suppress(KeyError):
                self.desk.workspaces.work(tree, "late", f"{LATE}{self.process.run}")

    def _see_that_the_work_is_there(self) -> None:
        if (tree := self._tree()) is not None and not self._is_without(tree):
            name, text = self._work
            if self.desk.workspaces.contents(tree).get(name) != text:
                self.desk.lost_work.append(f"{self.told['RUN']} at {self.told['STEP']}: {name}")
        if (clone := self._clone) is not None:
            name, text = self._work
            if clone.contents(self.told["WORKSPACE"]).get(name) != text:
                self.desk.lost_work.append(f"{self.told['RUN']} on {self.desk.box}: {name}")
