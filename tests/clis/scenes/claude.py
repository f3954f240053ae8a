"""What is captured of Claude Code: events by hooks, screens by tmux."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.clis import answers
from tests.clis.album import Album
from tests.clis.answers import Answer, Fault, Hang, Reply, Text, Then, Trouble, call, say
from tests.clis.bench import SEEN, Bench, a_bench
from tests.clis.drivers.claude import SESSION
from tests.clis.hands import run, write
from tests.clis.playing import always, in_turn, played
from tests.clis.users import subscribed
from tests.polling import wait_until

ORDER = "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"

TOLD = ("user", "assistant", "system", "mode", "permission-mode", "last-prompt", "cost-state")
"""The lines of a transcript that are of use; the others repeat what was sent to the model."""


def turn(pin: str, album: Album) -> None:
    """One turn with a tool, rest, the same session resumed, a word typed, the end by TERM."""

    def working(request):
        yield write(request, "made.txt", "hi\n")
        yield say("I made it.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start(ORDER)
        for kind in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
            album.event(kind, bench.wait_for(kind), bench)
        album.event("sessions_file", _status(bench, "idle"), bench)
        album.screen("resting", pane, bench)
        pane.type("And now?")
        album.screen("typed", pane, bench)
        pane.keys("Enter")
        album.event("UserPromptSubmit_typed", bench.wait_for("UserPromptSubmit", 2), bench)
        bench.wait_for("Stop", 2)
        album.event("Notification_idle_prompt", bench.wait_for("Notification", within=SEEN + 60), bench)
        os.kill(pane.pid(), signal.SIGTERM)
        album.event("SessionEnd", bench.wait_for("SessionEnd"), bench)
        wait_until(pane.is_dead, within=30)
        album.measured("TERM", bench)
        second = bench.start("Go on.", resume=SESSION)
        album.event("SessionStart_resume", bench.wait_for("SessionStart", 2), bench)
        bench.wait_for("Stop", 3)
        album.screen("resumed", second, bench)
        lines = next(bench.place.home.glob(".claude/projects/*/*.jsonl")).read_text().splitlines()
        document = [json.loads(line) for line in lines]
        album.event("transcript", [each for each in document if each["type"] in TOLD], bench)


def _status(bench: Bench, wanted: str) -> dict[str, Any]:
    def found() -> dict[str, Any] | None:
        for path in bench.place.home.glob(".claude/sessions/*.json"):
            read: dict[str, Any] = json.loads(path.read_text() or "{}")
            if read.get("status") == wanted:
                return read
        return None

    got = wait_until(found, within=20, every=0.1)
    assert got is not None
    return got


def manual(pin: str, album: Album) -> None:
    """As its runtime launches it, in mode `default`: at rest, and with a service that takes a request and hangs."""
    mode = ("--permission-mode", "default")
    with a_bench(pin, in_turn(say("Done."), then=always(Hang()))) as bench:
        pane = bench.start("Try.", extra=mode)
        bench.wait_for("Stop")
        pane.until("? for shortcuts")
        album.screen("resting_in_manual_mode", pane, bench)
        pane.submit("And now wait.", lambda: bench.events("UserPromptSubmit")[1:])
        wait_until(lambda: bench.server.turns[1:], within=SEEN)
        album.screen("hung", pane, bench)


def permission(pin: str, album: Album) -> None:
    """A command that is asked for; refused with Esc."""

    def working(request):
        yield run(request, "python3 -c 'print(1)' > asked.txt")
        yield say("I asked.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start("Touch it.")
        album.event("PermissionRequest", bench.wait_for("PermissionRequest"), bench)
        pane.until("Do you want", "Yes")
        album.screen("permission", pane, bench)
        album.event("sessions_file_waiting", _status(bench, "waiting"), bench)
        album.event("Notification_permission_prompt", bench.wait_for("Notification"), bench)
        pane.keys("Escape")
        wait_until(lambda: not pane.shows("Do you want"), within=20)
        album.screen("permission_refused", pane, bench)


def decided(behaviour: str, pin: str, album: Album) -> None:
    """A PermissionRequest hook answers in the user's stead: no dialog, no key."""
    decision = {"behavior": behaviour} | ({"message": "Not here."} if behaviour == "deny" else {})
    document = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    script = in_turn(call("Bash", command="python3 -c 'print(1)' > asked.txt"), then=always(say("I asked.")))
    with a_bench(pin, script) as bench:
        path = bench.place.run / "settings.json"
        hooks = json.loads(path.read_text())
        hooks["hooks"]["PermissionRequest"].append(
            {"hooks": [{"type": "command", "command": f"echo '{json.dumps(document)}'"}]}
        )
        path.write_text(json.dumps(hooks))
        pane = bench.start("Do it.")
        bench.wait_for("Stop")
        album.screen(f"permission_{behaviour}", pane, bench)
        album.measured(f"permission_{behaviour}", bench)


def pasted(pin: str, album: Album) -> None:
    """Five lines as a bracketed paste, then one long typed line: how they reach the model."""
    with a_bench(pin, always(say("Read."))) as bench:
        pane = bench.start("Hello.")
        bench.wait_for("Stop")
        pane.paste("one\ntwo\nthree\nfour\nfive")
        pane.until("five", "Pasted", "pasted")
        album.screen("pasted", pane, bench)
        pane.keys("Enter")
        bench.wait_for("Stop", 2)
        album.measured("paste", bench)
        pane.submit("A line. " * 90 + "The end.", lambda: bench.events("Stop")[2:])
        album.measured("typed_line", bench)


def asking(pin: str, album: Album) -> None:
    """The model asks the user a question with options."""
    options = [
        {"label": "Red", "description": "The red one"},
        {"label": "Blue", "description": "The blue one"},
    ]
    question = {"question": "Which one?", "header": "Colour", "multiSelect": False, "options": options}
    with a_bench(
        pin, in_turn(call("AskUserQuestion", questions=[question]), then=always(say("Good.")))
    ) as bench:
        pane = bench.start("Ask me.")
        pane.until("Which one?")
        pane.until("Blue")
        album.screen("question", pane, bench)
        album.event("events_of_a_question", bench.events(), bench)


def busy(pin: str, album: Album) -> None:
    """Silence before the headers, Esc, a stream that hangs, a message that is queued."""
    script = in_turn(
        Hang(), Reply((Text("One, two, three, four. " * 20),), then=Then.HANG), then=always(say("Yes."))
    )
    with a_bench(pin, script) as bench:
        pane = bench.start("Wait.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        pane.until("esc to interrupt")
        album.screen("busy", pane, bench)
        album.event("sessions_file_busy", _status(bench, "busy"), bench)
        # Nothing was said yet: the prompt goes back into the input line, and to be sent again wants Enter only.
        pane.keys("Escape")
        wait_until(lambda: not pane.shows("esc to interrupt"), within=30)
        album.screen("taken_back", pane, bench)
        album.event("events_of_an_interruption", bench.events(), bench)
        pane.keys("Enter")
        pane.until("One, two")
        album.screen("streaming", pane, bench)
        pane.type("Queued.")
        pane.keys("Enter")
        pane.until("Queued.")
        album.screen("queued", pane, bench)
        pane.keys("Escape")
        pane.until("Interrupted", "interrupted")
        album.screen("interrupted", pane, bench)
        album.event("events_of_two_interruptions", bench.events(), bench)


def failure(trouble: str, answer: Answer, pin: str, album: Album) -> None:
    """The API fails for good."""
    with a_bench(pin, always(answer)) as bench:
        pane = bench.start("Try.")
        album.event(f"StopFailure_{trouble}", bench.wait_for("StopFailure", within=420), bench)
        # The hook comes first, the screen after it.
        wait_until(lambda: not pane.shows("esc to interrupt"), within=30)
        album.screen(f"failed_{trouble}", pane, bench)
        album.measured(trouble, bench)


def used_up(pin: str, album: Album) -> None:
    """All of a window is used up, as a subscriber is told; the moment is 35 s past a full minute."""
    resets_at = (int(time.time()) // 60 + 60) * 60 + 35
    with a_bench(pin, always(answers.used_up(resets_at))) as bench:
        own = {"ANTHROPIC_API_KEY": "", "TZ": "Europe/Berlin"} | subscribed(bench.server.url)
        pane = bench.start("Try.", environ=own)
        album.event("StopFailure_used_up", bench.wait_for("StopFailure"), bench)
        pane.until("resets")
        album.screen("failed_used_up", pane, bench)
        album.measured("used_up", bench)


def retrying(pin: str, album: Album) -> None:
    """The API fails, and the CLI says that it tries again."""
    with a_bench(pin, always(Fault(Trouble.SERVER_ERROR))) as bench:
        pane = bench.start("Try.")
        pane.until("etrying", "attempt")
        album.screen("retrying", pane, bench)


def cut(pin: str, album: Album) -> None:
    """The connection drops in mid-stream: how often, and what becomes of it."""
    with a_bench(
        pin,
        in_turn(*[Reply((Text("One, two, three, four."),), then=Then.DROP)] * 3, then=always(say("Whole."))),
    ) as bench:
        pane = bench.start("Try.")
        wait_until(lambda: bench.events("Stop") or bench.events("StopFailure"), within=SEEN)
        album.event("events_of_a_cut", bench.events(), bench)
        album.screen("cut", pane, bench)
        album.measured("cut", bench)


def blocked(pin: str, album: Album) -> None:
    """A Stop hook makes it go on."""
    with a_bench(pin, always(say("Done."))) as bench:
        settings = bench.place.run / "settings.json"
        document = json.loads(settings.read_text())
        document["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": _block(bench)}]})
        settings.write_text(json.dumps(document))
        pane = bench.start("Try.")
        album.event("Stop_after_block", bench.wait_for("Stop", 2), bench)
        album.screen("blocked", pane, bench)
        album.measured("block", bench)


def _block(bench: Bench) -> str:
    once = bench.place.run / "blocked"
    reason = json.dumps({"decision": "block", "reason": "Write the handoff first."})
    return f"test -e {once} || {{ touch {once}; echo '{reason}'; }}"


def _first_run(
    change: Callable[[dict[str, Any], Bench], None], name: str, shown: str, pin: str, album: Album
) -> None:
    """A start-up dialog, by taking away what pre-empts it."""
    with a_bench(pin, always(say("Hello."))) as bench:
        path = bench.place.home / ".claude.json"
        document = json.loads(path.read_text())
        change(document, bench)
        path.write_text(json.dumps(document))
        extra = ("--dangerously-skip-permissions",) if name == "bypass" else ()
        pane = bench.start(extra=extra, environ={"IS_SANDBOX": "1"})
        pane.until(shown)
        wait_until(lambda: pane.screen() == pane.screen(), within=5)
        album.screen(f"dialog_{name}", pane, bench)


def _no_onboarding(document: dict[str, Any], _: Bench) -> None:
    document.clear()


def _no_trust(document: dict[str, Any], _: Bench) -> None:
    document["projects"] = {}


def _no_key(document: dict[str, Any], _: Bench) -> None:
    del document["customApiKeyResponses"]


def _no_bypass(_: dict[str, Any], bench: Bench) -> None:
    (bench.place.home / ".claude" / "settings.json").unlink()


SCENES = {
    "turn": turn,
    "manual": manual,
    "permission": permission,
    "allowed": partial(decided, "allow"),
    "denied": partial(decided, "deny"),
    "pasted": pasted,
    "asking": asking,
    "busy": busy,
    "retrying": retrying,
    "cut": cut,
    "blocked": blocked,
    "used_up": used_up,
    "limited": partial(failure, "rate_limit_hour", Fault(Trouble.RATE_LIMITED, retry_after=3600)),
    "limited_short": partial(failure, "rate_limit_short", Fault(Trouble.RATE_LIMITED, retry_after=2)),
    "overloaded": partial(failure, "overloaded", Fault(Trouble.OVERLOADED)),
    "credit": partial(failure, "credit_gone", Fault(Trouble.CREDIT_GONE)),
    "long": partial(failure, "too_long", Fault(Trouble.TOO_LONG)),
    "unauthorized": partial(failure, "unauthorized", Fault(Trouble.UNAUTHORIZED)),
    "broken": partial(failure, "server_error", Fault(Trouble.SERVER_ERROR)),
    "onboarding": partial(_first_run, _no_onboarding, "onboarding", "Unable to connect"),
    "trust": partial(_first_run, _no_trust, "trust", "trust"),
    "key": partial(_first_run, _no_key, "api_key", "API key"),
    "bypass": partial(_first_run, _no_bypass, "bypass", "ypass Permissions"),
}
