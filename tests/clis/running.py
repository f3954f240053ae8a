"""A real agent CLI as its runtime launches it: by the host, with its hooks read and answered in the PM's stead.

with a_running("codex", Codex(), always(say("Done.")), {"CODEX_API_KEY": "…"}) as running:
    running.start("# Agent: dev")
    running.until(EventKind.ENDED)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from orchestrator import layout
from orchestrator.daemon.core.hook_replies import put_reply
from orchestrator.hosts.claims import CLAIMED, EXIT, PID
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.agents import Agent
from orchestrator.model.environment import PASSED
from orchestrator.model.event import Event, EventKind, Reply, Say
from orchestrator.ports.host import LaunchSpec, Standing
from orchestrator.runtimes import Runtime, Spawn
from orchestrator.runtimes.environment import passed
from tests.clis.bench import SEEN, Bench, Pane, a_bench
from tests.clis.model_server import Script
from tests.polling import wait_until

Answering = Callable[[Event], Reply]

ORDER: Final = "\n".join(
    [
        "# Agent: dev",
        "**Task:** greet",
        "",
        "Read `this` and $HOME, \"quoted\" and 'quoted', 100 % and \\n:",
        "!ls",
        "/clear",
        "@made.txt",
        "# a heading",
        "-x --yes",
        "> a quotation",
        "\tünïcödé 🦉 日本語",
        *(f"{number}. A line of an order that is long enough, number {number};" for number in range(100)),
        "and the last; one ends with a semicolon;",
    ]
)
"""More than 100 lines and 5 KB, with all that some program has mistaken for something else."""


def lets_go(event: Event) -> Reply:
    """Deny every wish, and let everything else go its way."""
    return Reply(Say.DENY, "Not here.") if event.kind is EventKind.ASKED else Reply(Say.PASS)


def allows(event: Event) -> Reply:
    """Allow every wish, and let everything else go its way."""
    return Reply(Say.ALLOW) if event.kind is EventKind.ASKED else Reply(Say.PASS)


def goes_on_once(reason: str) -> Answering:
    """Have the first turn that ends go on, and let everything else go its way."""
    payloads: list[Event] = []

    def answer(event: Event) -> Reply:
        if event.kind is EventKind.ENDED and not payloads:
            payloads.append(event)
            return Reply(Say.GO_ON, reason)
        return lets_go(event)

    return answer


@dataclass(slots=True)
class Running:
    """Runs of one program in one place. `told` is all that its hooks said, `events` what that means, in order.

    Wishes that a program holds by its own means are in `ahead`, and `holding` answers them.
    """

    bench: Bench
    runtime: Runtime
    user: Mapping[str, str]
    answering: Answering = lets_go
    holding: Answering = allows
    payloads: list[dict[str, Any]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ahead: list[Event] = field(default_factory=list)
    runs: int = 0
    _spec: LaunchSpec | None = None
    _read: dict[Path, int] = field(default_factory=dict)
    _files: DiskFiles = field(default_factory=DiskFiles)
    _host: LocalHost | None = None

    @property
    def home(self) -> Path:
        """The task's folder in the PM's state."""
        return self.bench.place.root / "state" / "tasks" / "t-1"

    @property
    def granted(self) -> tuple[Path, ...]:
        task = self.bench.place.root / "tasks" / "t"
        return tuple(task / name for name in ("handoffs", "artifacts/code", "scratchpad/dev"))

    @property
    def folder(self) -> Path:
        """The folder of the last run."""
        return layout.run_home(self.home, f"r-{self.runs}")

    @property
    def host(self) -> LocalHost:
        if self._host is None:
            socket = self.bench.socket
            self._host = LocalHost(Tmux(socket.name, socket.environ), self._files)
        return self._host

    def start(
        self, prompt: str, *, resumes: str = "", agent: Agent | None = None, cwd: Path | None = None
    ) -> Pane:
        """Launch a run with an order, perhaps with the session that it goes on with."""
        self.runs += 1
        place, folder = self.bench.place, self.folder
        environ = self._environ()
        for made in (layout.task_events(self.home), layout.run_answers(folder), *self.granted):
            made.mkdir(parents=True, exist_ok=True)
        order = layout.run_order(folder)
        order.write_text(prompt, "utf-8")
        workspace = cwd or place.work
        launching = self.runtime.launching(
            Spawn(
                agent=agent or Agent("dev"),
                folder=folder,
                workspace=workspace,
                granted=self.granted,
                order=order,
                prompt=prompt,
                session=str(UUID(int=self.runs, version=4)),
                resumes=resumes,
                environ=environ,
            )
        )
        whole = environ | dict(launching.environment)
        run = folder.name
        self._spec = LaunchSpec(
            run, folder, launching.argv, workspace, "bench", run, whole, dict(launching.files)
        )
        return self._launched(self._spec)

    def again(self) -> Pane:
        """Start the last run a second time, as nothing but a fault would: its claim is gone."""
        if self._spec is None:
            raise AssertionError("nothing was started yet")
        for name in (CLAIMED, PID, EXIT):
            (self.folder / name).unlink(missing_ok=True)
        return self._launched(self._spec)

    def _launched(self, spec: LaunchSpec) -> Pane:
        folder = spec.folder
        self.host.launch(spec)
        wait_until(lambda: self.host.observe(folder).standing is not Standing.CLAIMED and self._pane())
        self.bench.panes.append(Pane(self.bench.socket, self._pane()))
        return self.bench.panes[-1]

    def _environ(self) -> dict[str, str]:
        """Return what of the user's passes: what reaches every run, and what this program is given."""
        place = self.bench.place
        own = place.environ() | dict(self.user)
        own["PATH"] = f"{Path(place.program).parent}:{own['PATH']}"
        return passed(own, (*PASSED, *self.runtime.variables))

    def _pane(self) -> str:
        return self.host.observe(self.folder).pane

    def listen(self) -> list[Event]:
        """Read and answer what was told since, and return all events so far."""
        found = layout.task_events(self.home).glob("[!.]*.json")
        for path in sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name)):
            said = json.loads(path.read_bytes())
            path.unlink(missing_ok=True)  # a test may take the whole folder away meanwhile
            self._hear(said, path.name)
        for path in {Path(event.transcript) for event in self.events if event.transcript}:
            self.events += self.runtime.appended(self._appended(path))
        return self.events

    def _hear(self, said: dict[str, Any], name: str) -> None:
        self.payloads.append(said)
        event = self.runtime.event(said)
        ahead = event is not None and event.tool_request is not None and event.tool_request.held
        if event is not None:
            (self.ahead if ahead else self.events).append(event)
        if name.endswith(".waits.json"):
            reply = (
                Reply(Say.PASS) if event is None else self.holding(event) if ahead else self.answering(event)
            )
            run = name.partition(".")[0]
            put_reply(
                self._files, self.home, run, name.removesuffix(".waits.json"), self.runtime.answer(reply)
            )

    def _appended(self, path: Path) -> list[bytes]:
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        start = self._read.get(path, 0)
        self._read[path] = len(whole)
        return whole[start:].splitlines()

    def until(self, kind: EventKind, count: int = 1, *, within: float = SEEN) -> Event:
        """Wait for the `count`th event of a kind, answering meanwhile, and return it."""

        def found() -> list[Event]:
            return [event for event in self.listen() if event.kind is kind][count - 1 : count]

        try:
            return wait_until(found, within=within, every=0.05)[0]
        except AssertionError as late:
            raise AssertionError(f"no {kind} within {within} s; {self.seen()}") from late

    def kinds(self) -> list[EventKind]:
        """Return the kinds of all events so far."""
        return [event.kind for event in self.listen()]

    def seen(self) -> str:
        """Return all that there is to look at when a test fails."""
        hooks = [each.get("hook_event_name") for each in self.payloads]
        asked = [f"{each.number} {each.path} {each.prompt[:60]!r}" for each in self.bench.server.requests]
        screens = "\n---\n".join(pane.screen() for pane in self.bench.panes)
        return f"told {hooks}; events {self.events}; requests {asked}; screens:\n{screens}"

    def end(self, *, kill: bool = False) -> None:
        """End the last run as the PM does, and wait until it has told of its end."""
        self.host.end(self.folder, kill=kill)
        wait_until(lambda: self.host.observe(self.folder).standing is Standing.GONE, within=15)

    def left(self) -> list[str]:
        """Return the command lines of the processes that the program left behind."""
        return self.bench.left()


@contextmanager
def a_running(
    pin: str, runtime: Runtime, script: Script, user: Callable[[Bench], Mapping[str, str]]
) -> Iterator[Running]:
    """Make a place where a program never ran, with nothing laid down. `user` tells the variables of its user."""
    with a_bench(pin, script, laid_down=False) as bench:
        yield Running(bench, runtime, user(bench))
