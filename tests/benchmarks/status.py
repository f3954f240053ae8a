"""`task status`, as a person or a status bar calls it."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from orchestrator import layout
from orchestrator.daemon.projections.state_files import Shown
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.plan import Step, StepState
from orchestrator.model.run import Life, Purpose, Run, Turn
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import bare_python
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World

TASK = Path(__file__).parents[2] / "scripts" / "task"
TIMES = 3.0
SIZES = {"20 steps": ("small", 20, 4), "200 agents": ("large", 200, 200)}
FORMS = {"--json": ("--json",), "table on a terminal": ()}


@dataclass
class Calls:
    """What calls of one command took: by the clock, and of the processor. Milliseconds."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def call(self, argv: list[str], world: World, *, terminal: bool, code: int | None = None) -> None:
        """Run a command to its end, its output on a terminal or nowhere.

        An exit code that is expected sends what it says on standard error nowhere too. Any other code raises.
        """
        reader, writer = os.openpty() if terminal else (-1, os.open(os.devnull, os.O_WRONLY))
        if terminal:
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        output = [
            (os.POSIX_SPAWN_DUP2, writer, 1),
            *([(os.POSIX_SPAWN_DUP2, writer, 2)] if code is not None else []),
        ]
        watch = Stopwatch()
        pid = os.posix_spawn(argv[0], argv, world.environ, file_actions=output)
        os.close(writer)
        if terminal:
            _read_out(reader)
        _, status, usage = os.wait4(pid, 0)
        self.clock.append(watch.ms)
        self.processor.append((usage.ru_utime + usage.ru_stime) * 1000)
        if (ended := os.waitstatus_to_exitcode(status)) != (code or 0):
            raise RuntimeError(f"{' '.join(argv)} ended with status {ended}")


def rows(bench: Bench) -> Iterator[Row]:
    with World() as world:
        for name, steps, agents in SIZES.values():
            lay_down(world, name, steps, agents)
        os.chdir(world.project)
        try:
            for daemon in ("down", "up"):
                if daemon == "up":
                    world.start_daemon()
                for size, (name, _, _) in SIZES.items():
                    for form, words in FORMS.items():
                        what = f"task status, {size}, {form}, daemon {daemon}"
                        argv = [str(TASK), "status", name, *words]
                        call = partial(Calls.call, argv=argv, world=world, terminal=not words)
                        yield measured(bench, world, what, call, TIMES)
        finally:
            os.chdir("/")


def measured(bench: Bench, world: World, what: str, call: Callable[[Calls], None], most: float | None) -> Row:
    """Return what calls of one command took, in turn with those of an empty interpreter."""
    calls, floor = Calls(), Calls()
    for _ in bench.times(25, what):
        floor.call(bare_python(), world, terminal=False)
        call(calls)
    row = Row(
        what, "ms", calls.clock, floor.clock, "python3 -c pass", Reach(Of.RATIO, most) if most else None
    )
    processor = Row(what, "ms", calls.processor, floor.processor)
    said = f"of the processor {processor.median:.1f} ms, {processor.ratio or 0:.2f} × the floor's"
    return Row(row.what, row.unit, row.samples, row.floor, row.floor_is, row.reach, said)


def lay_down(world: World, name: str, steps: int, agents: int) -> None:
    """Leave a task as a daemon would that has worked on it."""
    now = time.time()
    home = layout.task_home(world.state, f"{name}-0a1b2c3d")
    folder = layout.task_folder(world.project, name)
    home.mkdir(parents=True)
    folder.mkdir(parents=True)
    plan = [
        Step(
            f"dev:part-{n}",
            "dev",
            f"Do part number {n} of the work, and no other",
            "",
            Phase.DEVELOPING,
            state=StepState.PASSED if n < steps // 2 else StepState.WORKING,
            since=now - 60 * n,
        )
        for n in range(steps)
    ]
    runs = [
        Run(
            f"r-{n:08x}",
            plan[n % steps].id,
            1,
            "dev",
            f"dev-{n + 1}",
            Purpose.WORK,
            now,
            life=Life.ALIVE,
            turn=Turn.RESTING,
            evidence=f"process {1000 + n}",
            since=now - n,
            pid=1000 + n,
            pane=f"%{n}",
        )
        for n in range(agents)
    ]
    state = PMState(
        id=home.name,
        name=name,
        project=str(world.project),
        state=TaskState.RUNNING,
        phase=Phase.DEVELOPING,
        steps=Steps(plan),
        runs=Runs(runs),
        started_at=now,
    )
    Shown(DiskFiles(), home).write(state, now, now)


def _read_out(terminal: int) -> None:
    """Take what a terminal was given until nobody is left to write to it."""
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:  # Linux says end of file so
        pass
    finally:
        os.close(terminal)
