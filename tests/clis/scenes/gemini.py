"""What is captured of Gemini CLI: events by hooks, screens by tmux."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from functools import partial
from typing import Any

from tests.clis.album import Album
from tests.clis.answers import Answer, Fault, Hang, Reply, Text, Then, Trouble, say
from tests.clis.bench import SEEN, Bench, a_bench
from tests.clis.drivers.gemini import SESSION
from tests.clis.hands import run, write
from tests.clis.playing import always, in_turn, played
from tests.polling import wait_until

ORDER = "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"
READY = "Type your message"


def chat(bench: Bench) -> list[dict[str, Any]]:
    """Return what the session's chat file tells of how a turn went."""
    lines: list[dict[str, Any]] = []
    for path in sorted(bench.place.home.glob(".gemini/tmp/*/chats/*.jsonl")):
        lines += [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    return [line for line in lines if line.get("type") in {"error", "info"}]


def turn(pin: str, album: Album) -> None:
    """One turn with a tool, rest, the same session resumed, the end by TERM."""

    def working(request):
        yield write(request, "made.txt", "hi\n")
        yield say("I made it.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start(ORDER)
        for kind in ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"):
            album.event(kind, bench.wait_for(kind), bench)
        pane.until(READY)
        album.screen("resting", pane, bench)
        pane.type("And now.")
        pane.until("And now.")
        album.screen("typed", pane, bench)
        pane.type("?")
        album.screen("typed_question_mark", pane, bench)
        os.kill(pane.pid(), signal.SIGTERM)
        with suppress(AssertionError):  # its launcher does not pass it on
            wait_until(pane.is_dead, within=10)
        album.measured("TERM", bench)
        bench.end(pane)
        second = bench.start("Go on.", resume=SESSION)
        album.event("SessionStart_resume", bench.wait_for("SessionStart", 2), bench)
        bench.wait_for("AfterAgent", 2)
        second.until(READY)
        album.screen("resumed", second, bench)
        second.keys("C-d")
        second.keys("C-d")
        album.event("SessionEnd", bench.wait_for("SessionEnd"), bench)


def permission(pin: str, album: Album) -> None:
    """A command that is asked for, and refused with Esc."""

    def working(request):
        yield run(request, "python3 -c 'print(1)' > asked.txt")
        yield say("I asked.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start("Run it.")
        album.event("Notification", bench.wait_for("Notification"), bench)
        pane.until("Allow")
        album.screen("permission", pane, bench)
        pane.keys("Escape")
        pane.until(READY)
        album.screen("permission_refused", pane, bench)
        album.event("events_of_a_refusal", bench.events(), bench)


def allowed(pin: str, album: Album) -> None:
    """A policy file answers in the user's stead: one command is allowed, one refused."""

    def working(request):
        (first,) = yield run(request, "python3 -c 'print(1)'")
        (second,) = yield run(request, "git push")
        yield say(f"{first.text} and {second.text}")

    with a_bench(pin, played(working)) as bench:
        rule = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "{}"\ndecision = "{}"\npriority = 900\n'
        policy = bench.place.write(
            bench.place.run / "policy.toml", rule.format("python3", "allow") + rule.format("git push", "deny")
        )
        pane = bench.start("Run it.", extra=(f"--policy={policy}",))
        bench.wait_for("AfterAgent")
        album.screen("permission_by_policy", pane, bench)
        album.measured("permission_by_policy", bench)


def busy(pin: str, album: Album) -> None:
    """Silence before the headers, Esc, a stream that hangs, a message that is queued."""
    script = in_turn(
        Hang(), Reply((Text("One, two, three, four. " * 20),), then=Then.HANG), then=always(say("Yes."))
    )
    with a_bench(pin, script) as bench:
        pane = bench.start("Wait.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        pane.until("esc to cancel")
        album.screen("busy", pane, bench)
        pane.keys("Escape")
        pane.until("cancelled", "Cancelled", within=30)
        album.screen("interrupted", pane, bench)
        album.event("events_of_an_interruption", bench.events(), bench)
        album.event("transcript_interrupted", chat(bench), bench)
        pane.submit("Again.", lambda: len(bench.server.turns) > 1)
        pane.until("One, two")
        album.screen("streaming", pane, bench)
        pane.type("Queued.")
        pane.keys("Enter")
        pane.until("Queued.")
        album.screen("queued", pane, bench)


def failure(trouble: str, answer: Answer, pin: str, album: Album) -> None:
    """The API fails: what is shown at first, and after two minutes."""
    with a_bench(pin, always(answer)) as bench:
        pane = bench.start("Try.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        _settled(lambda: "esc to cancel" not in pane.screen(), 120)
        album.screen(f"failed_{trouble}", pane, bench)
        album.measured(trouble, bench)
        if reported := chat(bench):
            album.event(f"transcript_{trouble}", reported, bench)


def _settled(holds, within: float) -> None:
    """Wait until something holds for two looks, or the time is up."""
    seen = []

    def twice() -> bool:
        seen.append(holds())
        return seen[-2:] == [True, True]

    try:
        wait_until(twice, within=within, every=1.0)
    except AssertionError:
        return


def cut(pin: str, album: Album) -> None:
    """The connection drops in mid-stream, three times."""
    script = in_turn(
        *[Reply((Text("One, two, three, four."),), then=Then.DROP)] * 3, then=always(say("Whole."))
    )
    with a_bench(pin, script) as bench:
        pane = bench.start("Try.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        _settled(lambda: "esc to cancel" not in pane.screen(), 60)
        album.screen("cut", pane, bench)
        album.event("transcript_cut", chat(bench), bench)
        album.measured("cut", bench)


def blocked(pin: str, album: Album) -> None:
    """An AfterAgent hook makes it go on."""
    with a_bench(pin, always(say("Done."))) as bench:
        path = bench.place.home / ".gemini" / "settings.json"
        settings = json.loads(path.read_text())
        once = bench.place.run / "blocked"
        reason = json.dumps({"decision": "deny", "reason": "Write the handoff first."})
        command = f"test -e {once} || {{ touch {once}; echo '{reason}'; }}"
        settings["hooks"]["AfterAgent"].append({"hooks": [{"type": "command", "command": command}]})
        path.write_text(json.dumps(settings))
        pane = bench.start("Try.")
        album.event("AfterAgent_after_block", bench.wait_for("AfterAgent", 2), bench)
        album.screen("blocked", pane, bench)
        album.measured("block", bench)


def zoned(pin: str, album: Album) -> None:
    """A limit that lasts an hour, where clocks are an hour ahead of UTC."""
    with a_bench(pin, always(Fault(Trouble.RATE_LIMITED, retry_after=3600))) as bench:
        pane = bench.start("Try.", environ={"TZ": "Europe/Berlin"})
        pane.until("Access resets at")
        album.screen("failed_rate_limit_zoned", pane, bench)


def untrusted(pin: str, album: Album) -> None:
    """A folder that nobody has said is trusted."""
    with a_bench(pin, always(say("Hello."))) as bench:
        pane = bench.start("Hello.", environ={"GEMINI_CLI_TRUST_WORKSPACE": ""})
        pane.until("trust")
        album.screen("dialog_trust", pane, bench)


def no_login(pin: str, album: Album) -> None:
    """Nobody has said how to log in."""
    with a_bench(pin, always(say("Hello.")), laid_down=False) as bench:
        pane = bench.start("Hello.", environ={"GEMINI_API_KEY": ""})
        pane.until("How would you like to authenticate")
        album.screen("dialog_login", pane, bench)


SCENES = {
    "turn": turn,
    "permission": permission,
    "allowed": allowed,
    "busy": busy,
    "cut": cut,
    "blocked": blocked,
    "trust": untrusted,
    "login": no_login,
    "limited": partial(failure, "rate_limit_hour", Fault(Trouble.RATE_LIMITED, retry_after=3600)),
    "limited_zoned": zoned,
    "limited_short": partial(failure, "rate_limit_short", Fault(Trouble.RATE_LIMITED, retry_after=2)),
    "overloaded": partial(failure, "overloaded", Fault(Trouble.OVERLOADED)),
    "credit": partial(failure, "credit_gone", Fault(Trouble.CREDIT_GONE)),
    "long": partial(failure, "too_long", Fault(Trouble.TOO_LONG)),
    "unauthorized": partial(failure, "unauthorized", Fault(Trouble.UNAUTHORIZED)),
    "broken": partial(failure, "server_error", Fault(Trouble.SERVER_ERROR)),
}
