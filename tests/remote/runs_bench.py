"""A box as a host in trouble: its runs, agents whose starts can be counted, and a link that fails when told to."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator.hosts.processes import Process, send, start_of
from orchestrator.hosts.ssh.host import BoxHost
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.hosts.ssh.stream import Stream
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import DEADLINE, MOST, Cut, Ended
from orchestrator.ports.host import LaunchSpec, Standing
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

TASK: Final = "build-0123abcd"
STARTS: Final = 'echo started >>"$0"'
"""An agent of one line: how often it was started can be counted."""


class FragileLink(Link):
    """Counts its steps: before and after each command, and ahead of each piece that is said to a subsystem.

    `before` is called with each number; if it says that it cut the link, and a command was carried out already, then
    its answer is lost. `commands` counts round trips.
    """

    steps = 0
    commands = 0
    before: Callable[[int], bool] = staticmethod(lambda _: False)

    def _step(self) -> bool:
        self.steps += 1
        return self.before(self.steps)

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", deadline: float = DEADLINE, most: int = MOST
    ) -> Ended:
        self.commands += 1
        self._step()
        ended = super().run(argv, stdin=stdin, deadline=deadline, most=most)
        if self._step():
            raise Cut("the answer is lost")
        return ended

    @contextmanager
    def subsystem(self, name: str, deadline: float = DEADLINE) -> Iterator[Stream]:
        with super().subsystem(name, deadline) as stream:
            send = stream.send

            def counted(data: bytes) -> int:
                self._step()
                return send(data)

            stream.send = counted  # type: ignore[method-assign]
            yield stream


def way_to(boxes: Boxes, name: str = "alpha") -> FragileLink:
    return FragileLink(Address(name), boxes.folder / "s", os.environ, config=boxes.config, connect=60)


class RunsBench:
    """One box, a session there, and what the daemon would have of it here."""

    def __init__(self, boxes: Boxes, state: Path) -> None:
        self.boxes = boxes
        self.box: Box = boxes.add("alpha")
        self.link = way_to(boxes)
        self.state = state
        self.host = BoxHost(self.link, state)
        self.root = self.box.home / ROOT
        self.host.open_session(TASK, "a bench", state / "tasks" / TASK / "pm.log")

    def folder(self, run: str) -> Path:
        return self.state / "tasks" / TASK / "runs" / run

    def there(self, run: str) -> Path:
        return self.root / "tasks" / TASK / "runs" / run

    def spec(self, run: str, script: str) -> LaunchSpec:
        argv = ("sh", "-c", script, str(self.box.home / f"{run}.starts"))
        environment = {"PATH": os.environ["PATH"]}
        return LaunchSpec(run, self.folder(run), argv, self.box.home, TASK, "dev", environment)

    def starts(self, run: str) -> int:
        with suppress(FileNotFoundError):
            return (self.box.home / f"{run}.starts").read_text().count("started")
        return 0

    def launched(self, run: str, script: str = "sleep 600") -> LaunchSpec:
        spec = self.spec(run, script)
        self.host.launch(spec)
        wait_until(lambda: self.standing(run) in {Standing.ALIVE, Standing.GONE}, within=30)
        return spec

    def standing(self, run: str) -> Standing:
        return self.host.observe(self.folder(run)).standing

    def cut_at(self, step: int, cut: Callable[[], object]) -> None:
        """Let the link be cut ahead of the step of this number, counted from now."""

        def before(number: int) -> bool:
            if number == step:
                cut()
            return number == step

        self.link.steps, self.link.before = 0, before

    @contextmanager
    def frozen_tmux(self) -> Iterator[None]:
        """Stop the tmux server there in its tracks for a while."""
        pid = int(self.host._tmux.cmd("display-message", "-p", "#{pid}").stdout[0])
        server = Process(pid, start_of(pid))
        send(server, signal.SIGSTOP)
        try:
            yield
        finally:
            send(server, signal.SIGCONT)

    def insist(self, deed: Callable[[], object]) -> None:
        """Do something, with a link that is not cut any more, until it is known to be done."""
        self.link.before = lambda _: False

        def done() -> bool:
            self.link.again()
            try:
                deed()
            except Unavailable:
                return False
            return True

        wait_until(done, within=60)

    def quiet(self, run: str) -> None:
        """Wait until a run is gone, and every launcher that was ever opened has ended."""
        wait_until(lambda: self.standing(run) is Standing.GONE, within=30)
        wait_until(lambda: all(each.dead or each.window == "pm" for each in self.host.panes()), within=30)

    def end(self) -> None:
        for folder in (self.root / "tasks" / TASK / "runs").glob("*"):
            self.insist(partial(self.host.end, self.folder(folder.name), kill=True))
        self.link.close()


if __name__ == "__main__":
    # A daemon that launches a run, and is killed ahead of a step.
    folder, state, home, step = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    link = FragileLink(Address("alpha"), folder / "s", os.environ, config=folder / "config", connect=60)

    def killed(number: int) -> bool:
        if number == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    link.before = killed
    argv = ("sh", "-c", STARTS, f"{home}/r1.starts")
    where = state / "tasks" / TASK / "runs" / "r1"
    BoxHost(link, state).launch(
        LaunchSpec("r1", where, argv, Path(home), TASK, "dev", {"PATH": os.environ["PATH"]})
    )
    link.close()
