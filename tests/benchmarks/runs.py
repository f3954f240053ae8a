"""One agent after the other: a decision until the next agent runs, and an agent's exit until it is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.benchmarks.bench import Bench
from tests.benchmarks.floors import exit_noticed, new_window
from tests.benchmarks.journal import JournalTail
from tests.benchmarks.marks import Marks
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World, brief

STEPS_OF_SUBTASK = 3


@dataclass
class Chain:
    """Runs that follow each other in one task: each begins when its predecessor is known to be gone."""

    journal: JournalTail
    marks: Marks
    launches: list[float] = field(default_factory=list)
    exits: list[float] = field(default_factory=list)

    def follow(self, run: str, word: str = "") -> str:
        """Let a run end; return the next one, which runs by then."""
        self.marks.give_turn(word)
        while True:
            line = self.journal.next()
            if line.fact["kind"] == "run_gone" and line.fact["run"] == run:
                self.exits.append((line.seen - self.marks.ended(run)) / 1e6)
            for after in line.launched:
                self.launches.append((self.marks.begun(after) - line.seen) / 1e6)
                return after


def rows(bench: Bench) -> Iterator[Row]:
    chain, window, reported = measured(bench, "shared", 100)
    yield launch_row("the project's own tree", chain, window)
    yield Row(
        "agent's exit → journaled with its status",
        "ms",
        chain.exits,
        reported,
        "pidfd of a child",
        Reach(Of.P99, 20),
    )
    chain, window, _ = measured(bench, "worktree", 50)
    yield launch_row("a worktree", chain, window)


def launch_row(where: str, chain: Chain, window: list[float]) -> Row:
    return Row(
        f"decided → the next agent runs in {where}",
        "ms",
        chain.launches,
        window,
        "tmux new-window until its program runs",
        Reach(Of.RATIO, 10),
    )


def measured(bench: Bench, workspace: str, usual: int) -> tuple[Chain, list[float], list[float]]:
    """Let a task run, agent by agent, with the floors taken between two of them."""
    window, reported = list[float](), list[float]()
    with World() as world:
        world.make_repository()
        world.start_daemon()
        marks = Marks(world.root / "marks")
        everyone = dict.fromkeys(("explore", "plan", "dev", "test", "review"), marks.command)
        task = world.start_task("measure", brief(everyone, workspace))
        world.socket.tmux("new-session", "-d", "-s", "floor", "-x", "200", "-y", "50", "sleep", "3600")
        with task.tail() as journal:
            chain = Chain(journal, marks)
            run = task.first_run()
            marks.begun(run)
            subtasks = (bench.runs or usual) // STEPS_OF_SUBTASK + 1
            for _ in bench.times(usual, f"runs, {workspace}"):
                window.append(new_window(world.socket, marks.folder))
                reported.append(exit_noticed())
                run = chain.follow(run, str(subtasks))
    return chain, window, reported
