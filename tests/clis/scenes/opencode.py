"""What is captured of opencode: events by its plugin, answers of its HTTP API, screens by tmux."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from functools import partial

from tests.clis.album import Album
from tests.clis.answers import Answer, Fault, Hang, Reply, Text, Then, Trouble, say
from tests.clis.bench import SEEN, a_bench
from tests.clis.drivers.opencode import api
from tests.clis.hands import run, write
from tests.clis.playing import always, in_turn, played
from tests.polling import wait_until

ORDER = "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"


def turn(pin: str, album: Album) -> None:
    """One turn with a tool, rest, a prompt by HTTP, the same session resumed, the end by TERM."""

    def working(request):
        yield write(request, "made.txt", "hi\n")
        yield say("I made it.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start(ORDER)
        bench.wait_for("session.idle")
        for kind in ("session.created", "message.updated", "session.status", "session.idle"):
            album.event(kind.replace(".", "_"), bench.wait_for(kind), bench)
        album.event("kinds_of_a_turn", [bench.driver.kind(each) for each in bench.events()], bench)
        pane.until("I made it.")
        album.screen("resting", pane, bench)
        session = bench.wait_for("session.created")["properties"]["info"]["id"]
        album.event("api_status", api(bench.place, "GET", "/session/status"), bench)
        body = {"parts": [{"type": "text", "text": "And\n!now?"}]}
        api(bench.place, "POST", f"/session/{session}/prompt_async", body)
        bench.wait_for("session.idle", 2)
        assert bench.server.turns[-1].prompt == "And\n!now?", bench.server.turns[-1].prompts
        album.event("api_messages", api(bench.place, "GET", f"/session/{session}/message"), bench)
        os.kill(pane.pid(), signal.SIGTERM)
        wait_until(pane.is_dead, within=30)
        album.measured("TERM", bench)
        second = bench.start("Go on.", resume=session)
        bench.wait_for("session.idle", 3)
        assert len(bench.server.turns[-1].prompts) > 2, bench.server.turns[-1].prompts
        album.screen("resumed", second, bench)


def permission(pin: str, album: Album) -> None:
    """A command that is asked for, and allowed by HTTP."""

    def working(request):
        yield run(request, "python3 -c 'print(1)' > asked.txt")
        yield say("I asked.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start("Run it.")
        asked = bench.wait_for("permission.asked")
        album.event("permission_asked", asked, bench)
        pane.until("Allow", "Permission")
        album.screen("permission", pane, bench)
        waiting = api(bench.place, "GET", "/permission")
        album.event("api_permission", waiting, bench)
        api(bench.place, "POST", f"/permission/{waiting[0]['id']}/reply", {"reply": "once"})
        album.event("permission_replied", bench.wait_for("permission.replied"), bench)
        bench.wait_for("session.idle")
        assert (bench.place.work / "asked.txt").read_text() == "1\n"


def busy(pin: str, album: Album) -> None:
    """Silence before the headers, Esc twice, a stream that hangs, a message that is queued."""
    script = in_turn(
        Hang(), Reply((Text("One, two, three, four. " * 20),), then=Then.HANG), then=always(say("Yes."))
    )
    with a_bench(pin, script) as bench:
        pane = bench.start("Wait.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        pane.until("esc interrupt", "interrupt")
        album.screen("busy", pane, bench)
        album.event("api_status_busy", api(bench.place, "GET", "/session/status"), bench)
        pane.keys("Escape")
        pane.until("again", within=10)
        album.screen("interrupt_asked", pane, bench)
        pane.keys("Escape")
        bench.wait_for("session.idle")
        album.screen("interrupted", pane, bench)
        album.event("events_of_an_interruption", bench.events(), bench)
        pane.submit("Again.", lambda: len(bench.server.turns) > 1)
        pane.until("One, two")
        album.screen("streaming", pane, bench)
        pane.type("Queued.")
        pane.keys("Enter")
        pane.until("Queued.")
        album.screen("queued", pane, bench)


def failure(trouble: str, answer: Answer, pin: str, album: Album) -> None:
    """The API fails: for good, or for two minutes."""
    with a_bench(
        pin,
        always(answer),
    ) as bench:
        pane = bench.start("Try.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        with suppress(AssertionError):  # it may go on
            bench.wait_for("session.idle", within=60)
        album.screen(f"failed_{trouble}", pane, bench)
        kinds = ("session.status", "session.error", "session.idle")
        album.event(f"events_{trouble}", [each for each in bench.events() if each["type"] in kinds], bench)
        album.measured(trouble, bench)


def cut(pin: str, album: Album) -> None:
    """The connection drops in mid-stream, three times."""
    script = in_turn(
        *[Reply((Text("One, two, three, four."),), then=Then.DROP)] * 3, then=always(say("Whole."))
    )
    with a_bench(pin, script) as bench:
        pane = bench.start("Try.")
        bench.wait_for("session.idle")
        album.screen("cut", pane, bench)
        album.measured("cut", bench)


def no_provider(pin: str, album: Album) -> None:
    """No provider at all."""
    with a_bench(pin, always(say("Hello.")), laid_down=False) as bench:
        pane = bench.run([bench.place.program])
        pane.until("tab agents", "commands")
        album.screen("first_run", pane, bench)


SCENES = {
    "turn": turn,
    "permission": permission,
    "busy": busy,
    "cut": cut,
    "first": no_provider,
    "limited": partial(failure, "rate_limit_hour", Fault(Trouble.RATE_LIMITED, retry_after=3600)),
    "limited_short": partial(failure, "rate_limit_short", Fault(Trouble.RATE_LIMITED, retry_after=2)),
    "overloaded": partial(failure, "overloaded", Fault(Trouble.OVERLOADED)),
    "credit": partial(failure, "credit_gone", Fault(Trouble.CREDIT_GONE)),
    "long": partial(failure, "too_long", Fault(Trouble.TOO_LONG)),
    "unauthorized": partial(failure, "unauthorized", Fault(Trouble.UNAUTHORIZED)),
    "broken": partial(failure, "server_error", Fault(Trouble.SERVER_ERROR)),
}
