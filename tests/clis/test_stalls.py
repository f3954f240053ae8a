"""Whole tasks with real CLIs whose model hangs, or which go round in circles: known, gone on with, nobody asked.

Time is compressed: what takes minutes by the usual limits takes seconds here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from orchestrator.model.event import CAUTION
from orchestrator.pm.state.tracing import OFTEN
from tests.chaos.machine import fill_up
from tests.chaos.trial import Skipped
from tests.clis.answers import Answer, Hang, Reply, Text, Then
from tests.clis.hands import run
from tests.clis.house import House, a_house
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.players import Cast
from tests.clis.playing import played
from tests.clis.selection import in_ci
from tests.clis.test_signals import TRACED

STALL = 24.0
"""Seconds; a third of it must be enough for a busy machine to bring a token to a screen."""
QUICKLY = {
    "limits__stall_timeout": f"{STALL:.0f} s",
    "limits__termination_grace": "5 s",
    "limits__receipt_timeout": "60 s",
    "daemon__rescan": "1 s",
}
Steps = Generator[Reply, tuple[ToolResult, ...], None]


@dataclass
class Nights:
    """A cast in whose explorer's turn something goes wrong after its first tool call; `since` is when."""

    trouble: Answer
    times: int = 1
    since: list[float] = field(default_factory=list)
    cast: Cast = field(default_factory=Cast)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, request: ModelRequest) -> Answer:
        """Answer as the cast does, but for the troubles."""
        if request.prompt.startswith("# Agent: explore") and len(request.steps) == 1:
            with self._lock:
                if len(self.since) < self.times:
                    self.since.append(time.time())
                    return self.trouble
        return played(self.cast.turn)(request)


def complete(house: House, installed: str) -> None:
    """Let a task begin, and wait until it is complete; nobody may be asked anything."""
    house.daemon()
    house.begin("t1", installed.partition("-")[0])
    over = {"complete", "failed", "waiting"}
    house.world.until(lambda: house.world.stands("t1") in over, within=400)
    assert house.world.stands("t1") == "complete", house.screens()
    assert not house.world.story("t1").changes("question_asked")
    assert not house.server.faults


def endings(house: House) -> list[tuple[str, str]]:
    """Return why which steps' runs were ended that were, but for those that had reported."""
    story = house.world.story("t1")
    ended = [(story.runs[each["run"]]["step"], each["ending"]) for each in story.changes("run_ending")]
    return [(step, ending) for step, ending in ended if ending != "done"]


HUNG = Reply((Text("I look closer at it. " * 60),), pace=0.05, then=Then.PING, cuts=20)


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(
            HUNG, marks=pytest.mark.thorough(reason="simulation/test_signals.py has what a hang costs")
        ),
        pytest.param(
            Hang(), marks=pytest.mark.thorough(reason="simulation/test_signals.py has what a hang costs")
        ),
    ],
    ids=["mid-stream", "before headers"],
)
@pytest.mark.parametrize("installed", in_ci(TRACED, "claude"), indirect=True)
def test_hung_stream_costs_no_more_than_its_bound(installed: str, trouble: Answer) -> None:
    """A hung stream costs no more than its bound and nobody is asked."""
    night = Nights(trouble)
    with a_house(installed, night.script, **QUICKLY) as house:
        complete(house, installed)
        assert endings(house) == [("explore", "stalled")]
        story = house.world.story("t1")
        (ended,) = [each for each in story.changes("run_ending") if each["ending"] == "stalled"]
        assert ended["at"] - night.since[0] < STALL * 600 / 450 + 10, "ten minutes, in this night's time"
        first, second = [each for each in story.runs.values() if each["step"] == "explore"]
        assert second["resumes"] == first["id"]
        # The same conversation: the model was asked with all that was said before it hung.
        resumed = [each for each in house.server.turns if each.at > ended["at"]]
        assert len(resumed[0].prompts) > 1


@pytest.mark.parametrize("installed", in_ci(["claude", "codex"]), indirect=True)
def test_conversation_that_is_never_answered_begins_anew(installed: str) -> None:
    """A model that never answers a conversation is given an empty one."""
    night = Nights(HUNG, times=3)
    with a_house(
        installed, night.script, **QUICKLY | {"limits__inactivity_timeout": "30 s", "limits__max_stalls": "2"}
    ) as house:
        complete(house, installed)
        assert endings(house) == [("explore", "stalled")] * 3
        assert len(house.world.story("t1").changes("run_spent")) == 1


@pytest.mark.parametrize("installed", in_ci(["claude", "codex", "opencode"], "codex"), indirect=True)
@pytest.mark.thorough(reason="simulation/test_signals.py has long answers")
def test_slow_tools_and_slow_answers_are_no_stalls(installed: str) -> None:
    """A tool that takes long and an answer that comes slowly are no stalls."""
    cast = Cast()

    def working(request: ModelRequest) -> Steps:
        if request.prompt.startswith("# Agent: explore"):
            yield run(request, f"python3 -c 'import time; time.sleep({1.7 * STALL})'")
            words = " ".join(f"word{number}" for number in range(200))
            # The call that ends it is shown by none but Claude Code while it is written: alone it is no stall yet.
            yield Reply((Text(words), *run(request, "ls").parts), pace=STALL / 16, cuts=10)
        yield from cast.turn(request)

    with a_house(installed, played(working), **QUICKLY) as house:
        complete(house, installed)
        assert endings(house) == []


class Circles:
    """An explorer that makes the same call again and again, until it is told so; or not even then."""

    def __init__(self, *, heeds: bool) -> None:
        self.heeds = heeds
        self.cast = Cast()
        self.calls = 0

    def turn(self, request: ModelRequest) -> Steps:
        """Play whoever the order is for."""
        stubborn = (
            request.prompt.startswith("# Agent: explore") and "went round in circles" not in request.prompt
        )
        while stubborn:
            results = yield run(request, "ls -d .")
            self.calls += 1
            if self.heeds and any("round in circles" in each.text for each in results):
                break
        yield from self.cast.turn(request)


@pytest.mark.parametrize("installed", in_ci(TRACED, "claude"), indirect=True)
@pytest.mark.thorough(reason="the night `repeats-itself` of CI has the same CLI in circles")
def test_an_agent_in_circles_is_cautioned_and_gets_out(installed: str) -> None:
    circles = Circles(heeds=True)
    with a_house(installed, played(circles.turn), **QUICKLY) as house:
        complete(house, installed)
        assert endings(house) == []
        story = house.world.story("t1")
        assert len(story.changes("run_cautioned")) == 1
        run_ = next(each for each in story.runs.values() if each["step"] == "explore")
        answers = house.world.home("t1") / "runs" / run_["id"] / "answers"
        assert (answers / f"{CAUTION}.read").exists()


@pytest.mark.parametrize("installed", in_ci(["claude", "codex", "opencode"], "codex"), indirect=True)
@pytest.mark.thorough(reason="simulation/test_signals.py has agents that repeat themselves")
def test_run_that_ignores_the_caution_is_replaced(installed: str) -> None:
    """Who does not heed it makes room for another that begins anew."""
    circles = Circles(heeds=False)
    with a_house(installed, played(circles.turn), **QUICKLY) as house:
        complete(house, installed)
        assert endings(house) == [("explore", "repeating")]
        anew = house.server.turns[-1]
        assert circles.calls > OFTEN
        assert anew.prompts


@pytest.mark.parametrize(
    "installed", in_ci(["claude", "claude-2.1.197", "codex", "gemini", "opencode"], "claude"), indirect=True
)
@pytest.mark.thorough(reason="integration/hosts/test_relay.py has a hook on a full disk")
def test_a_full_disk_for_a_while_leaves_no_agent_at_a_dialog(installed: str) -> None:
    """The disk of the PM's own folder is full when an agent asks leave, until there is room again."""
    cast, full, room = Cast(), threading.Event(), threading.Event()

    def working(request: ModelRequest) -> Steps:
        if request.prompt.startswith("# Agent: explore"):
            if not full.is_set():
                fill_up(house.world.state)
                full.set()
            yield run(request, "python3 -c 'print(1)' > asked.txt; rm asked.txt")
        yield from cast.turn(request)

    with a_house(installed, played(working), **QUICKLY) as house, small_disk(house):
        house.daemon()
        house.begin("t1", installed.partition("-")[0], "permissions: allow run python3 *")
        assert full.wait(200)
        time.sleep(12)  # the time itself is what is tested
        (house.world.state / "filler").unlink()
        room.set()
        over = {"complete", "failed", "waiting"}
        house.world.until(lambda: house.world.stands("t1") in over, within=300)
        assert house.world.stands("t1") == "complete", house.screens()
        assert not house.world.story("t1").changes("question_asked")


def small_disk(house: House) -> Any:
    """Put the PM's own folder on a small disk of its own."""
    from tests.chaos.machine import small_disk as mounted

    try:
        return mounted(house.world, house.world.state, "size=12m")
    except Skipped as why:
        pytest.skip(str(why))
