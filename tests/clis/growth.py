"""What grows while a CLI waits for its model, is told something, or runs a tool: `python -m tests.clis.growth CLI SCENE`.

The CLI runs as its runtime launches it. Of each source it is printed at which seconds it grew: the requests to the
model, what its hooks told, its transcript, and its screen, once as it is and once without what a clock or a spinner
changes. The silences of the service are real ones, so a scene takes minutes.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.runtimes.choice import RUNTIMES
from tests.clis.answers import Answer, Hang, Reply, Text, Then, say
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest
from tests.clis.model_server import Script
from tests.clis.running import Running, a_running, allows
from tests.clis.users import agent, variables

_CLOCK: Final = re.compile(r"[\W\d_]+")


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

    def lines(self) -> Iterator[str]:
        for source, (_, moments) in self.seen.items():
            yield f"{source:12} {len(moments):4}  {_ranges(moments)}"


def _ranges(moments: list[int]) -> str:
    """Return moments with runs of them (no pause of more than 2 s) drawn together."""
    told: list[list[int]] = []
    for moment in moments:
        if told and moment - told[-1][-1] <= 2:
            told[-1][-1] = moment
        else:
            told.append([moment, moment])
    return " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in told)


def sizes(paths: set[str]) -> tuple[int, ...]:
    return tuple(Path(path).stat().st_size for path in sorted(paths) if Path(path).exists())


def watch(here: Running, growth: Growth, seconds: float, screens: list[tuple[int, str]]) -> None:
    pane = here.start("# Agent: dev\nWork.", agent=agent(here.runtime.name))
    log = here.folder / PANE_LOG
    while time.monotonic() - growth.began < seconds:
        events = here.listen()
        growth.look("requests", len(here.bench.server.turns))
        growth.look("hooks", len(here.told))
        growth.look("transcript", sizes({event.transcript for event in events if event.transcript}))
        growth.look("printed", log.stat().st_size if log.exists() else 0)
        screen = pane.screen()
        growth.look("screen", screen)
        growth.look("its words", [_CLOCK.sub(" ", line) for line in screen.splitlines()])
        at = round(time.monotonic() - growth.began)
        if not screens or at - screens[-1][0] >= 15:
            screens.append((at, screen))
        time.sleep(1.0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("cli", help="a pinned CLI, as in tests/clis/pinned.toml")
    options.add_argument("scene", choices=SCENES)
    options.add_argument("--seconds", type=float, default=120.0)
    options.add_argument("--screens", action="store_true", help="print what was on the screen, too")
    given = options.parse_args()
    name = given.cli.partition("-")[0]
    runtime = RUNTIMES[name]
    growth, screens = Growth(), list[tuple[int, str]]()
    with a_running(
        given.cli, runtime, _begun(SCENES[given.scene]), lambda bench: variables(name, bench.server.url)
    ) as here:
        here.answering = allows
        watch(here, growth, given.seconds, screens)
        print(f"== {given.cli}, {given.scene}")
        print(*growth.lines(), sep="\n")
        print("events", [event.kind.value for event in here.events])
        for path in {event.transcript for event in here.events if event.transcript}:
            print(f"-- {path}")
            if Path(path).exists():
                for line in Path(path).read_text().splitlines():
                    print("   ", line[:260])
        if given.screens:
            for at, screen in screens:
                print(f"-- {at} s\n" + "\n".join(line for line in screen.splitlines() if line.strip()))


if __name__ == "__main__":
    main()
