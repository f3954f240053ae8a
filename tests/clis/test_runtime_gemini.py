"""The real Gemini CLI as its runtime launches it, at home with a user who never ran it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.event import EventKind, Failure
from orchestrator.model.permission import Act
from orchestrator.runtimes.gemini import Gemini
from orchestrator.runtimes.screens import Shows, shown_on
from tests.clis.answers import Answer, Fault, Hang, Reply, Text, Then, Trouble, call, say
from tests.clis.bench import Bench
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.model_server import Script
from tests.clis.pinned import why_missing
from tests.clis.playing import always, played
from tests.clis.running import ORDER, Running, a_running, allows, goes_on_once
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(bool(why_missing("gemini")), reason=why_missing("gemini"))

DEV = Agent("dev", model="gemini-2.5-pro")
KEY = "dummy-key-of-the-bench"
REPORT = "# Handoff: dev\n**Status:** COMPLETE\n\n## Completed Work\nAll that there was to do, `so` to say.\n"
NAMES = """See @README.md, @READ, @/etc/hosts, a@made.txt, @codebase_investigator and "@made.txt"; {{args}} {{{args}}}
!{touch ran} @{README.md} !{} @{} !!{ @@{ }} !{ never closed, $& $1 \\@ \x7f\r\x1b[2J"""
"""All that is something else than text to Gemini CLI, at its prompt or in the definition of a command."""
BEGUN = (
    json.dumps({"sessionId": "abcdef01-0000-4000-8000-000000000000", "projectHash": "0", "kind": "main"})
    + "\n"
)
Steps = Generator[Reply, tuple[ToolResult, ...], None]


def running(script: Script) -> AbstractContextManager[Running]:
    return a_running("gemini", Gemini(), script, by_key)


def by_key(bench: Bench) -> dict[str, str]:
    """The variables of a user who has a key, and no more."""
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": bench.server.url}


def shell(command: str) -> Reply:
    """What the model says to have a command run."""
    return call("run_shell_command", command=command)


def test_order_is_received_permissions_asked_and_end_reported() -> None:
    """An order is taken whole worked on with leave and its end is told."""

    def working(request: ModelRequest) -> Steps:
        yield call("write_file", file_path=f"{here.granted[0]}/made.md", content="hi\n")
        yield shell('echo "key=$GEMINI_API_KEY." > made.md && echo "lang=$LANG." | cat >> made.md')
        yield say(REPORT)

    with running(played(working)) as here:
        here.answering = allows
        pane = here.start(ORDER, agent=DEV)
        ended = here.until(EventKind.ENDED)
        asked = [event.tool_request for event in here.events if event.tool_request is not None]
        assert here.kinds() == [EventKind.STARTED, EventKind.TAKEN, *[EventKind.ASKED] * 2, EventKind.ENDED]
        assert [wish.act for wish in asked] == [Act.WRITE, Act.RUN]
        assert here.events[1].text == ORDER == here.bench.server.turns[0].prompt
        assert ended.text == REPORT.strip()
        assert (here.granted[0] / "made.md").read_text() == "hi\n"
        assert (here.bench.place.work / "made.md").read_text() == "key=.\nlang=C.UTF-8.\n"
        chats = Gemini().transcripts(here.bench.place.environ())[0]
        assert Path(ended.transcript).resolve().is_relative_to(chats.resolve())
        # Of what is its user's it made what it keeps its conversations in, and no more.
        assert {path.name for path in (here.bench.place.home / ".gemini").iterdir()} == {"history", "tmp"}
        assert not pane.is_dead()
        here.end()
        wait_until(lambda: not here.left())


def test_what_an_order_names_is_not_brought_in_behind_it() -> None:
    order = f"# Agent: dev\n{NAMES}\n{ORDER}\n  "
    with running(always(say("Done."))) as here:
        place = here.bench.place
        for name in ("README.md", "made.txt"):
            place.write(place.work / name, "not asked for")
        theirs = place.write(place.home / ".gemini" / "commands" / "mine.toml", 'prompt = "Mine."')
        here.start(order, agent=DEV)
        session = here.until(EventKind.ENDED).session
        commands = here.folder / "home" / ".gemini" / "commands"
        assert {path.name for path in commands.iterdir()} == {theirs.name, "order-r-1.toml"}
        here.end()
        here.start(f"{order}@README.md", resumes=session, agent=DEV)
        here.until(EventKind.ENDED, 2)
        assert [event.text for event in here.events if event.kind is EventKind.TAKEN] == [
            order,
            f"{order}@README.md",
        ]
        assert [turn.prompt for turn in here.bench.server.turns] == [order, f"{order}@README.md"]
        assert here.bench.server.turns[1].prompts[0] == order
        assert not (place.work / "ran").exists()
        assert [path.name for path in theirs.parent.iterdir()] == [theirs.name]


@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_session_without_messages_is_left_to_its_owner() -> None:
    """A session in which nothing was said yet is left to its owner."""
    with running(always(say("Done."))) as here:
        here.start("# Agent: dev", agent=DEV)
        chats = Path(here.until(EventKind.ENDED).transcript).parent
        here.end()
        begun = here.bench.place.write(chats / "session-2026-11-20T09-00-abcdef01.jsonl", BEGUN)
        here.start("# Agent: dev", agent=DEV)
        here.until(EventKind.ENDED, 2)
        here.end()
        assert begun.read_text() == BEGUN


@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_session_without_its_beginning_is_known_as_lost() -> None:
    """A session whose beginning was deleted is known to be lost."""
    with running(always(say("Done."))) as here:
        here.start("# Agent: dev", agent=DEV)
        ended = here.until(EventKind.ENDED)
        here.end()
        kept = Path(ended.transcript)
        assert Gemini().remembers(kept.read_bytes())
        kept.write_bytes(kept.read_bytes().partition(b"\n")[2])
        assert not Gemini().remembers(kept.read_bytes())
        pane = here.start("# Agent: dev\nGo on.", resumes=ended.session, agent=DEV)
        pane.until("No previous sessions found")


@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_what_is_denied_is_not_done_and_the_agent_reads_why() -> None:
    def working(request: ModelRequest) -> Steps:
        (result,) = yield shell("touch made.md")
        yield say(result.text)

    with running(played(working)) as here:
        here.start("# Agent: dev", agent=DEV)
        assert "Not here." in here.until(EventKind.ENDED).text
        assert not (here.bench.place.work / "made.md").exists()


def test_leave_that_nobody_can_be_asked_for_is_denied() -> None:
    def working(request: ModelRequest) -> Steps:
        shutil.rmtree(here.home / "requests", ignore_errors=True)
        (result,) = yield shell("touch made.md")
        (here.home / "requests" / "events").mkdir(parents=True, exist_ok=True)
        yield say(result.text)

    with running(played(working)) as here:
        here.start("# Agent: dev", agent=DEV)
        assert "cannot be asked" in here.until(EventKind.ENDED).text
        assert not (here.bench.place.work / "made.md").exists()


@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_run_ended_at_a_permission_request_does_nothing_more() -> None:
    """A run that is ended while leave is asked for does nothing more."""

    def working(request: ModelRequest) -> Steps:
        yield shell("touch made.md")
        yield say("Done.")

    with running(played(working)) as here:
        here.start("# Agent: dev", agent=DEV)
        events = here.home / "requests" / "events"
        wait_until(lambda: list(events.glob("*.waits.json")), within=60)
        here.end()
        wait_until(lambda: not here.left())
        assert not (here.bench.place.work / "made.md").exists()


def test_a_session_goes_on_and_an_ended_turn_is_made_to_go_on() -> None:
    with running(always(say("Done."))) as here:
        here.start(ORDER, agent=DEV)
        first = here.until(EventKind.ENDED)
        here.end()
        here.answering = goes_on_once("Write it.")
        here.start("# Agent: dev\nAnd `now`;", resumes=first.session, agent=DEV)
        last = here.until(EventKind.ENDED, 3)
        assert last.session == first.session
        assert Path(last.transcript).resolve() == Path(first.transcript).resolve()
        prompts = here.bench.server.turns[-1].prompts
        assert prompts[:2] == (ORDER, "# Agent: dev\nAnd `now`;")
        assert "Write it." in prompts[2]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Fault(Trouble.UNAUTHORIZED), Failure.LOGIN),
        (Fault(Trouble.CREDIT_GONE), Failure.CREDIT),
        (Fault(Trouble.TOO_LONG), Failure.CONTEXT),
    ],
)
@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_a_turn_that_failed_is_reported_with_its_reason(answer: Answer, failure: Failure) -> None:
    with running(always(answer)) as here:
        here.start("# Agent: dev", agent=DEV)
        assert here.until(EventKind.FAILED).failure is failure
        assert EventKind.ENDED not in here.kinds()


@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_a_stream_that_is_cut_is_reported() -> None:
    with running(always(Reply((Text("One, two, three, four."),), then=Then.DROP))) as here:
        here.start("# Agent: dev", agent=DEV)
        assert here.until(EventKind.FAILED).failure is Failure.OVERLOAD


def test_a_limit_of_an_hour_is_a_dialog() -> None:
    with running(always(Fault(Trouble.RATE_LIMITED, retry_after=3600))) as here:
        pane = here.start("# Agent: dev", agent=DEV)
        pane.until("Access resets")
        found = shown_on(pane.screen(), Gemini().screens)
        assert found is not None
        rule, line = found
        assert (rule.shows, rule.failure) == (Shows.DIALOG, Failure.LIMIT)
        assert "Access resets at" in line
        here.end()


@pytest.mark.thorough(reason="of the tests of this CLI, CI has orders, leave, limits and sessions")
def test_an_interruption_is_reported_a_hung_one_ends_by_term() -> None:
    with running(always(Hang())) as here:
        pane = here.start("# Agent: dev", agent=DEV)
        here.until(EventKind.TAKEN)
        wait_until(lambda: here.bench.server.turns, within=30)
        pane.until("esc to cancel")
        pane.keys("Escape")
        here.until(EventKind.ABORTED)
        assert EventKind.ENDED not in here.kinds()
        here.end()
        here.start("# Agent: dev\nAgain.", agent=DEV)
        here.until(EventKind.TAKEN, 2)
        here.end()
        wait_until(lambda: not here.left())


def test_users_settings_and_hooks_hold_unchanged() -> None:
    """The users settings and hooks hold and are left as they are."""

    def working(request: ModelRequest) -> Steps:
        (result,) = yield shell("touch made.md")
        yield say(result.text)

    with running(played(working)) as here:
        place = here.bench.place
        theirs = {"hooks": [{"type": "command", "command": f"cat > {place.root}/theirs; echo '{{}}'"}]}
        settings = {
            "hooks": {"BeforeTool": [theirs]},
            "hooksConfig": {"enabled": False, "disabled": ["pm"]},
            "model": {"name": "gemini-3-pro"},
        }
        text = f"// Mine. \n{json.dumps(settings)} /* all of it */"
        path = place.write(place.home / ".gemini" / "settings.json", text)
        place.write(place.home / ".gemini" / "GEMINI.md", "ALWAYS WHISPER")
        here.start("# Agent: dev", agent=Agent("dev"))
        assert "Not here." in here.until(EventKind.ENDED).text
        assert not (place.work / "made.md").exists()
        assert json.loads((place.root / "theirs").read_text())["tool_name"] == "run_shell_command"
        assert here.bench.server.turns[0].conversation.model == "gemini-3-pro"
        assert b"ALWAYS WHISPER" in here.bench.server.turns[0].raw
        assert path.read_text() == text
