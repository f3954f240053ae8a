"""opencode as its runtime launches it: told by its plugin, answered through it, and nothing of the user's changed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest

from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.model.permission import Act
from orchestrator.runtimes.opencode import PLUGIN, Opencode
from tests.clis.answers import Answer, Fault, Trouble, say
from tests.clis.answers import Reply as ModelReply
from tests.clis.bench import Bench, at_home
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.model_server import Script
from tests.clis.pinned import why_missing
from tests.clis.playing import always, played
from tests.clis.running import ORDER, Running, a_running, goes_on_once, lets_go
from tests.clis.test_smoke import MADE
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(bool(why_missing("opencode")), reason=why_missing("opencode"))

EVIL = 'export const Evil = async () => { require("fs").writeFileSync("%s", "") ; return {} }'

AGAIN = 'export * from "%s"; import { writeFileSync } from "fs"; writeFileSync("%s", "")'


def users_own(bench: Bench) -> dict[str, str]:
    """Lay down what a user may have: a provider, and leave for everything, given away twice."""
    place = bench.place
    given_away = {"bash": "allow", "edit": "allow"}
    place.write(
        place.home / ".config" / "opencode" / "opencode.json",
        {
            "$schema": "https://opencode.ai/config.json",  # it adds this itself where it is missing
            "model": "bench/model",
            "small_model": "bench/small",
            "permission": given_away,
            "agent": {"build": {"permission": given_away}},
            "provider": {
                "bench": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "bench",
                    "options": {"baseURL": f"{place.url}/v1", "apiKey": "dummy"},
                    "models": {name: {"name": name} for name in ("model", "small")},
                }
            },
        },
    )
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1"}


def running(script: Script) -> AbstractContextManager[Running]:
    return a_running("opencode", Opencode(), script, users_own)


def working(request: ModelRequest) -> Generator[ModelReply, tuple[ToolResult, ...], None]:
    yield run(request, "> made-unasked.txt")
    yield run(request, "echo 1 > run.txt")
    yield write(request, "made.txt", MADE)
    yield say("I made it.")


def test_an_order_arrives_whole_and_each_call_is_asked_about() -> None:
    """No dialog on a machine where it never ran; a denial does not end the turn; a user's own leave does not count."""

    def rules(event: Event) -> Reply:
        if event.tool_request is None:
            return lets_go(event)
        denied = event.tool_request.act is Act.RUN and event.tool_request.command.startswith(">")
        return Reply(Say.DENY, "Not that one.") if denied else Reply(Say.ALLOW)

    with running(played(working)) as here:
        place = here.bench.place
        theirs = (place.home / ".config" / "opencode" / "opencode.json").read_bytes()
        place.write(place.work / ".opencode" / "plugin" / "evil.js", EVIL % (place.root / "evil"))
        place.write(place.work / "opencode.json", {"plugin": ["./.opencode/plugin/evil.js"]})
        place.write(place.work / "AGENTS.md", "Speak of owls.\n")
        here.answering = rules
        here.start(ORDER)
        ended = here.until(EventKind.ENDED)

        assert (ended.text, ended.background) == ("I made it.", 0)
        assert here.until(EventKind.TAKEN).text == ORDER
        (first, *_rest) = here.bench.server.turns
        assert first.prompt == ORDER
        assert "Speak of owls." in first.raw.decode()
        requests = [event.tool_request for event in here.events if event.tool_request]
        assert [(request.act, request.command) for request in requests] == [
            (Act.RUN, "> made-unasked.txt"),
            (Act.RUN, "echo 1 > run.txt"),
            (Act.WRITE, ""),
        ]
        assert requests[2].paths == (str(place.work / "made.txt"),)
        assert (place.work / "made.txt").read_text() == MADE
        assert (place.work / "run.txt").read_text() == "1\n"
        assert not (place.work / "made-unasked.txt").exists()
        results = [result.text for step in here.bench.server.turns[-1].steps for result in step]
        assert "Not that one." in results[0]

        assert not (place.root / "evil").exists()
        assert (place.home / ".config" / "opencode" / "opencode.json").read_bytes() == theirs
        assert sorted(path.name for path in (place.home / ".config" / "opencode").iterdir()) == [
            ".gitignore",  # its own doing, at each start
            "opencode.json",
        ]


@pytest.mark.thorough(reason="a start of it takes ten seconds: CI has one order with its permissions")
def test_nothing_is_allowed_while_the_pm_cannot_be_reached() -> None:
    with running(played(working)) as here:
        pane = here.start("# Agent: dev")
        shutil.rmtree(here.home / "requests")
        wait_until(lambda: pane.shows("I made it."), within=180)
        assert [path.name for path in here.bench.place.work.iterdir()] == [".git"]


@pytest.mark.thorough(reason="a start of it takes ten seconds: CI has one order with its permissions")
def test_it_goes_on_after_an_answer_and_in_a_later_run() -> None:
    """And a prompt is sent once, though the plugin is loaded twice, and the run is started twice."""
    with running(always(replace(say("Yes."), tokens=(1000, 10)))) as here:
        bench = here.bench
        here.answering = goes_on_once("Hand it in;\n!now")
        here.start("# Agent: one")
        ended = here.until(EventKind.ENDED, 2)
        session = ended.session
        assert ended.usage
        assert (ended.usage.input, ended.usage.output, ended.usage.context) == (2000, 20, 1000)
        assert bench.server.turns[-1].prompts == ("# Agent: one", "Hand it in;\n!now")
        here.end()
        wait_until(lambda: not here.left())

        before = len(here.events)
        own = bench.place.home / ".config" / "opencode" / "plugin"
        here.start(ORDER, resumes=session)
        twice = AGAIN % (here.folder / PLUGIN, bench.place.root / "twice")
        bench.place.write(own / "twice.js", twice)
        resumed = here.until(EventKind.ENDED, 3)
        assert resumed.usage
        assert (resumed.usage.input, resumed.usage.output) == (1000, 10)  # without those of the run before
        assert (bench.place.root / "twice").exists()
        taken = [event.text for event in here.events[before:] if event.kind is EventKind.TAKEN]
        assert taken == [ORDER]
        assert bench.server.turns[-1].prompts[-1] == ORDER
        here.end()

        again = here.again()
        here.until(EventKind.STARTED, 3)
        again.until("Yes.")
        here.end()
        assert [turn.prompt for turn in bench.server.turns].count(ORDER) == 1
        assert here.kinds().count(EventKind.STARTED) == 3


@pytest.mark.thorough(reason="a start of it takes ten seconds: CI has one order with its permissions")
@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Fault(Trouble.RATE_LIMITED, retry_after=3600), Failure.LIMIT),
        (Fault(Trouble.UNAUTHORIZED), Failure.LOGIN),
        (Fault(Trouble.CREDIT_GONE), Failure.CREDIT),
        (Fault(Trouble.TOO_LONG), Failure.CONTEXT),
    ],
)
def test_a_failure_is_reported_by_its_kind(answer: Answer, failure: Failure) -> None:
    with running(always(answer)) as here:
        here.start("# Agent: dev")
        failed = here.until(EventKind.FAILED)
        assert failed.failure is failure
        assert failed.text
        if failure is Failure.LIMIT:
            assert failed.reset is not None
            assert failed.reset.moments[0] == pytest.approx(time.time() + 3600, abs=60)


@pytest.mark.thorough(reason="a start of it takes ten seconds: CI has one order with its permissions")
@pytest.mark.parametrize("trouble", [Trouble.OVERLOADED, Trouble.SERVER_ERROR])
def test_what_it_tries_again_by_itself_is_reported_as_that(trouble: Trouble) -> None:
    with running(always(Fault(trouble))) as here:
        here.start("# Agent: dev")
        here.until(EventKind.RETRYING, 2)
        assert EventKind.FAILED not in here.kinds()
        here.end()
    wait_until(lambda: not at_home(here.bench.place.root))
