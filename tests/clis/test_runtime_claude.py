"""The real Claude Code, both versions, as its runtime launches it, at home with a user who never ran it."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from orchestrator.formats.repetition import says_anything_new
from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.model.event import EventKind, Failure
from orchestrator.model.permission import Act
from orchestrator.runtimes.claude import Claude
from orchestrator.runtimes.screens import Shows, dialog_on, shown_on
from tests.clis.answers import Answer, Fault, Hang, Reply, Text, Then, Trouble, call, say
from tests.clis.bench import Bench, Pane
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.model_server import Script
from tests.clis.pinned import pins
from tests.clis.playing import always, in_turn, played
from tests.clis.running import ORDER, Running, a_running, allows, goes_on_once
from tests.clis.selection import in_ci
from tests.clis.users import variables
from tests.polling import wait_until

VERSIONS = [name for name in pins() if name.startswith("claude")]
REPORT = "# Handoff: dev\n**Status:** COMPLETE\n\n## Completed Work\nAll that there was to do."
Steps = Generator[Reply, tuple[ToolResult, ...], None]

# Each landing drives the newest version; whole tasks of the others are driven each night.
pytestmark = pytest.mark.parametrize("installed", in_ci(VERSIONS, "claude"), indirect=True)


def running(pin: str, script: Script) -> AbstractContextManager[Running]:
    return a_running(pin, Claude(), script, by_key)


def by_key(bench: Bench) -> dict[str, str]:
    """The variables of a user who has a key, and no more."""
    return variables("claude", bench.server.url)


def shows(pane: Pane) -> Shows | None:
    found = shown_on(pane.screen(), Claude.screens)
    return None if found is None else found[0].shows


def test_order_is_received_permissions_asked_and_end_reported(installed: str) -> None:
    """An order is taken whole worked on with leave and its end is told."""

    def working(request: ModelRequest) -> Steps:
        yield write(request, f"{here.granted[0]}/made.md", "hi\n")
        yield run(request, 'echo "key=$ANTHROPIC_API_KEY." > made.md')
        yield say(REPORT)

    with running(installed, played(working)) as here:
        here.answering = allows
        pane = here.start(ORDER)
        ended = here.until(EventKind.ENDED)
        assert here.kinds() == [EventKind.STARTED, EventKind.TAKEN, *[EventKind.ASKED] * 2, EventKind.ENDED]
        assert here.events[1].text == ORDER == here.bench.server.turns[0].prompt
        asked = [event.tool_request for event in here.events if event.tool_request is not None]
        assert [wish.act for wish in asked] == [Act.WRITE, Act.RUN]
        assert asked[0].paths == (f"{here.granted[0]}/made.md",)
        assert (ended.text, ended.background) == (REPORT, 0)
        assert (here.granted[0] / "made.md").read_text() == "hi\n"
        assert (here.bench.place.work / "made.md").read_text() == "key=.\n"
        assert Path(ended.transcript).is_relative_to(Claude().transcripts(here.bench.place.environ())[0])
        wait_until(lambda: shows(pane) is Shows.RESTING)
        # Nothing is its user's that says more than that it ran.
        assert not (here.bench.place.home / ".claude" / "settings.json").exists()
        here.end()
        wait_until(lambda: not here.left())


def test_what_is_denied_is_not_done_and_the_agent_reads_why(installed: str) -> None:
    def working(request: ModelRequest) -> Steps:
        (result,) = yield run(request, "touch made.md")
        yield say(result.text)

    with running(installed, played(working)) as here:
        pane = here.start("# Agent: dev")
        assert "Not here." in here.until(EventKind.ENDED).text
        assert not (here.bench.place.work / "made.md").exists()
        # It is drawn when it has time for that: the end of the turn may be told first.
        wait_until(lambda: not dialog_on(pane.screen(), Claude.screens), within=20)


def test_a_dialog_that_waits_for_its_answer_is_known_as_one(installed: str) -> None:
    """While the PM asks a person the screen shows it: no line may be typed there."""
    shown: list[str] = []

    def looking(event):
        if event.kind is EventKind.ASKED:
            wait_until(lambda: dialog_on(pane.screen(), Claude.screens), within=20)
            shown.append(dialog_on(pane.screen(), Claude.screens))
        return allows(event)

    with running(
        installed, in_turn(call("Bash", command="touch made.md"), then=always(say("Done.")))
    ) as here:
        here.answering = looking
        pane = here.start("# Agent: dev")
        here.until(EventKind.ENDED)
        assert shown == ["permission for a tool"]
        assert (here.bench.place.work / "made.md").exists()


def test_ended_turn_goes_on_and_so_does_its_session(installed: str) -> None:
    """A turn that ends is made to go on and the session goes on in another run."""
    with running(installed, always(say("Done."))) as here:
        here.answering = goes_on_once("Write it.")
        pane = here.start(ORDER)
        first = here.until(EventKind.ENDED, 2)
        request = here.bench.server.turns[-1]
        assert "Write it." in request.raw.decode()
        wait_until(lambda: shows(pane) is Shows.RESTING, within=30)
        here.end()
        here.start("# Agent: dev\nAnd `now`;", resumes=first.session)
        assert here.until(EventKind.ENDED, 3).session == first.session
        prompts = here.bench.server.turns[-1].prompts
        assert (prompts[0], prompts[-1]) == (ORDER, "# Agent: dev\nAnd `now`;")


@pytest.mark.thorough(reason="another start of it for a transcript that somebody altered")
def test_session_without_saved_messages_is_known_as_lost(installed: str) -> None:
    """A session of which nothing said was kept is known to be lost."""
    with running(installed, always(say("Done."))) as here:
        pane = here.start("# Agent: dev")
        ended = here.until(EventKind.ENDED)
        wait_until(lambda: shows(pane) is Shows.RESTING, within=30)
        here.end()
        kept = Path(ended.transcript)
        lines = kept.read_bytes().splitlines(keepends=True)
        assert Claude().remembers(b"".join(lines))
        kept.write_bytes(b"".join(line for line in lines if b'"uuid"' not in line))
        assert kept.read_bytes()
        assert not Claude().remembers(kept.read_bytes())
        here.start("# Agent: dev\nGo on.", resumes=ended.session).until("No conversation found")


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Fault(Trouble.RATE_LIMITED, retry_after=3600), Failure.LIMIT),
        (Fault(Trouble.OVERLOADED), Failure.OVERLOAD),
        (Fault(Trouble.CREDIT_GONE), Failure.CREDIT),
        (Fault(Trouble.TOO_LONG), Failure.CONTEXT),
    ],
    ids=lambda each: each.value if isinstance(each, Failure) else "",
)
def test_a_turn_that_failed_is_reported_with_its_reason(
    installed: str, answer: Answer, failure: Failure
) -> None:
    """401, 500 and a short 429 take three minutes of its own tries: README.md has what was measured of them."""
    with running(installed, always(answer)) as here:
        pane = here.start("# Agent: dev")
        failed = here.until(EventKind.FAILED)
        assert (failed.failure, bool(failed.text)) == (failure, True)
        assert EventKind.ENDED not in here.kinds()
        wait_until(lambda: shows(pane) is Shows.FAILED, within=30)
        found = shown_on(pane.screen(), Claude.screens)
        assert found is not None
        assert found[0].failure is failure


def test_hanging_service_shows_as_work_without_news(installed: str) -> None:
    """No event tells of it: a look finds out, by a screen that only repeats itself."""
    with running(installed, always(Hang())) as here:
        pane = here.start("# Agent: dev")
        here.until(EventKind.TAKEN)
        wait_until(lambda: here.bench.server.turns, within=60)
        wait_until(lambda: shows(pane) is Shows.BUSY, within=30)
        log = here.folder / PANE_LOG

        def only_spins() -> bool:
            seen = len(log.read_bytes())
            wait_until(lambda: len(log.read_bytes()) > seen + 500, within=30)
            return not says_anything_new(log.read_bytes(), seen)

        # Tips come after a while, once each.
        wait_until(only_spins, within=90)
        assert here.kinds() == [EventKind.STARTED, EventKind.TAKEN]
        here.end()
        wait_until(lambda: not here.left())


def test_an_interruption_shows_on_the_screen_alone(installed: str) -> None:
    streaming = Reply((Text("One, two, three, four. " * 40),), pace=0.2, then=Then.HANG)
    with running(installed, in_turn(streaming, then=always(say("Done.")))) as here:
        pane = here.start("# Agent: dev")
        pane.until("One, two")
        assert shows(pane) is Shows.BUSY
        pane.keys("Escape")
        wait_until(lambda: shows(pane) is Shows.RESTING, within=30)
        assert here.kinds() == [EventKind.STARTED, EventKind.TAKEN]


def test_term_ends_it_with_what_it_runs(installed: str) -> None:
    # A bare `sleep` is blocked by 2.1.328 (README.md).
    sleeping = call("Bash", command="python3 -c 'import time; time.sleep(7777)'")
    with running(installed, in_turn(sleeping, then=always(say("Done.")))) as here:
        here.answering = allows
        here.start("# Agent: dev")
        wait_until(
            lambda: here.listen() and any("time.sleep(7777)" in each for each in here.left()), within=60
        )
        began = time.monotonic()
        here.end()
        wait_until(lambda: not here.left())
        assert time.monotonic() - began < 30
