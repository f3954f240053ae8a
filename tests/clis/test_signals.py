"""What each real CLI tells of what it does, and how it is told something in the middle of a turn."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.core.hook_replies import put_reply
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.activity import Activity, Stage
from orchestrator.model.event import CAUTION, EventKind, Reply, Say
from orchestrator.pm.state.tracing import Trace
from orchestrator.runtimes import Traced
from orchestrator.runtimes.registry import RUNTIMES
from tests.clis.answers import Reply as ModelReply
from tests.clis.answers import say
from tests.clis.hands import run
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.pinned import pins
from tests.clis.playing import played
from tests.clis.running import Running, a_running, allows
from tests.clis.selection import in_ci
from tests.clis.users import agent, variables
from tests.polling import wait_until

TRACED = [name for name in pins() if isinstance(RUNTIMES.get(name.partition("-")[0]), Traced)]
TOLD = "The PM sees that you are going round in circles"
Steps = Generator[ModelReply, tuple[ToolResult, ...], None]

pytestmark = pytest.mark.parametrize("installed", in_ci(TRACED, "claude", "codex"), indirect=True)


def caution(here: Running) -> None:
    """Lay down what an agent is to be told."""
    reported = here.runtime.answer(Reply(Say.CAUTION, TOLD))
    put_reply(DiskFiles(), here.home, here.folder.name, CAUTION, reported)


def activity(here: Running) -> Activity:
    """Return what the records of the last run tell by now."""
    runtime, trace, kept = (
        here.runtime,
        Trace(),
        [event.transcript for event in here.listen() if event.transcript],
    )
    assert isinstance(runtime, Traced)
    data = Path(kept[-1]).read_bytes() if kept and Path(kept[-1]).exists() else b""
    for number, line in enumerate(data.splitlines(keepends=True)):
        for record in runtime.records(line):
            trace.take(record, float(number))
    return trace.activity()


def asked_after(here: Running, calls: int) -> bool:
    """Tell whether the model was asked what comes after so many tool calls."""
    turns = here.bench.server.turns
    return bool(turns) and len(turns[-1].steps) == calls


def test_a_word_of_the_pm_is_read_once_in_place_of_a_tool_call(installed: str) -> None:
    results: list[str] = []

    def working(request: ModelRequest) -> Steps:
        for number in range(4):
            if number == 1:
                caution(here)
            (result,) = yield run(request, f"touch made-{number}")
            results[number:] = [result.text]
        yield say("Done.")

    name = installed.partition("-")[0]
    with a_running(
        installed, RUNTIMES[name], played(working), lambda bench: variables(name, bench.server.url)
    ) as here:
        here.answering = allows
        here.start("# Agent: dev\nWork.", agent=agent(name))
        here.until(EventKind.ENDED)
        assert [TOLD in each for each in results] == [False, True, False, False], results
        made = sorted(each.name for each in here.bench.place.work.glob("made-*"))
        assert made == ["made-0", "made-2", "made-3"]
        assert (layout.run_answers(here.folder) / f"{CAUTION}.read").exists()


def test_records_distinguish_running_tool_from_awaited_model(installed: str) -> None:
    """A tool call of some seconds, then a model that does not answer for as long, then its end."""
    go = "go-on"

    def working(request: ModelRequest) -> Steps:
        yield run(request, "echo first")
        yield run(request, f"until [ -e {go} ]; do sleep 0.2; done; echo second")
        yield ModelReply(say("Done.").parts, after=4.0)

    name = installed.partition("-")[0]
    with a_running(
        installed, RUNTIMES[name], played(working), lambda bench: variables(name, bench.server.url)
    ) as here:
        here.answering = allows
        here.start("# Agent: dev\nWork.", agent=agent(name))
        wait_until(lambda: here.listen() and asked_after(here, 1), within=60)
        # Gemini CLI records a call when it has its result: until then nothing is known.
        in_tool = Stage.UNKNOWN if name == "gemini" else Stage.TOOL
        wait_until(lambda: activity(here).stage is in_tool, within=60)
        (here.bench.place.work / go).touch()
        wait_until(lambda: here.listen() and asked_after(here, 2), within=60)
        wait_until(lambda: activity(here).stage is Stage.MODEL, within=3.5, every=0.1)
        here.until(EventKind.ENDED)
        wait_until(lambda: activity(here).stage is not Stage.MODEL, within=20)


def test_the_same_call_with_the_same_result_is_known_again(installed: str) -> None:
    def working(request: ModelRequest) -> Steps:
        yield run(request, "echo other")
        for _ in range(6):
            yield run(request, "date +%s.%N; echo nothing to do")
        yield say("Done.")

    name = installed.partition("-")[0]
    with a_running(
        installed, RUNTIMES[name], played(working), lambda bench: variables(name, bench.server.url)
    ) as here:
        here.answering = allows
        here.start("# Agent: dev\nWork.", agent=agent(name))
        here.until(EventKind.ENDED)
        wait_until(lambda: activity(here).repeats >= 4, within=20)
        seen = activity(here)
        assert seen.repeats == 4, "the third time and each later one"
        assert "nothing to do" in seen.repeated
