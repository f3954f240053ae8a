"""The real Codex as its runtime launches it, at home with a user who never ran it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from orchestrator.model import event as reported
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Say
from orchestrator.model.permission import Act
from orchestrator.runtimes.codex import Codex
from orchestrator.runtimes.screens import shown_on
from tests.clis.answers import Answer, Fault, Hang, Reply, ToolCall, Trouble, say
from tests.clis.bench import Bench
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.model_server import Script
from tests.clis.pinned import why_missing
from tests.clis.place import KEY
from tests.clis.playing import always, played
from tests.clis.running import ORDER, Running, a_running, allows, goes_on_once
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(bool(why_missing("codex")), reason=why_missing("codex"))

DEV = Agent("dev", model="gpt-5.1-codex")
Steps = Generator[Reply, tuple[ToolResult, ...], None]


def running(script: Script) -> AbstractContextManager[Running]:
    return a_running("codex", Codex(), script, by_key)


def by_key(bench: Bench) -> dict[str, str]:
    """The variables of a user who has a key, and no more."""
    return {"CODEX_API_KEY": KEY, "OPENAI_BASE_URL": f"{bench.server.url}/v1"}


def shell(command: str, **more: object) -> Reply:
    """What the model says to have a command run."""
    return Reply((ToolCall("exec_command", {"cmd": command, **more}),))


def escalated(command: str) -> Reply:
    """What the model says to have a command run outside of the sandbox."""
    return shell(command, sandbox_permissions="require_escalated", justification="May I?")


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is nobody's; not in /tmp, where the sandbox lets everybody write."""
    made = Path(tempfile.mkdtemp(prefix="outside-", dir="/var/tmp"))
    yield made
    shutil.rmtree(made)


def test_order_is_received_sandboxed_and_end_reported(outside: Path) -> None:
    """An order is taken whole worked on in the sandbox and its end is told."""

    def working(request: ModelRequest) -> Steps:
        commands = [f"echo hi > {here.granted[0]}/made.md", "echo hi > made.md", 'echo "key=$CODEX_API_KEY."']
        commands += [f"echo no > {path}" for path in (outside / "made", ".codex/hooks.json", ".git/config")]
        (result,) = yield shell("; ".join([*commands, f"tmux -S {here.bench.socket.path} kill-server"]))
        yield say(f"# Handoff: dev\n{result.text}")

    with running(played(working)) as here:
        pane = here.start(ORDER, agent=DEV)
        ended = here.until(EventKind.ENDED)
        assert here.kinds() == [EventKind.STARTED, EventKind.TAKEN, EventKind.ENDED]
        assert here.events[1].text == ORDER == here.bench.server.turns[0].prompt
        assert ended.text.startswith("# Handoff: dev\n")
        assert "key=." in ended.text
        assert (here.granted[0] / "made.md").read_text() == "hi\n"
        assert (here.bench.place.work / "made.md").exists()
        assert not list(outside.iterdir())
        assert not (here.bench.place.work / ".codex").exists()
        assert Path(ended.transcript).is_relative_to(Codex().transcripts(here.bench.place.environ())[0])
        assert not pane.is_dead()
        # All that it wrote into a configuration that is its user's.
        assert (here.bench.place.home / ".codex" / "config.toml").read_text().split() == [
            "[tui]", "screen_reader_detection_done", "=", "true"
        ]  # fmt: skip
        here.end()
        wait_until(lambda: not here.left())


def test_leave_is_given_or_denied_by_the_answer_of_the_hook(outside: Path) -> None:
    def working(request: ModelRequest) -> Steps:
        (result,) = yield escalated(f"echo hi > {outside}/{len(request.prompts)}")
        yield say(result.text)

    with running(played(working)) as here:
        here.start("# Agent: dev", agent=DEV)
        refused = here.until(EventKind.ENDED)
        asked = here.until(EventKind.ASKED)
        assert asked.tool_request is not None
        assert (asked.tool_request.act, asked.tool_request.command) == (Act.RUN, f"echo hi > {outside}/1")
        assert "Not here." in refused.text
        here.end()
        here.answering = allows
        here.start("# Agent: dev\nAgain.", resumes=refused.session, agent=DEV)
        here.until(EventKind.ENDED, 2)
        assert [path.name for path in outside.iterdir()] == ["2"]


def test_what_is_denied_does_not_run_inside_the_sandbox() -> None:
    """Its sandbox would let both commands write into the workspace; one of them is denied."""

    def working(request: ModelRequest) -> Steps:
        (made,) = yield shell("echo hi > allowed.md")
        (refused,) = yield shell("echo hi > denied.md")
        yield say(made.text + refused.text)

    def holding(event: Event) -> reported.Reply:
        denied = event.tool_request is not None and "denied" in event.tool_request.command
        return reported.Reply(Say.DENY, "Not that.") if denied else reported.Reply(Say.ALLOW)

    with running(played(working)) as here:
        here.holding = holding
        here.start("# Agent: dev", agent=DEV)
        assert "Not that." in here.until(EventKind.ENDED).text
        assert (here.bench.place.work / "allowed.md").exists()
        assert not (here.bench.place.work / "denied.md").exists()
        assert [event.tool_request and event.tool_request.act for event in here.ahead] == [Act.RUN, Act.RUN]


def test_leave_that_nobody_can_be_asked_for_is_denied(outside: Path) -> None:
    def working(request: ModelRequest) -> Steps:
        shutil.rmtree(here.home / "requests", ignore_errors=True)
        (result,) = yield escalated(f"echo hi > {outside}/made")
        (here.home / "requests" / "events").mkdir(parents=True, exist_ok=True)
        yield say(result.text)

    with running(played(working)) as here:
        here.start("# Agent: dev", agent=DEV)
        assert "cannot be asked" in here.until(EventKind.ENDED).text
        assert not list(outside.iterdir())


def test_session_goes_on_in_the_same_rollout() -> None:
    """A session goes on in the same rollout and an ended turn is made to go on."""
    with running(always(say("Done."))) as here:
        here.start(ORDER, agent=DEV)
        first = here.until(EventKind.ENDED)
        here.end()
        here.answering = goes_on_once("Write it.")
        here.start("# Agent: dev\nAnd `now`;", resumes=first.session, agent=DEV)
        last = here.until(EventKind.ENDED, 3)
        assert (last.session, last.transcript) == (first.session, first.transcript)
        prompts = here.bench.server.turns[-1].prompts
        assert prompts[:2] == (ORDER, "# Agent: dev\nAnd `now`;")
        assert "Write it." in prompts[2]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Fault(Trouble.RATE_LIMITED, retry_after=0), Failure.LIMIT),
        (Fault(Trouble.OVERLOADED), Failure.OVERLOAD),
        (Fault(Trouble.UNAUTHORIZED), Failure.LOGIN),
        (Fault(Trouble.CREDIT_GONE), Failure.CREDIT),
        (Fault(Trouble.TOO_LONG), Failure.CONTEXT),
    ],
)
def test_a_turn_that_failed_is_reported_with_its_reason(answer: Answer, failure: Failure) -> None:
    with running(always(answer)) as here:
        here.start("# Agent: dev", agent=DEV)
        assert here.until(EventKind.FAILED).failure is failure
        assert EventKind.ENDED not in here.kinds()


@pytest.mark.thorough(reason="it waits out tries of its own")
def test_an_unreachable_service_is_given_up_and_reported() -> None:
    with running(always(say("Done."))) as here:
        here.user = by_key(here.bench) | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
        here.start("# Agent: dev", agent=DEV)
        assert here.until(EventKind.FAILED).failure is Failure.OVERLOAD


def test_a_limit_of_an_hour_is_seen_on_the_screen_alone() -> None:
    with running(always(Fault(Trouble.RATE_LIMITED, retry_after=3600))) as here:
        pane = here.start("# Agent: dev", agent=DEV)
        pane.until("reconnecting")
        found = shown_on(pane.screen(), Codex().screens)
        assert found is not None
        assert found[0].failure is Failure.LIMIT
        assert here.kinds() == [EventKind.STARTED, EventKind.TAKEN]


def test_an_interruption_is_reported_a_hung_one_ends_by_term() -> None:
    with running(always(Hang())) as here:
        pane = here.start("# Agent: dev", agent=DEV)
        here.until(EventKind.TAKEN)
        pane.until("esc to interrupt")
        pane.keys("Escape")
        here.until(EventKind.ABORTED)
        here.end()
        here.start("# Agent: dev\nAgain.", agent=DEV)
        here.until(EventKind.TAKEN, 2)
        here.end()
        wait_until(lambda: not here.left())


def test_what_the_user_configured_does_not_let_an_agent_do_more(outside: Path) -> None:
    def working(request: ModelRequest) -> Steps:
        (result,) = yield shell(f"echo hi > {outside}/made")
        (again,) = yield escalated(f"echo hi > {outside}/made")
        yield say(f"{result.text}\n{again.text}")

    with running(played(working)) as here:
        config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n'
        here.bench.place.write(here.bench.place.home / ".codex" / "config.toml", config)
        here.start("# Agent: dev", agent=DEV)
        ended = here.until(EventKind.ENDED)
        assert "Read-only file system" in ended.text
        assert "Not here." in ended.text
        assert not list(outside.iterdir())
