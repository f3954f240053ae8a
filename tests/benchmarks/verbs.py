"""Every verb of `task` but `status`: to its last word, or to its first where it then asks other programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import partial

from orchestrator.cli.exits import Exit
from orchestrator.cli.main import VERBS
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import bare_python
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.status import TASK, Calls, measured
from tests.benchmarks.waiting import until
from tests.benchmarks.world import World, brief

TIMES = 10.0
"""A tenth of a second where an empty interpreter takes ten milliseconds."""
OF_GIT = 15.0
"""The same for what asks git, which is called up to a dozen times."""
LOOKING = (
    "--version", "help", "help json", "list", "list --archived", "hosts", "logs small", "why small",
    "questions", "templates", "config", "notify list", "completion bash", "complete tasks", "daemon status",
    "start --help", "memory search word", "observe", "skill list",
)  # fmt: skip
"""What these say is all there is to know."""

ASKING: dict[str, tuple[int, float]] = {
    "checkin small": (Exit.DONE, TIMES),
    "stop small": (Exit.DONE, TIMES),
    "attach small": (Exit.USAGE, TIMES),
    "answer small q-1 yes": (Exit.USAGE, TIMES),
    "order small dev Hurry": (Exit.FAILED, TIMES),
    "spawn small dev --instructions Work": (Exit.FAILED, TIMES),
    "diff small --stat": (Exit.DONE, OF_GIT),
    "report small": (Exit.DONE, OF_GIT),
    "merge small --anyway": (Exit.FAILED, OF_GIT),
    "rebase small": (Exit.DONE, OF_GIT),
    "undo small dev:one": (Exit.USAGE, TIMES),
    "delete small": (Exit.USAGE, OF_GIT),
    "archive small": (Exit.USAGE, OF_GIT),
    "workflow show small": (Exit.USAGE, TIMES),
    "watch": (Exit.USAGE, TIMES),
}
"""What these say of a task that was stopped needs the daemon, git or all the machine; a refusal is an answer too."""

PRINTING = ("doctor", "start small --check")
"""What these say comes as it is known: they ask each program that a task needs for its version."""

BESIDES = {"status", "serve", "doctor", "mcp", "setup-agents"}
"""These two have a benchmark each; measured to its first line; ends with its client; asks what it sets up."""


def unmeasured() -> set[str]:
    """Return the verbs that nobody measures."""
    return set(VERBS) - BESIDES - {words.split()[0] for words in (*LOOKING, *ASKING)}


def rows(bench: Bench) -> Iterator[Row]:
    if missing := unmeasured():
        raise RuntimeError(f"nobody measures {', '.join(sorted(missing))}")
    with World() as world:
        world.make_repository()
        world.start_daemon()
        task = world.start_task("small", brief({}, "worktree"))
        task.first_run()
        task.ask("stop")
        # A task that seems to be at work would have the next command start the daemon again.
        until(lambda: task.rests, "the end of the task's agents")
        world.stop_daemon()
        os.chdir(world.project)
        try:
            for words in LOOKING:
                yield _row(bench, world, words, Exit.DONE, TIMES)
            world.start_daemon()
            for words, (code, most) in ASKING.items():
                yield _row(bench, world, words, code, most)
            for words in PRINTING:
                yield _first_line(bench, world, words)
        finally:
            os.chdir("/")


def _row(bench: Bench, world: World, words: str, code: int, most: float) -> Row:
    argv = [str(TASK), *words.split()]
    call = partial(Calls.call, argv=argv, world=world, terminal=False, code=code)
    return measured(bench, world, f"task {words}", call, most)


def _first_line(bench: Bench, world: World, words: str) -> Row:
    floor, first, last = Calls(), list[float](), list[float]()
    what = f"task {words}, until its first line"
    for _ in bench.times(5, what):
        floor.call(bare_python(), world, terminal=False)
        watch = Stopwatch()
        argv = [str(TASK), *words.split()]
        with subprocess.Popen(argv, env=world.environ, stdout=subprocess.PIPE) as program:
            if program.stdout is None or not program.stdout.readline():
                raise RuntimeError(f"task {words} said nothing")
            first.append(watch.ms)
            program.stdout.read()
        last.append(watch.ms)
    said = f"until its last {max(last):.0f} ms"
    return Row(what, "ms", first, floor.clock, "python3 -c pass", Reach(Of.RATIO, TIMES), said)
