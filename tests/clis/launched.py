"""A real CLI as its runtime launches it: its run's files, argv and environment, and events read back from files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files as package_files
from pathlib import Path
from typing import Final

from orchestrator.hosts.launcher import checked_file
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Reply
from orchestrator.model.settings import PASSED
from orchestrator.runtimes import RELAY, Runtime, Spawn
from orchestrator.runtimes.environment import passed
from tests.clis.bench import SEEN, Bench, Pane, a_bench
from tests.clis.model_server import Script
from tests.polling import wait_until

_RELAY: Final = package_files("orchestrator.hosts").joinpath(RELAY).read_bytes()
Answering = Callable[[Event], Reply | None]


def silent(_event: Event) -> None:
    """Answer nothing."""


@dataclass(slots=True)
class LaunchedRun:
    """One run. `told` has its events in the order in which they came; `answering` is the PM that answers."""

    bench: Bench
    runtime: Runtime
    spawn: Spawn
    pane: Pane
    answering: Answering
    told: list[Event] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def look(self) -> list[Event]:
        """Read what came since, answer what waits, and return all events so far."""
        folder = self.spawn.folder.parent.parent / "requests" / "events"
        for path in sorted(folder.glob("r-*.json"), key=lambda each: (each.stat().st_mtime_ns, each.name)):
            if path.name in self._seen or not path.name.startswith(f"{self.spawn.folder.name}."):
                continue
            self._seen.add(path.name)
            event = self.runtime.event(json.loads(path.read_bytes()))
            reply = self.answering(event) if event else None
            if path.name.endswith(".waits.json"):
                answer = self.spawn.folder / "answers" / path.name.removesuffix(".waits.json")
                answer.parent.mkdir(exist_ok=True)
                staged = answer.with_name(".being-written")
                staged.write_text(self.runtime.answer(reply) if reply else "")
                staged.rename(answer)
            if event:
                self.told.append(event)
        return self.told

    def again(self) -> Pane:
        """Start the same run a second time, as nothing but a fault would."""
        (script,) = self.bench.place.run.glob(f"launch-{len(self.bench.panes)}.sh")
        made = self.bench.socket.tmux(
            "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "bench:", "sh", str(script)
        )
        return Pane(self.bench.socket, made)

    def wait_for(self, kind: EventKind, count: int = 1, *, within: float = SEEN) -> Event:
        """Wait for an event, the `count`th of its kind, and return it."""

        def found() -> list[Event]:
            return [each for each in self.look() if each.kind is kind][count - 1 : count]

        try:
            return wait_until(found, within=within, every=0.05)[0]
        except AssertionError as late:
            raise AssertionError(
                f"no {kind} within {within} s; told {self.told}; {self.bench.seen()}"
            ) from late


@dataclass(slots=True)
class Launcher:
    """Launches runs of one runtime on one bench. `environ` is the user's own, of which little passes."""

    bench: Bench
    runtime: Runtime
    environ: dict[str, str]
    agent: Agent

    def launch(self, prompt: str, *, resumes: str = "", answering: Answering = silent) -> LaunchedRun:
        """Lay a run's files down and start it in a pane."""
        place, home = self.bench.place, self.bench.place.root / "tasks" / "t"
        folder = home / "runs" / f"r-{len(self.bench.panes) + 1:x}"
        granted = tuple(home / name for name in ("handoffs", "artifacts", "scratchpad"))
        for each in (folder, home / "requests" / "events", *granted):
            each.mkdir(parents=True, exist_ok=True)
        (folder / "order.md").write_text(prompt)
        program = Path(place.program).parent
        base = place.environ()
        base["PATH"] = f"{program}:{base['PATH']}"
        passing = passed(base | self.environ, (*PASSED, *self.runtime.variables))
        spawn = Spawn(
            agent=self.agent,
            folder=folder,
            workspace=place.work,
            granted=granted,
            order=folder / "order.md",
            prompt=prompt,
            session=f"00000000-0000-4000-8000-{len(self.bench.panes):012x}",
            resumes=resumes,
            environ=passing,
        )
        launching = self.runtime.launching(spawn)
        (folder / RELAY).write_bytes(_RELAY)
        for name, content in launching.files.items():
            (folder / checked_file(name)).write_bytes(content)
        pane = self.bench.open(list(launching.argv), passing | dict(launching.environment), place.work)
        return LaunchedRun(self.bench, self.runtime, spawn, pane, answering)


@contextmanager
def a_launcher(
    runtime: Runtime, script: Script, environ: Callable[[Bench], dict[str, str]], agent: Agent | None = None
) -> Iterator[Launcher]:
    """Make a bench on which the CLI never ran. `environ` lays down what is the user's own and returns its variables."""
    with a_bench(runtime.name, script, laid_down=False) as bench:
        yield Launcher(bench, runtime, environ(bench), agent or Agent("dev", runtime=runtime.name))
