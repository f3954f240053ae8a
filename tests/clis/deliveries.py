"""Deliver many orders to a real CLI as the daemon does, and count what became of each: `scripts/clis deliver CLI …`.

Each order is another one (`orders.py`), launched by the daemon's own code, every second one in the conversation of the
one before; the launching process of every tenth is killed in the middle and another one goes on (`caller.py`). What
arrived is what the model server was asked, byte for byte.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.daemon.core.hook_replies import put_reply
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.ingest.events import EventIngest
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.event import Event, EventKind, Reply, Say
from orchestrator.model.permission import Policy
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.files import Entry
from orchestrator.ports.host import Standing
from orchestrator.runtimes.registry import runtime_of
from tests.clis.answers import say
from tests.clis.bench import Bench, a_bench
from tests.clis.caller import TASK, Call, Dies, place_and_die, place_call
from tests.clis.orders import an_order
from tests.clis.outcomes import HEADING, Delivery, row
from tests.clis.pinned import NODE, pins, why_missing
from tests.clis.playing import always
from tests.clis.users import agent, variables
from tests.polling import wait_until

WITH_RECEIPTS: Final = tuple(name for name in pins() if name not in {NODE, "aider"})
"""The CLIs that tell when they have taken an order, by their pins."""

PATIENCE: Final = 600.0
"""Seconds until an order counts as not taken, and a turn as not ended: for machines that have other work."""
LEAVES: Final = 15.0
"""Seconds that a CLI has to end by TERM."""
EVERY: Final = 10
"""Of so many deliveries one is cut off in the middle."""
_DEATHS: Final = (Dies.BEFORE, Dies.WHILE, Dies.AFTER)


@dataclass(slots=True)
class Post:
    """One CLI in one place, to which orders are delivered; `cuts` says that launches are cut off."""

    bench: Bench
    cli: str
    seed: int
    cuts: bool = True
    under_way: dict[str, Delivery] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)
    _files: DiskFiles = field(default_factory=DiskFiles)
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for folder in (layout.task_events(self.where.home), self.where.task):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def where(self) -> TaskPaths:
        root = self.bench.place.root
        home = root / "state" / "tasks" / TASK
        return TaskPaths(self.bench.place.work, home, self.bench.place.work / "tasks" / "t", root / "trees")

    @property
    def host(self) -> LocalHost:
        return LocalHost(Tmux(self.bench.socket.name, self.bench.socket.environ), self._files)

    @property
    def environ(self) -> dict[str, str]:
        place = self.bench.place
        own = place.environ() | dict(variables(self.cli, place.url))
        own["PATH"] = f"{Path(place.program).parent}:{own['PATH']}"
        return own

    # Delivering -----------------------------------------------------------------------------------

    def chain(self, count: int) -> list[Delivery]:
        """Deliver orders one after the other, every second one in the conversation of the one before."""
        made: list[Delivery] = []
        for number in range(count):
            if self.stopped.is_set():
                break
            before = made[-1] if number % 2 else None
            ended = before.events_of(EventKind.ENDED) if before is not None else []
            made.append(self.deliver(ended[-1] if ended else None))
        return made

    def deliver(self, ended: Event | None = None) -> Delivery:
        """Deliver one order, wait until its turn is over, and end its run.

        Args:
            ended: the end of a turn, with whose conversation it is to go on.

        """
        with self._lock:
            self._count += 1
            number = self._count
        tenth, last = divmod(number, EVERY)
        cut = self.cuts and last == EVERY // 2
        dies = _DEATHS[tenth % len(_DEATHS)] if cut else Dies.NEVER
        socket = self.bench.socket
        text = an_order(self.seed * 1_000_000 + number)
        call = Call(
            self.where,
            socket.name,
            self.environ,
            socket.environ,
            agent(self.cli),
            number,
            text,
            ended.session if ended else "",
            ended.transcript if ended else "",
        )
        delivery = self.under_way[call.run] = Delivery(call, dies, at=time.time())
        try:
            self._carry(delivery)
        except AssertionError as late:
            delivery.trouble = f"{late}; "
        if delivery.trouble or delivery.left:
            delivery.trouble += self._seen(delivery)
        self._end(delivery)
        return delivery

    def _seen(self, delivery: Delivery) -> str:
        """Return all that there is to look at when an order does not arrive."""
        pane = self.host.observe(layout.run_home(self.where.home, delivery.call.run)).pane
        screen = self.host.capture(pane, 30) if pane else "no pane"
        kept = [path.name for root in self._transcripts() for path in root.rglob("*") if path.is_file()]
        reported = [event.kind.value for event in delivery.events]
        return f"told {reported}; session {delivery.call.session}; kept {kept}; screen:\n{screen}"

    def _transcripts(self) -> tuple[Path, ...]:
        return runtime_of(agent(self.cli)).transcripts(self.environ)

    def _carry(self, delivery: Delivery) -> None:
        call = delivery.call
        if delivery.dies is not Dies.NEVER:
            delivery.died = place_and_die(call, delivery.dies)
            delivery.at = time.time()
        place_call(call)
        folder = layout.run_home(self.where.home, call.run)
        delivery.order = layout.run_order(folder).read_bytes().decode()
        host = self.host

        def gone() -> bool:
            return host.observe(folder).standing is Standing.GONE

        wait_until(lambda: delivery.whole or gone(), within=PATIENCE, every=0.05)
        wait_until(lambda: delivery.events_of(EventKind.ENDED) or gone(), within=PATIENCE, every=0.05)
        delivery.left = gone()

    def _end(self, delivery: Delivery) -> None:
        """End the run as the PM does: told, then killed; and see what its model was asked until then."""
        folder, host = layout.run_home(self.where.home, delivery.call.run), self.host
        pane = host.observe(folder).pane
        for kill in (False, True):
            host.end(folder, kill=kill)
            try:
                wait_until(lambda: host.observe(folder).standing is Standing.GONE, within=LEAVES, every=0.05)
            except AssertionError:
                continue
            break
        if pane:
            host.close_pane(pane, delivery.call.run)
        delivery.asked = tuple(
            turn for turn in self.bench.server.turns if _run_of(turn.prompt) == delivery.call.run
        )

    # Listening ------------------------------------------------------------------------------------

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Read what hooks tell by the daemon's own way in, and let everything go its way, in a thread of its own."""
        over = threading.Event()
        events = EventIngest(self._files, self.where.home, lambda _: self.environ, lambda *_: Policy())

        def listen() -> None:
            while not over.wait(0.05):
                for entry in events.waiting():
                    self._hear(events, entry)
                    events.take_away(entry.name)

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield
        finally:
            over.set()
            listener.join()

    def _hear(self, events: EventIngest, entry: Entry) -> None:
        delivery = self.under_way.get(entry.name.partition(".")[0])
        state = PMState() if delivery is None else delivery.call.state()
        fact, _ = events.fact(entry, state, self.where, time.time())
        if fact is None or delivery is None:
            return
        if fact.event.kind is EventKind.STARTED:
            delivery.started_at = delivery.started_at or entry.mtime_ns / 1e9
        if fact.event.kind is EventKind.TAKEN:
            delivery.receipt_at = delivery.receipt_at or entry.mtime_ns / 1e9
            delivery.whole.append(fact.whole is True)
        delivery.events.append(fact.event)
        if fact.waits:
            asked = fact.event.kind is EventKind.ASKED
            reply = Reply(Say.DENY, "Not here.") if asked else Reply(Say.PASS)
            said = runtime_of(delivery.call.agent).answer(reply)
            put_reply(self._files, self.where.home, fact.run, fact.name, said)


def _run_of(prompt: str) -> str:
    """Return the run that a prompt is for: the first that it names, as files of other runs may be quoted in it."""
    return prompt.partition("**Run:** ")[2].partition("\n")[0]


def delivered(
    pin: str, count: int, at_once: int, seed: int = 1, stopped: threading.Event | None = None
) -> list[Delivery]:
    """Deliver `count` orders to a CLI by its pin's name, so many at once; none is begun once `stopped` is set."""
    with a_bench(pin, always(say("Done.")), laid_down=False) as bench:
        post = Post(bench, pin.partition("-")[0], seed, stopped=stopped or threading.Event())
        shares = [count // at_once + (lane < count % at_once) for lane in range(at_once)]
        with post.listening(), ThreadPoolExecutor(at_once) as lanes:
            chains = [lanes.submit(post.chain, share) for share in shares]
            while wait(chains, timeout=30).not_done:
                say_so(f"{pin}: {sum(bool(each.asked) for each in list(post.under_way.values()))} of {count}")
        return [delivery for chain in chains for delivery in chain.result()]


def main(argv: Sequence[str] | None = None) -> int:
    """Deliver, print a line per CLI, and tell of what did not arrive whole; told to end, count until there."""
    parser = argparse.ArgumentParser("scripts/clis deliver", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "clis", metavar="CLI", nargs="+", choices=WITH_RECEIPTS, help=", ".join(WITH_RECEIPTS)
    )
    parser.add_argument("--count", type=int, default=200, help="orders for each CLI; usually %(default)s")
    parser.add_argument("--at-once", type=int, default=4, help="usually %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="which orders; usually %(default)s")
    options = parser.parse_args(argv)
    failed, stopped = False, threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    say_so(HEADING)
    for pin in options.clis:
        if why := why_missing(pin):
            say_so(f"skipped: {why}")
            continue
        made = delivered(pin, options.count, options.at_once, options.seed, stopped)
        sys.stdout.write(row(pin, made) + "\n")
        sys.stdout.flush()
        for each in made:
            if each.outcome != "whole" or each.trouble:
                failed = True
                say_so(
                    f"{pin} {each.call.run} ({each.dies.value}, resumed {each.resumed}): {each.outcome} {each.trouble}"
                )
    return 1 if failed else 0


def say_so(text: str) -> None:
    """Tell on standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
