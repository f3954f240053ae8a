"""An agent that does its work: it writes files, shows progress, reports, and exits sooner or later.

An agent knows only its environment variables, and it only writes files. `fault_injection` has everything that agents
do beyond this.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.formats.handoff import handoff_name, render_report
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_clone import Clone
from orchestrator.testing.fake_git import MARKER
from orchestrator.testing.fake_process import FOREVER, FakeProcess
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.shared_state import HELPER, Dice, Life, SharedState, WrittenReport

MINUTE: Final = 60.0
EVEN: Final = 0.5

UNNAMED: Final = ".unnamed"
"""Suffix of a file that an agent leaves on a box and that its report does not name."""

COMMON: Final = "common.txt"
"""The file that all subtasks of some tasks change."""

LATE: Final = "late-"
"""Prefix of the files that a process writes which a run left behind. The id of the run follows."""


class Agent:
    """One run of one agent. `environment` holds its variables, without their common prefix."""

    def __init__(self, shared: SharedState, dice: Dice, process: FakeProcess) -> None:
        self.shared = shared
        self.dice = dice
        self.random = dice.random
        self.process = process
        self.environment = {
            name.removeprefix("ORCHESTRATOR_"): value for name, value in process.spec.environment.items()
        }

    # Working --------------------------------------------------------------------------------------

    def works(self) -> Generator[float, None, None]:
        """Write the work into the workspace early, then show progress about every quarter of an hour."""
        self._do_the_work()
        left = self.random.uniform(1, max(1.0, self.dice.behaviour.longest)) * MINUTE
        while left > 0:
            nap = min(left, self.random.uniform(5, 20) * MINUTE)
            yield nap
            left -= nap
            self.note()
        self._check_that_the_work_is_there()

    def hands_in_otherwise(self) -> bool:
        """Return whether it has handed in by other means than a report."""
        return False

    def exits(self) -> Life:
        """Exit soon, or stay at the prompt until somebody ends the process."""
        if self.random.random() < EVEN:
            yield self.random.uniform(0, 10)
            return 0
        yield FOREVER
        return 0

    def note(self) -> None:
        """Show progress."""
        path = Path(self.environment["SCRATCHPAD"], "notes.md")
        self.shared.write(path, f"{self.shared.clock.now()}\n".encode())
        self.shared.signs[self.process.run] = self.shared.clock.monotonic()
        self.process.say("still at it")

    # Reporting ------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The folder of handoffs."""
        return Path(self.environment["TASK_DIR"], "handoffs")

    def report(self) -> Report:
        """Write an artifact, and return a report that names it. On a box, write a second one that no report names."""
        step, artifact = (
            self.environment["STEP"],
            Path(self.environment["ARTIFACTS"], f"{self.process.run}.md"),
        )
        self.shared.write(artifact, b"evidence\n")
        if self.shared.box:
            self.shared.write(artifact.with_suffix(UNNAMED), b"more\n")
        report = Report(
            ReportStatus.COMPLETE,
            run=self.process.run,
            in_reply_to=self.environment["REPLY_TO"],
            completed=f"Done with {step}.",
            artifacts=(str(artifact),),
        )
        role = step.partition(":")[0]
        if step == "plan":
            return replace(report, subtasks=self._plan())
        if step == "accept":
            return replace(report, criteria=self._marks(str(artifact)))
        if role in {"test", "review"}:
            rejects = self.dice.deviates(self.dice.behaviour.rejects)
            return replace(report, verdict=Verdict.REJECTED if rejects else Verdict.APPROVED)
        return report

    def hand_in(self, report: Report) -> None:
        """Write a report under the next free name."""
        path, data = self.rendered(report)
        self.put(path, data, counts=report.status is not ReportStatus.IN_PROGRESS)

    def rendered(self, report: Report) -> tuple[Path, bytes]:
        """Return the next free name for a report, and its text."""
        at = self.shared.clock.now()
        while (
            self.shared.files.entry(path := self.folder / handoff_name(self.environment["AGENT"], at))
            is not None
        ):
            at += 1
        return path, render_report(self.environment["AGENT"], self.shared.clock.now(), report).encode()

    def put(self, path: Path, data: bytes, *, counts: bool) -> None:
        """Write a report. The PM must not lose one that `counts`."""
        self.shared.write(path, data)
        written = WrittenReport(path.name, data, counts, self.shared.box)
        self.shared.reports.setdefault(self.process.run, []).append(written)

    # Parts ----------------------------------------------------------------------------------------

    def _plan(self) -> tuple[Subtask, ...]:
        names = [f"s{number}" for number in range(1, self.dice.behaviour.subtasks + 1)]
        plan = tuple(
            Subtask(name, f"Do {name}", needs=(names[0],) if number and self.random.random() < 0.2 else ())
            for number, name in enumerate(names)
        )
        if Path(self.environment["TASK_DIR"]) not in self.shared.helped:
            return plan
        return tuple(replace(each, agent=HELPER) if at % 2 else each for at, each in enumerate(plan))

    def _marks(self, evidence: str) -> tuple[CriterionMark, ...]:
        unmet = self.dice.deviates(self.dice.behaviour.rejects / 2)
        criteria = self.shared.criteria[Path(self.environment["TASK_DIR"])]
        return tuple(
            CriterionMark(text, met=not unmet or number > 0, evidence=(evidence,), reason="it is not")
            for number, text in enumerate(criteria)
        )

    @property
    def _writes(self) -> bool:
        """Whether this run's step is to change files."""
        return self.environment["STEP"].startswith("dev")

    def _tree(self) -> Tree | None:
        """Return the worktree that this run writes to, or None if it only reads."""
        path, branch = Path(self.environment["WORKSPACE"]), self.environment["BRANCH"]
        writes = self._writes and "worktrees" in path.parts
        return Tree(path.parent, path.parent, path.name, branch, self.environment["BASE"]) if writes else None

    @property
    def _clone(self) -> Clone | None:
        """The repository on a box that this run writes to, or None if it only reads, or runs here."""
        return self.shared.clone if self._writes else None

    @property
    def _user_tree(self) -> Path | None:
        """The user's own tree if this run writes to it, and None if it reads, has a worktree, or runs on a box."""
        path = Path(self.environment["WORKSPACE"])
        writes = self._writes and not self.shared.box
        return path if writes and "worktrees" not in path.parts else None

    @property
    def _work(self) -> tuple[str, str]:
        name = self.environment["SUBTASK"] or self.environment["STEP"]
        return f"{name}.txt", f"{name}, attempt {self.environment['ATTEMPT']}"

    def _do_the_work(self) -> None:
        if (tree := self._tree()) is not None and tree.path not in self.shared.vanished:
            name, text = self._work
            self.shared.workspaces.work(tree, text, name)
            self._change_what_others_change(tree)
        if (clone := self._clone) is not None:
            name, text = self._work
            clone.commit(
                self.environment["WORKSPACE"],
                self.environment["BRANCH"],
                self.environment["BASE"],
                text,
                name,
            )
        if (path := self._user_tree) is not None:
            name, text = self._work  # all tasks share this tree: their files must differ
            self.shared.workspaces.shared.setdefault(path, {})[name] = f"{text}, {self.process.run}"

    def _change_what_others_change(self, tree: Tree) -> None:
        """Change a file that other subtasks of some tasks change as well, and solve a conflict that is found there."""
        found = self.shared.workspaces.contents(tree).get(COMMON, "")
        if self.dice.overlaps or MARKER in found:
            self.shared.workspaces.work(tree, " and ".join(sorted(self._hands_in(found))), COMMON)

    def _hands_in(self, found: str) -> set[str]:
        """Return whose work the common file has from now on."""
        words = {word for word in found.replace("\n", " ").split() if word.startswith("s")}
        return words | {self._work[0].partition(".")[0]}

    def _is_without(self, tree: Tree) -> bool:
        """Return whether the worktree is gone. Then the agent may create a folder in its place, with one file."""
        if tree.path not in self.shared.vanished:
            return False
        if self.random.random() < EVEN:
            self.shared.workspaces.work(tree, "all that I could do", "made.txt", makes=True)
        return True

    def starts_over(self) -> None:
        """Remove the worktree, and create a folder in its place."""
        if (tree := self._tree()) is not None:
            self.shared.workspaces.lose(tree.path)
            self.shared.vanished.add(tree.path)
            self.shared.workspaces.work(tree, "all that I could do", "made.txt", makes=True)

    def write_late(self) -> None:
        """Write to the worktree as a leftover process of this run would. If the worktree is gone, do nothing."""
        if (tree := self._tree()) is not None:
            with suppress(KeyError):
                self.shared.workspaces.work(tree, "late", f"{LATE}{self.process.run}")

    def _check_that_the_work_is_there(self) -> None:
        if (tree := self._tree()) is not None and not self._is_without(tree):
            name, text = self._work
            if self.shared.workspaces.contents(tree).get(name) != text:
                self._misses(f"{name} at {self.environment['STEP']}")
        if (clone := self._clone) is not None:
            name, text = self._work
            if clone.contents(self.environment["WORKSPACE"]).get(name) != text:
                self._misses(f"{name} on {self.shared.box}")

    def _misses(self, work: str) -> None:
        self.shared.found.append(
            Finding(Law.WORK_KEPT, f"the work of {self.environment['RUN']} is lost: {work}")
        )
