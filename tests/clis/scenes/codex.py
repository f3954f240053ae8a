"""What is captured of Codex: events by hooks, by its notify program, by its rollout file; screens by tmux."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from functools import partial
from typing import Any

from tests.clis import answers
from tests.clis.album import Album
from tests.clis.answers import Answer, Fault, Hang, Reply, Text, Then, ToolCall, Trouble, say
from tests.clis.bench import SEEN, Bench, a_bench
from tests.clis.hands import run
from tests.clis.playing import always, in_turn, played
from tests.polling import wait_until

ORDER = "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"

ESCALATED = {"cmd": "git push", "sandbox_permissions": "require_escalated", "justification": "May I push?"}


def rollout(bench: Bench) -> list[dict[str, Any]]:
    """Return what the session's own file says so far; the thread that makes a title has none."""
    lines: list[dict[str, Any]] = []
    for path in sorted(bench.place.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl")):
        lines += [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    return lines


def events_of(bench: Bench, *kinds: str) -> list[dict[str, Any]]:
    """Return the rollout's events of some kinds."""
    return [
        line for line in rollout(bench) if line["type"] == "event_msg" and line["payload"]["type"] in kinds
    ]


def until_events(bench: Bench, *kinds: str, count: int = 1, within: float = SEEN) -> list[dict[str, Any]]:
    """Wait for such events."""
    try:
        wait_until(lambda: len(events_of(bench, *kinds)) >= count, within=within, every=0.1)
    except AssertionError as late:
        raise AssertionError(f"no {kinds}; {bench.seen()}") from late
    return events_of(bench, *kinds)


def turn(pin: str, album: Album) -> None:
    """One turn with a tool, rest, the same session resumed, the end by TERM."""

    def working(request):
        yield run(request, "echo hi > made.txt")
        yield say("I made it.")

    with a_bench(pin, played(working)) as bench:
        pane = bench.start(ORDER)
        for kind in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
            album.event(kind, bench.wait_for(kind), bench)
        until_events(bench, "task_complete")
        album.screen("resting", pane, bench)
        album.event("rollout", [each for each in rollout(bench) if each["type"] != "world_state"], bench)
        wait_until(lambda: len(bench.place.recorded("notify")) > 1, within=SEEN)
        album.event("notify", bench.place.recorded("notify"), bench)
        pane.type("And now?")
        album.screen("typed", pane, bench)
        session = bench.wait_for("SessionStart")["session_id"]
        os.kill(pane.pid(), signal.SIGTERM)
        wait_until(pane.is_dead, within=30)
        album.measured("TERM", bench)
        second = bench.start("Go on.", resume=session)
        album.event("SessionStart_resume", bench.wait_for("SessionStart", 2), bench)
        bench.wait_for("Stop", 2)
        album.screen("resumed", second, bench)


def permission(pin: str, album: Album) -> None:
    """A command that is to run outside the sandbox: asked for, and refused with Esc."""
    script = in_turn(Reply((ToolCall("exec_command", ESCALATED),)), then=always(say("I asked.")))
    with a_bench(pin, script) as bench:
        pane = bench.start("Push it.")
        album.event("PermissionRequest", bench.wait_for("PermissionRequest"), bench)
        pane.until("Would you like", "Yes, proceed")
        album.screen("permission", pane, bench)
        pane.keys("Escape")
        until_events(bench, "turn_aborted", "task_complete")
        album.screen("permission_refused", pane, bench)
        album.event("rollout_permission_refused", rollout(bench)[-3:], bench)


def patched(pin: str, album: Album) -> None:
    """A patch outside of the folders that it may write."""
    moved = "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-a\n+b"
    patch = f"*** Begin Patch\n*** Add File: /etc/made.txt\n+hi\n{moved}\n*** End Patch"
    script = in_turn(
        Reply((ToolCall("exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}),)),
        then=always(say("I asked.")),
    )
    with a_bench(pin, script) as bench:
        bench.place.write(bench.place.work / "a.txt", "a\n")
        pane = bench.start("Patch it.")
        album.event("PermissionRequest_patch", bench.wait_for("PermissionRequest", within=20), bench)
        pane.until("Would you like", "Yes, proceed")
        album.screen("permission_patch", pane, bench)


def decided(behaviour: str, pin: str, album: Album) -> None:
    """A PermissionRequest hook answers in the user's stead: no dialog, no key."""
    decision = {"behavior": behaviour} | ({"message": "Not here."} if behaviour == "deny" else {})
    events_of = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    script = in_turn(Reply((ToolCall("exec_command", ESCALATED),)), then=always(say("I asked.")))
    with a_bench(pin, script) as bench:
        path = bench.place.home / ".codex" / "hooks.json"
        hooks = json.loads(path.read_text())
        hooks["hooks"]["PermissionRequest"].append(
            {"hooks": [{"type": "command", "command": f"echo '{json.dumps(events_of)}'"}]}
        )
        path.write_text(json.dumps(hooks))
        pane = bench.start("Do it.")
        bench.wait_for("Stop")
        album.screen(f"permission_{behaviour}", pane, bench)
        album.measured(f"permission_{behaviour}", bench)


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
        pane.keys("Escape")
        album.event("rollout_turn_aborted", until_events(bench, "turn_aborted"), bench)
        pane.until("interrupted", "Interrupted", within=30)
        album.screen("interrupted", pane, bench)
        album.event("events_of_an_interruption", bench.events(), bench)
        pane.submit("Again.", lambda: len(bench.server.turns) > 1)
        pane.until("One, two")
        album.screen("streaming", pane, bench)
        pane.type("Queued.")
        pane.until("Queued.")
        pane.keys("Enter")
        album.screen("queued", pane, bench)
        album.measured("queued", bench)


def failure(trouble: str, answer: Answer, pin: str, album: Album) -> None:
    """The API fails for good."""
    with a_bench(pin, always(answer)) as bench:
        pane = bench.start("Try.")
        ended = until_events(bench, "task_complete", "turn_aborted", within=420)
        album.event(f"rollout_{trouble}", [*events_of(bench, "error", "stream_error"), *ended], bench)
        album.screen(f"failed_{trouble}", pane, bench)
        album.measured(trouble, bench)


def limited(pin: str, album: Album) -> None:
    """A limit that lasts an hour: it waits for all of it, and says nothing of that."""
    with a_bench(pin, always(Fault(Trouble.RATE_LIMITED, retry_after=3600))) as bench:
        pane = bench.start("Try.")
        pane.until("reconnecting")
        with suppress(AssertionError):
            until_events(bench, "task_complete", "turn_aborted", within=60)
        album.screen("waiting_rate_limit_hour", pane, bench)
        album.measured("rate_limit_hour", bench)


def used_up(pin: str, album: Album) -> None:
    """All of a window is used up; the moment is 35 s past a full minute, once today and once not."""
    for name, minutes in (("used_up", 60), ("used_up_for_days", 3 * 24 * 60)):
        resets_at = (int(time.time()) // 60 + minutes) * 60 + 35
        with a_bench(pin, always(answers.used_up(resets_at))) as bench:
            pane = bench.start("Try.", environ={"TZ": "Europe/Berlin"})
            album.event(f"rollout_{name}", until_events(bench, "task_complete"), bench)
            album.screen(f"failed_{name}", pane, bench)


def cut(pin: str, album: Album) -> None:
    """The connection drops in mid-stream, three times."""
    script = in_turn(
        *[Reply((Text("One, two, three, four."),), then=Then.DROP)] * 3, then=always(say("Whole."))
    )
    with a_bench(pin, script) as bench:
        pane = bench.start("Try.")
        until_events(bench, "task_complete")
        album.screen("cut", pane, bench)
        album.measured("cut", bench)


def blocked(pin: str, album: Album) -> None:
    """A Stop hook makes it go on."""
    with a_bench(pin, always(say("Done."))) as bench:
        path = bench.place.home / ".codex" / "hooks.json"
        hooks = json.loads(path.read_text())
        once = bench.place.run / "blocked"
        reason = json.dumps({"decision": "block", "reason": "Write the handoff first."})
        command = f"test -e {once} || {{ touch {once}; echo '{reason}'; }}"
        hooks["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": command}]})
        path.write_text(json.dumps(hooks))
        pane = bench.start("Try.")
        album.event("Stop_after_block", bench.wait_for("Stop", 2), bench)
        album.screen("blocked", pane, bench)
        album.measured("block", bench)


def untrusted(pin: str, album: Album) -> None:
    """A folder that nobody has said is trusted."""
    with a_bench(pin, always(say("Hello."))) as bench:
        path = bench.place.home / ".codex" / "config.toml"
        path.write_text(
            path.read_text().replace(f'[projects."{bench.place.work}"]', '[projects."/elsewhere"]')
        )
        pane = bench.start("Hello.")
        pane.until("trust")
        album.screen("dialog_trust", pane, bench)


def unknown_hooks(pin: str, album: Album) -> None:
    """Hooks that nobody has said are trusted."""
    with a_bench(pin, always(say("Hello."))) as bench:
        argv = bench.driver.argv(bench.place, "Hello.", "")
        argv.remove("--dangerously-bypass-hook-trust")
        pane = bench.run(argv)
        pane.until("hook")
        album.screen("dialog_hooks", pane, bench)


def no_login(pin: str, album: Album) -> None:
    """The vendor's own provider, and nobody logged in."""
    with a_bench(pin, always(say("Hello.")), laid_down=False) as bench:
        (bench.place.home / ".codex").mkdir()
        pane = bench.start("Hello.", environ={"OPENAI_API_KEY": ""})
        pane.until("Sign in", "log in")
        album.screen("dialog_login", pane, bench)


SCENES = {
    "turn": turn,
    "permission": permission,
    "patch": patched,
    "allowed": partial(decided, "allow"),
    "denied": partial(decided, "deny"),
    "busy": busy,
    "cut": cut,
    "blocked": blocked,
    "trust": untrusted,
    "hooks": unknown_hooks,
    "login": no_login,
    "limited": limited,
    "used_up": used_up,
    "limited_short": partial(failure, "rate_limit_short", Fault(Trouble.RATE_LIMITED, retry_after=2)),
    "overloaded": partial(failure, "overloaded", Fault(Trouble.OVERLOADED)),
    "credit": partial(failure, "credit_gone", Fault(Trouble.CREDIT_GONE)),
    "long": partial(failure, "too_long", Fault(Trouble.TOO_LONG)),
    "unauthorized": partial(failure, "unauthorized", Fault(Trouble.UNAUTHORIZED)),
    "broken": partial(failure, "server_error", Fault(Trouble.SERVER_ERROR)),
}
