"""aider as its runtime launches it: one order, its end told with what it said, and nothing of the user's changed."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.runtimes.aider import HISTORY, Aider
from tests.clis.answers import Answer, Fault, Hang, Trouble, say
from tests.clis.answers import Reply as ModelReply
from tests.clis.bench import Bench, at_home
from tests.clis.house import a_house
from tests.clis.model_request import ModelRequest
from tests.clis.model_server import Script
from tests.clis.pinned import why_missing
from tests.clis.playing import always, in_turn
from tests.clis.running import ORDER, Running, a_running, lets_go
from tests.clis.spawned import spawned
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(bool(why_missing("aider")), reason=why_missing("aider"))

AGENT = Agent("dev", runtime="aider", model="openai/bench")
REPORT = "# Handoff: dev\n**Status:** COMPLETE\n\n## Completed Work\n> quoted\nIt is made."
MADE = f"made.txt\n```\nhi\n```\n\n{REPORT}"


def users_own(bench: Bench) -> dict[str, str]:
    """Lay down what a user has, and what a project must not bring about."""
    place = bench.place
    place.write(
        place.work / ".aider.conf.yml",
        f"auto-lint: true\nlint-cmd: touch {place.root}/linted\nload: {place.root}/load\nauto-commits: true\n",
    )
    place.write(place.root / "load", f"/run touch {place.root}/loaded\n")
    return {
        "OPENAI_API_BASE": f"{place.url}/v1",
        "OPENAI_API_KEY": "dummy",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def running(script: Script) -> AbstractContextManager[Running]:
    return a_running("aider", Aider(), script, users_own)


def counted(history: Path) -> tuple[int, int]:
    """Return the tokens in and out that aider says there; it counts them itself, whatever its service told."""
    said = re.findall(
        r"^> Tokens: ([0-9.]+)(k?) sent, ([0-9]+) received\.", history.read_text(), re.MULTILINE
    )
    assert said
    return (
        sum(round(float(given) * (1000 if size else 1)) for given, size, _ in said),
        sum(int(made) for *_, made in said),
    )


def test_an_order_arrives_whole_its_last_message_is_reported() -> None:
    """It goes on when told so, and a later run with the same conversation."""
    reported: list[str] = []

    def once(event: Event) -> Reply:
        if event.kind is EventKind.ENDED:
            reported.append(event.text)
            if len(reported) == 1:
                return Reply(Say.GO_ON, "Hand it\nin;")
        return lets_go(event)

    with running(in_turn(say(MADE), then=always(say(REPORT)))) as here:
        bench, place = here.bench, here.bench.place
        here.answering = once
        first, folder = here.start(ORDER, agent=AGENT), here.folder
        ended = here.until(EventKind.ENDED, 2)
        wait_until(first.is_dead)
        assert reported == [MADE, REPORT]
        # aider puts a reminder of its own after it.
        assert bench.server.turns[0].prompt.startswith(f"{ORDER}\n\n")
        assert bench.server.turns[-1].prompt.startswith("Hand it\nin;\n\n")
        assert (place.work / "made.txt").read_text() == "hi\n"
        assert ended.session == str(folder / HISTORY)
        assert ended.usage
        assert (ended.usage.input, ended.usage.output) == counted(folder / HISTORY)

        for name in ("linted", "loaded"):
            assert not (place.root / name).exists()
        git = ["git", "-C", str(place.work)]
        assert subprocess.run([*git, "log"], capture_output=True, check=False).returncode
        assert "[user]" not in (place.work / ".git" / "config").read_text()
        assert {path.name for path in place.work.iterdir()} == {".git", ".aider.conf.yml", "made.txt"}

        asked = len(bench.server.turns)
        second = here.start("And `now`;", resumes=ended.session, agent=AGENT)
        again = here.until(EventKind.ENDED, 3)
        assert again.usage
        # Of the run alone, though its history begins with the other's.
        given, made = counted(here.folder / HISTORY)
        assert (again.usage.input, again.usage.output) == (
            given - ended.usage.input,
            made - ended.usage.output,
        )
        wait_until(second.is_dead)
        # What is long of an earlier conversation is summed up first, by another request.
        assert any(ORDER.splitlines()[-1] in turn.prompt for turn in bench.server.turns[asked:])
        assert bench.server.turns[-1].prompt.startswith("And `now`;\n\n")
        assert bench.left() == []


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Fault(Trouble.UNAUTHORIZED), Failure.LOGIN),
        (Fault(Trouble.TOO_LONG), Failure.CONTEXT),
    ],
)
@pytest.mark.thorough(reason="it waits out tries of its own: unit/runtimes/test_aider.py has their end")
def test_a_failure_is_reported_by_its_kind(answer: Answer, failure: Failure) -> None:
    """The others take it over a minute of its own tries: `tests/unit/runtimes/test_aider.py` has their end."""
    with running(always(answer)) as here:
        here.start("# Agent: dev", agent=AGENT)
        failed = here.until(EventKind.FAILED)
        assert failed.failure is failure
        assert failed.text


@pytest.mark.thorough(reason="a start of it takes ten seconds: CI has one order, and its end by TERM")
def test_without_a_repository_it_makes_none() -> None:
    with running(always(say(MADE))) as here:
        shutil.rmtree(here.bench.place.work / ".git")
        here.start("# Agent: dev", agent=AGENT)
        here.until(EventKind.ENDED)
        left = {path.name for path in here.bench.place.work.iterdir()}
        assert left == {".aider.conf.yml", "made.txt"}


def developing(request: ModelRequest) -> ModelReply:
    me = spawned(request.prompt)
    report = me.report("## Completed Work\nGreeted.", "## Artifacts Generated\nNone")
    return say(f"pkg/greet.py\n```\ndef greet():\n    return 'hi'\n```\n\n{report}")


@pytest.mark.thorough(reason="a whole task: CI has one order, and its end by TERM")
def test_a_task_whose_developer_it_is_comes_to_its_end() -> None:
    """The daemon is killed while it works; the others are programs, since it makes no artifacts."""
    hold = threading.Event()

    def script(request: ModelRequest) -> ModelReply:
        hold.wait(60)
        return developing(request)

    with a_house("aider", script) as house:
        world = house.world
        house.daemon()
        folder = world.begin(config=["dev.runtime: aider", "dev.model: openai/bench"])
        world.until(lambda: house.server.turns, within=60)
        world.kill_daemon()
        house.daemon()
        hold.set()
        world.until(lambda: world.stands("t1") in {"complete", "failed", "waiting"}, within=90)
        assert world.stands("t1") == "complete", house.screens()
        assert world.git("show", "task/t1:pkg/greet.py") == "def greet():\n    return 'hi'"
        assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"
        # It has what was said summed up, ahead of need.
        asked = [turn.prompt for turn in house.server.turns if not turn.prompt.startswith("# USER")]
        assert len(asked) == 1, asked
        assert any(path.name.startswith("dev-") for path in (folder / "handoffs").iterdir())
        world.check_nobody_is_left()


def test_term_leaves_nothing() -> None:
    with running(always(Hang())) as here:
        here.start("# Agent: dev", agent=AGENT)
        wait_until(lambda: here.bench.server.turns, within=60)
        here.end()
        wait_until(lambda: not here.left())
    wait_until(lambda: not at_home(here.bench.place.root))
