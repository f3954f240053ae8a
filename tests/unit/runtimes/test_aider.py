"""aider: what is laid down for a run, what its script tells, what its screens show."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.model.usage import Tokens, Usage
from orchestrator.runtimes.aider import HISTORY, NOTES, SCRIPT, Aider
from orchestrator.runtimes.screens import shown_on
from tests.unit.runtimes.spawns import SPAWN, a_spawn

FIXTURES = Path(__file__).parents[2] / "fixtures/clis/aider"
EARLIER = str(SPAWN.folder.parent / "r-0" / HISTORY)


def payload(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FIXTURES / f"told_{name}.json").read_text("utf-8"))
    return read


def ended(chat: str, model: str, status: int = 0) -> Event:
    packed = {key: b64encode(text.encode()).decode() for key, text in (("chat", chat), ("model", model))}
    event = Aider().event({"type": "ended", "status": status, **packed})
    assert event
    return event


def test_order_and_aider_options_are_script_arguments():
    launching = Aider().launching(SPAWN)
    assert launching.argv[:5] == ("sh", str(SPAWN.folder / SCRIPT), "", SPAWN.prompt, "aider")
    assert set(launching.files) == {SCRIPT, NOTES}
    assert "--yes-always" in launching.argv
    assert "--no-auto-commits" in launching.argv
    assert launching.argv[launching.argv.index("--load") + 1] == "/dev/null"


@pytest.mark.parametrize(
    ("model", "environ", "is_named"),
    [
        ("sonnet", {}, False),
        ("sonnet", {"ANTHROPIC_API_KEY": "x"}, True),
        ("openai/gpt-5", {}, True),
        (None, {}, False),
    ],
)
def test_a_model_of_another_vendor_is_not_asked_for(model, environ, is_named):
    launching = Aider().launching(a_spawn(agent=Agent("dev", model=model), environ=environ))
    assert ("--model" in launching.argv) is is_named


@pytest.mark.parametrize(
    "session",
    [
        "/etc/passwd",
        f"/elsewhere/r-0/{HISTORY}",
        f"{SPAWN.folder.parent}/{HISTORY}",
        f"{SPAWN.folder.parent}/../{HISTORY}",
        f"{SPAWN.folder.parent}/r-0/x/{HISTORY}",
        "",
    ],
)
def test_only_the_history_of_another_run_is_gone_on_with(session):
    """The path came from outside (law 7)."""
    assert Aider().launching(a_spawn(resumes=EARLIER)).argv[2] == EARLIER
    assert Aider().launching(a_spawn(resumes=session)).argv[2] == ""


def test_events_of_a_successful_turn():
    history = f"/bench/tasks/t/runs/r-1/{HISTORY}"
    assert Aider().event(payload("started")) == Event(EventKind.STARTED, history)
    event = Aider().event(payload("ended"))
    assert event
    assert (event.kind, event.session) == (EventKind.ENDED, history)
    assert event.text.startswith("made.txt\n```\nhi\n```\n\n# Handoff: dev\n")
    assert event.text.endswith("> quoted\nIt is made.")


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("credit_gone", Failure.CREDIT),
        ("no_login", Failure.LOGIN),
        ("overloaded", Failure.OVERLOAD),
        ("rate_limit_hour", Failure.LIMIT),
        ("server_error", Failure.OVERLOAD),
        ("too_long", Failure.CONTEXT),
        ("unauthorized", Failure.LOGIN),
    ],
)
def test_a_failure_by_its_kind(name, failure):
    """aider exits with 0 after each of them but the login."""
    event = Aider().event(payload(f"ended_{name}"))
    assert event
    assert (event.kind, event.failure) == (EventKind.FAILED, failure)
    assert event.text


def test_half_a_response_and_then_an_error_is_a_failure():
    model = "LLM RESPONSE 2026-11-20T12:00:00\nASSISTANT I will\n"
    chat = "\nI will\n\n> litellm.APIConnectionError: APIConnectionError: cut\n> Retrying in 0.2 seconds...\n"
    assert ended(chat, model).failure is Failure.OVERLOAD


def test_what_a_model_quotes_is_no_failure():
    model = "LLM RESPONSE 2026-11-20T12:00:00\nASSISTANT > litellm.Timeout: as you saw\n"
    chat = "\n> litellm.Timeout: as you saw\n\nDone.\n> Tokens: 1 sent\n"
    assert ended(chat, model).kind is EventKind.ENDED


def test_what_a_model_says_of_the_log_is_not_read_as_the_log():
    model = "LLM RESPONSE 2026-11-20T12:00:00\nASSISTANT TO LLM 2026-11-20T12:00:00\nASSISTANT ASSISTANT x\n"
    assert ended("", model).text == "TO LLM 2026-11-20T12:00:00\nASSISTANT x"


def test_end_without_a_message_has_its_status():
    event = ended("", "", status=2)
    assert (event.failure, event.text) == (Failure.OTHER, "aider ended with status 2 and said nothing")


@pytest.mark.parametrize(
    "odd", [{}, {"type": "ended", "chat": 3}, {"type": "ended", "model": "%%", "status": "x"}]
)
def test_odd_objects_raise_nothing(odd):
    event = Aider().event(odd)
    assert event is None or event.kind is EventKind.FAILED


def test_only_a_reason_to_go_on_is_a_next_order():
    assert Aider().answer(Reply(Say.GO_ON, "Write it.")) == "Write it."
    assert Aider().answer(Reply(Say.PASS, "x")) == ""


def test_the_script_goes_on_while_it_is_answered(tmp_path):
    """With a program in aider's place that writes down what it is given, and a relay that answers once."""
    (tmp_path / SCRIPT).write_bytes(Aider().launching(SPAWN).files[SCRIPT])
    (tmp_path / "earlier.md").write_text("before\n")
    (tmp_path / "relay.sh").write_text(
        'cat >>"${0%/*}/told"; echo >>"${0%/*}/told"\n'
        'if [ "${1-}" = waits ] && mkdir "${0%/*}/once" 2>/dev/null; then printf "go\\non"; fi\n'
    )
    (tmp_path / "fake").write_text('for word; do printf "%s|" "$word"; done >>"${0%/*}/given"; exit 3\n')
    argv = [
        "sh",
        str(tmp_path / SCRIPT),
        str(tmp_path / "earlier.md"),
        "# One\n$x `y`;\n",
        "sh",
        str(tmp_path / "fake"),
    ]
    done = subprocess.run(argv, capture_output=True, timeout=20, check=False)
    assert done.returncode == 3
    given = (tmp_path / "given").read_text()
    assert given.count("--restore-chat-history|") == 2
    assert "|--message=# One\n$x `y`;\n|" in given
    assert given.endswith("|--message=go\non|")
    kinds = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert [each["type"] for each in kinds] == ["started", "ended", "ended"]
    assert {each["status"] for each in kinds} == {0, 3}
    assert (tmp_path / HISTORY).read_text() == "before\n"


SHOWN = {
    "busy": "",
    "dialog_login": "a login in the browser",
    "ended": "",
    "failed_credit_gone": "",
    "failed_overloaded": "",
    "failed_rate_limit_hour": "",
    "failed_server_error": "",
    "failed_too_long": "refused by the service",
    "failed_unauthorized": "refused by the service",
    "interrupted": "at its prompt",
    "resting": "at its prompt",
}


def test_every_captured_screen_is_in_the_table():
    assert {path.stem for path in FIXTURES.glob("*.txt")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_screen_shows(name):
    found = shown_on((FIXTURES / f"{name}.txt").read_text("utf-8"), Aider().screens)
    assert (found[0].name if found else "") == SHOWN[name]


def test_usage_is_read_from_the_history():
    lines = (
        "> Model: openai/bench with whole edit format  \n"
        "> Tokens: 750 sent, 31 received.  \n"
        "> Tokens: 2.1k sent, 1k cache write, 300 received. Cost: $0.01 message, $0.02 session.  \n"
        "> Tokens: 1.5M sent, 4 received. Cost: $1.25 message, $1.27 session.\n"
        "> Tokens: . sent, 4 received.\n> Tokens: lots\nTokens: 9 sent, 9 received.\n"
    )
    packed = b64encode(lines.encode()).decode()
    event = Aider().event(payload("ended") | {"used": packed})
    assert event
    assert event.usage
    assert event.usage.models == (("openai/bench", Tokens(750, 35)),), (
        "what it knows the cost of is not estimated"
    )
    assert replace(event.usage, models=()) == Usage(1_502_850, 339, 0, 1.26, 1_500_000)
    event = Aider().event(payload("ended"))
    assert event
    assert event.usage is None
