"""What grows while a CLI waits for its model, or runs a tool: `python -m tests.clis.growth CLI SCENE`.

The CLI runs as its runtime launches it. Of each source it is printed at which seconds it grew: the requests to the
model, what its hooks told, its transcript, its terminal's log, and its screen without clocks and spinners. The silences
of the service are real ones, so a scene takes minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.runtimes.registry import RUNTIMES
from orchestrator.runtimes.screens import said_on
from tests.clis.album import FIXTURES, Album
from tests.clis.answers import Answer, Hang, Reply, Text, Then, say
from tests.clis.bench import Bench
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest
from tests.clis.model_server import Script
from tests.clis.running import Running, a_running, allows
from tests.clis.users import agent, variables


def _words(count: int) -> str:
    return " ".join(f"word{number} of a long answer" for number in range(count))


def _begun(then: Callable[[ModelRequest], Answer]) -> Script:
    """First look around, so that there is a transcript; then do what the scene is about, for ever."""

    def script(request: ModelRequest) -> Answer:
        if not request.steps:
            return run(request, "ls")
        return then(request)

    return script


def _slow_block(request: ModelRequest) -> Answer:
    wanted = write(request, "made.txt", _words(2000))
    return Reply(wanted.parts, pace=2.0, cuts=60) if len(request.steps) == 1 else say("Done.")


def _hung_call(request: ModelRequest) -> Answer:
    return Reply(write(request, "made.txt", _words(2000)).parts, pace=0.3, then=Then.PING, cuts=60)


def _slow_text(request: ModelRequest) -> Answer:
    return Reply((Text(_words(100)),), pace=20.0, cuts=8)


def _long_tool(request: ModelRequest) -> Answer:
    if len(request.steps) == 1:
        return run(request, "python3 -c 'import time; time.sleep(100)'")
    return say("Done.")


def _two_parts(request: ModelRequest) -> Answer:
    """A word, a tool call, and then nothing: what stands in the transcript of an answer that never ended?"""
    wanted = run(request, "ls -l").parts
    return Reply((Text("I look closer."), *wanted, Text(_words(200))), pace=0.2, then=Then.PING, cuts=30)


SCENES: Final[dict[str, Callable[[ModelRequest], Answer]]] = {
    "hang": lambda _request: Hang(),
    "mid": lambda _request: Reply((Text(_words(100)),), pace=0.3, then=Then.HANG, cuts=20),
    "pings": lambda _request: Reply((Text(_words(100)),), pace=0.3, then=Then.PING, cuts=20),
    "slow": _slow_text,
    "block": _slow_block,
    "call": _hung_call,
    "tool": _long_tool,
    "parts": _two_parts,
}


@dataclass(slots=True)
class Growth:
    """At which seconds each source was seen to have grown."""

    began: float = field(default_factory=time.monotonic)
    seen: dict[str, tuple[object, list[int]]] = field(default_factory=dict)

    def look(self, source: str, now: object) -> None:
        before, moments = self.seen.get(source, (None, []))
        if now != before:
            moments.append(round(time.monotonic() - self.began))
        self.seen[source] = now, moments

    def ranges(self) -> dict[str, str]:
        return {source: _ranges(moments) for source, (_, moments) in self.seen.items()}

    def lines(self) -> Iterator[str]:
        for source, moments in self.ranges().items():
            yield f"{source:12}  {moments}"


def _ranges(moments: list[int]) -> str:
    """Return moments with runs of them (no pause of more than 2 s) drawn together."""
    ranges: list[list[int]] = []
    for moment in moments:
        if ranges and moment - ranges[-1][-1] <= 2:
            ranges[-1][-1] = moment
        else:
            ranges.append([moment, moment])
    return " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)


def sizes(paths: set[str]) -> tuple[int, ...]:
    return tuple(Path(path).stat().st_size for path in sorted(paths) if Path(path).exists())


def watch(here: Running, growth: Growth, seconds: float, screens: dict[int, str]) -> None:
    """Let a program work for some seconds, and look at each; `screens` are kept by the second."""
    pane = here.start("# Agent: dev\nWork.", agent=agent(here.runtime.name))
    log = here.folder / PANE_LOG
    while (at := time.monotonic() - growth.began) < seconds:
        events = here.listen()
        growth.look("requests", len(here.bench.server.turns))
        growth.look("hooks", len(here.payloads))
        growth.look("transcript", sizes({event.transcript for event in events if event.transcript}))
        growth.look("printed", log.stat().st_size if log.exists() else 0)
        screens[round(at)] = pane.screen()
        growth.look("screen", said_on(screens[round(at)], here.runtime.screens))
        time.sleep(1.0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("cli", help="a pinned CLI, as in tests/clis/pinned.toml")
    options.add_argument("scene", choices=SCENES)
    options.add_argument("--seconds", type=float, default=120.0)
    options.add_argument(
        "--keep", type=int, nargs="*", default=[], help="seconds whose screens become fixtures"
    )
    given = options.parse_args()
    name = given.cli.partition("-")[0]
    growth, screens = Growth(), dict[int, str]()
    user = partial(_user, name)
    with a_running(given.cli, RUNTIMES[name], _begun(SCENES[given.scene]), user) as here:
        here.answering = allows
        watch(here, growth, given.seconds, screens)
        print(f"== {given.cli}, {given.scene}", *growth.lines(), sep="\n")
        if given.keep:
            shown = {at: next(screens[each] for each in sorted(screens) if each >= at) for at in given.keep}
            kept = {"grew at second": growth.ranges(), "screens": shown}
            Album(FIXTURES / given.cli).event(f"measured_waiting_{given.scene}", kept, here.bench)


def _user(name: str, bench: Bench) -> dict[str, str]:
    return variables(name, bench.server.url)


if __name__ == "__main__":
    main()
