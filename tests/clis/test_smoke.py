"""Each real CLI against the model server: the order arrives whole, a tool call is carried out, the turn ends."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.clis.answers import Reply, say
from tests.clis.bench import Bench, a_bench, at_home
from tests.clis.hands import write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.pinned import NODE, pins
from tests.clis.playing import played
from tests.clis.running import ORDER
from tests.polling import wait_until

pytestmark = pytest.mark.thorough(
    reason="test_runtime_… and test_whole_task hold the same of each CLI as its runtime launches it"
)

CLIS = [name for name in pins() if name != NODE]
RESUMING = [name for name in CLIS if name != "aider"]
MADE = "it's made;\n"


def making(request: ModelRequest) -> Generator[Reply, tuple[ToolResult, ...], None]:
    yield write(request, "made.txt", MADE)
    yield say("I made it.")


def ended(bench: Bench, turns: int = 1) -> None:
    bench.wait_for(bench.driver.ends, turns)


@pytest.mark.parametrize("installed", CLIS, indirect=True)
def test_an_order_arrives_whole_a_tool_is_used_and_the_turn_ends(installed: str) -> None:
    with a_bench(installed, played(making)) as bench:
        bench.start(ORDER)
        ended(bench)
        assert not bench.server.faults
        assert ORDER in bench.server.turns[0].prompt
        assert (bench.place.work / "made.txt").read_text() == MADE
    wait_until(lambda: not at_home(bench.place.root))


@pytest.mark.parametrize("installed", RESUMING, indirect=True)
def test_a_session_goes_on_with_all_that_was_said(installed: str) -> None:
    with a_bench(installed, played(making)) as bench:
        first = bench.start(ORDER)
        ended(bench)
        session = bench.driver.session(bench.place)
        bench.end(first)
        bench.start("And `now`;", resume=session)
        ended(bench, 2)
        assert bench.server.turns[-1].prompts[-2:] == (ORDER, "And `now`;")
