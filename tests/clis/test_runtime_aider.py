"""aider as its runtime launches it: one order, its end told with what it said, and nothing of the user's changed."""

from __future__ import annotations

import shutil
import subprocess
import threading
from dataclasses import replace

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.runtimes.aider import HISTORY, Aider
from tests.clis.answers import Answer, Fault, Hang, Trouble, say
from tests.clis.answers import Reply as ModelReply
from tests.clis.bench import Bench, at_home
from tests.clis.house import a_house
from tests.clis.launched import a_launcher
from tests.clis.model_request import ModelRequest
from tests.clis.pinned import why_missing
from tests.clis.playing import always, in_turn
from tests.clis.spawned import spawned
from tests.clis.test_smoke import ORDER
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


def test_an_order_arrives_whole_and_its_last_message_is_told() -> None:
    """It goes on when told so, and a later run with the same conversation."""
    told: list[str] = []

    def once(event: Event) -> Reply | None:
        if event.kind is EventKind.ENDED:
            told.append(event.text)
        return Reply(Say.GO_ON, "Hand it\nin;") if len(told) == 1 and event.kind is EventKind.ENDED else None

    used = (1000, 10)
    made, reported = replace(say(MADE), tokens=used), replace(say(REPORT), tokens=used)
    with a_launcher(Aider(), in_turn(made, then=always(reported)), users_own, AGENT) as launching:
        bench, place = launching.bench, launching.bench.place
        first = launching.launch(ORDER, answering=once)
        ended = first.wait_for(EventKind.ENDED, 2)
        wait_until(first.pane.is_dead)
        assert told == [MADE, REPORT]
        # aider puts a reminder of its own after it.
        assert bench.server.turns[0].prompt.startswith(f"{ORDER}\n\n")
        assert bench.server.turns[-1].prompt.startswith("Hand it\nin;\n\n")
        assert (place.work / "made.txt").read_text() == "hi\n"
        assert ended.session == str(first.spawn.folder / HISTORY)
        assert ended.usage
        assert (ended.usage.input, ended.usage.output) == (2000, 20)

        for name in ("linted", "loaded"):
            assert not (place.root / name).exists()
        git = ["git", "-C", str(place.work)]
        assert subprocess.run([*git, "log"], capture_output=True, check=False).returncode
        assert "[user]" not in (place.work / ".git" / "config").read_text()
        assert {path.name for path in place.work.iterdir()} == {".git", ".aider.conf.yml", "made.txt"}

        asked = len(bench.server.turns)
        second = launching.launch("And `now`;", resumes=ended.session)
        again = second.wait_for(EventKind.ENDED)
        assert again.usage
        # Of the run alone, though its history begins with the other's.
        assert again.usage.output == 10
        wait_until(second.pane.is_dead)
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
def test_a_failure_is_told_by_its_kind(answer: Answer, failure: Failure) -> None:
    """The others take it over a minute of its own tries: `tests/unit/runtimes/test_aider.py` has their end."""
    with a_launcher(Aider(), always(answer), users_own, AGENT) as launching:
        failed = launching.launch("# Agent: dev").wait_for(EventKind.FAILED)
        assert failed.failure is failure
        assert failed.text


def test_without_a_repository_it_makes_none() -> None:
    with a_launcher(Aider(), always(say(MADE)), users_own, AGENT) as launching:
        shutil.rmtree(launching.bench.place.work / ".git")
        launching.launch("# Agent: dev").wait_for(EventKind.ENDED)
        left = {path.name for path in launching.bench.place.work.iterdir()}
        assert left == {".aider.conf.yml", "made.txt"}


def developing(request: ModelRequest) -> ModelReply:
    me = spawned(request.prompt)
    report = me.report("## Completed Work\nGreeted.", "## Artifacts Generated\nNone")
    return say(f"pkg/greet.py\n```\ndef greet():\n    return 'hi'\n```\n\n{report}")


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
    with a_launcher(Aider(), always(Hang()), users_own, AGENT) as launching:
        launched = launching.launch("# Agent: dev")
        wait_until(lambda: launching.bench.server.turns, within=60)
        launching.bench.end(launched.pane)
        assert launching.bench.left() == []
    wait_until(lambda: not at_home(launching.bench.place.root))
