"""The service of a night refuses, hangs and lets in again as its weather says; and the bench without any CLI."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.formats.preamble import AgentOrder, preamble
from orchestrator.model.agents import Role
from tests.clis.answers import Answer, Fault, Hang, Reply, Then, ToolCall, Trouble
from tests.clis.model_request import Conversation, Message, ModelRequest, ToolResult
from tests.clis.pinned import pins
from tests.nights import shop
from tests.nights.acts import TEMPORARY, repeats, saves_aside
from tests.nights.agents import Cast
from tests.nights.catalogue import nights
from tests.nights.judging.intervals import length, merged, without
from tests.nights.looking import PROGRESS, STATUS, names_in
from tests.nights.moments import Moment, part_of
from tests.nights.scaling import FLOORS, scaled, seconds
from tests.nights.service import Filling, Hanging, Refusing, Service, Weather

NOW = 1_795_363_230.0  # half a minute past 16:00 UTC
TOOLS = frozenset({"Bash", "Write"})


class Clock:
    at = NOW

    def __call__(self) -> float:
        return self.at


def a_service(weather: Weather, **acts: list[object]) -> tuple[Service, Clock]:
    clock = Clock()
    cast = Cast({("dev", "greet"): acts["dev"]} if acts else {}, parts={"shop": ("greet",)})  # type: ignore[dict-item]
    return Service(cast, weather, 60.0, vendor_of=lambda _: "claude", clock=clock), clock


def asked(agent: str = "dev", run: str = "r-1", steps: int = 0, *more: str) -> ModelRequest:
    """A request of an agent for greet that has had so many answers; `more` are further prompts after the order."""
    order = preamble(
        AgentOrder(
            agent=agent,
            role=Role.DEV,
            task="shop",
            at=0.0,
            cwd="/w/greet",
            task_dir="/tasks/shop",
            artifacts="/tasks/shop/artifacts/code",
            scratchpad=f"/tasks/shop/scratchpad/{agent}",
            run=run,
            order_name="pm-20261122-160000.md",
            order=f"## Instructions\n{shop.PARTS['greet'].title}\n\n## Context\n{shop.PARTS['total'].title}",
        )
    )
    messages = [Message("user", (order,))]
    for number in range(steps):
        messages.append(Message("assistant", calls=(ToolCall("Bash", {"command": "ls"}, str(number)),)))
        messages.append(Message("tool", results=(ToolResult(str(number), "README.md OK def greet"),)))
    messages += [Message("user", (each,)) for each in more]
    return ModelRequest(1, NOW, "POST", "/", {}, b"", "anthropic", Conversation("m", tuple(messages), TOOLS))


def call_of(answer: Answer) -> ToolCall:
    assert isinstance(answer, Reply)
    (part,) = answer.parts
    assert isinstance(part, ToolCall)
    return part


def test_limit_begins_on_time_and_ends_past_a_whole_minute() -> None:
    """A limit begins at its moment and ends late past a whole minute."""
    limit = Refusing(Moment("dev", "greet", step=1), lasts=300, minute=30, late=60)
    service, clock = a_service(Weather(refusing=(limit,)))
    assert isinstance(service.answer(asked()), Reply)
    refused = service.answer(asked(steps=1))
    assert isinstance(refused, Fault)
    assert refused.resets_at == NOW + 30 + 30
    (window,) = service.windows
    assert window.until == NOW + 30 + 30 + 60
    assert service.pending
    clock.at = NOW + 119
    assert isinstance(service.answer(asked()), Fault), "lifted late"
    clock.at = NOW + 121
    assert isinstance(service.answer(asked(steps=1)), Reply)
    assert not service.pending


def test_a_limit_whose_minute_would_come_too_soon_takes_the_next() -> None:
    service, clock = a_service(Weather(refusing=(Refusing(Moment("dev"), lasts=60, minute=0),)))
    clock.at = NOW + 20
    answer = service.answer(replace(asked(), at=NOW + 20))
    assert isinstance(answer, Fault)
    assert answer.resets_at == NOW + 90


def test_only_the_limiting_vendor_refuses() -> None:
    """Only the vendor that limits refuses and what a cli asks besides."""
    service, _ = a_service(Weather(refusing=(Refusing(Moment("dev"), lasts=600),)))
    service.vendor_of = lambda agent: {"dev": "codex"}.get(agent, "claude")
    service.answer(asked())
    assert isinstance(service.answer(asked("test", "r-2")), Reply)
    title = replace(asked(), headers={"User-Agent": "codex_cli_rs/0.169"})
    assert isinstance(service.beside(title), Fault)
    assert isinstance(service.beside(replace(title, headers={"user-agent": "claude-cli/2.1"})), Reply)


def test_a_burst_is_over_after_so_many_refusals() -> None:
    service, _ = a_service(Weather(refusing=(Refusing(Moment("dev"), Trouble.OVERLOADED, times=2),)))
    answers = [service.answer(asked()) for _ in range(3)]
    assert [type(each) for each in answers] == [Fault, Fault, Reply]
    assert service.windows[0].kind == "overload"


def test_a_login_is_gone_until_somebody_logs_in() -> None:
    service, clock = a_service(Weather(refusing=(Refusing(Moment("dev"), Trouble.UNAUTHORIZED),)))
    assert isinstance(service.answer(asked()), Fault)
    assert not service.pending, "time alone does not end it"
    clock.at = NOW + 100
    service.lift(Trouble.UNAUTHORIZED)
    assert isinstance(service.answer(asked()), Reply)
    assert service.windows[0].until == NOW + 100


def test_a_request_hangs_as_often_as_it_is_said() -> None:
    weather = Weather(hanging=(Hanging(Moment("dev", step=1)), Hanging(Moment("dev", number=2), Then.PING)))
    service, _ = a_service(weather)
    assert isinstance(service.answer(asked()), Reply)
    assert isinstance(service.answer(asked(steps=1)), Hang)
    again = service.answer(asked(run="r-2"))
    assert isinstance(again, Reply)
    assert again.then is Then.PING
    whole = service.answer(asked(run="r-2"))
    assert isinstance(whole, Reply)
    assert whole.then is Then.END


def test_a_full_conversation_remains_full_and_a_fresh_one_is_not() -> None:
    service, _ = a_service(Weather(filling=(Filling("dev", results=2),)))
    assert isinstance(service.answer(asked(steps=1)), Reply)
    full = service.answer(asked(steps=2))
    assert isinstance(full, Fault)
    assert full.trouble is Trouble.TOO_LONG
    assert isinstance(service.answer(asked(steps=3)), Fault)
    assert isinstance(service.answer(asked(run="r-2", steps=3)), Reply)


def test_an_order_is_known_through_what_a_hook_said_after_it() -> None:
    service, _ = a_service(Weather())
    service.answer(asked("dev", "r-1", 1, "Stop hook feedback: write the handoff"))
    _, _, turn = service.seen[-1]
    assert turn is not None
    assert (turn.order.run, turn.part, turn.number, turn.step, turn.nagged) == ("r-1", "greet", 1, 0, 1)
    (first,), (second,) = asked(run="r-1").messages, asked(run="r-2").messages
    refused = Message("user", first.texts + second.texts)
    service.answer(replace(asked(), conversation=Conversation("m", (refused,), TOOLS)))
    _, _, turn = service.seen[-1]
    assert turn is not None
    assert (turn.order.run, turn.earlier) == ("r-2", 1)
    service.answer(replace(asked(), conversation=Conversation("m", (Message("user", ("Hello.",)),), TOOLS)))
    assert service.seen[-1][2] is None


def test_an_order_is_about_the_part_that_it_asks_for() -> None:
    assert (
        part_of("## Instructions\nJudge each success criterion …\n## Context\nAdd greet to shop/greet.py")
        == "accept"
    )
    assert part_of("## Instructions\nTest the work on: Add total to shop/total.py\n## Context\n") == "total"


def test_a_developer_looks_writes_tests_and_hands_in() -> None:
    service, _ = a_service(Weather())
    calls = [call_of(service.answer(asked(steps=steps))) for steps in range(5)]
    assert [each.name for each in calls] == ["Bash", "Write", "Write", "Bash", "Write"]
    last = calls[-1].arguments
    assert not isinstance(last, str)
    assert "**Status:** COMPLETE" in str(last["content"])


def test_an_act_is_given_to_the_run_whose_turn_it_is() -> None:
    service, _ = a_service(Weather(), dev=[repeats(5, "ls shop"), saves_aside])
    assert all(call_of(service.answer(asked(steps=n))).arguments == {"command": "ls shop"} for n in range(5))
    aside = call_of(service.answer(asked(run="r-2", steps=2))).arguments
    assert not isinstance(aside, str)
    assert str(aside["file_path"]).endswith(TEMPORARY)


@pytest.mark.parametrize("name", shop.PARTS)
def test_part_passes_its_own_probe_and_test_only(name: str, tmp_path: Path) -> None:
    """A part passes its probe and its test and the wrong one neither."""
    part = shop.PARTS[name]
    shop.make_shop(tmp_path)
    assert shop.tests_pass(tmp_path)[0]
    assert not shop.holds(tmp_path, name)
    (tmp_path / part.test_path).write_text(part.test)
    for code, well in ((part.wrong, False), (part.code, True)):
        (tmp_path / part.path).write_text(code)
        assert shop.holds(tmp_path, name) is well
        assert shop.tests_pass(tmp_path)[0] is well


def test_settings_are_scaled_down_to_their_floors_and_never_up() -> None:
    shown = [
        {"key": "limits.check_in_interval", "value": "10 m"},
        {"key": "limits.receipt_timeout", "value": "2 m"},
        {"key": "limits.settle_time", "value": "200 ms"},
        {"key": "limits.max_crashes", "value": "3"},
        {"key": "notify.quiet", "value": "22:00-07:00"},
        {"key": "limits.longest", "value": "1 h 30 m"},
    ]
    made = scaled(json.dumps({"settings": shown}), 60.0, {"limits.max_crashes": "5"})
    assert made["limits.check_in_interval"] == "10000 ms"
    assert made["limits.receipt_timeout"] == f"{FLOORS['limits.receipt_timeout'][0] * 1000:.0f} ms"
    assert made["limits.settle_time"] == "200 ms"
    assert made["limits.longest"] == "90000 ms"
    assert made["limits.max_crashes"] == "5"
    assert "notify.quiet" not in made


def test_every_floor_names_a_setting_that_there_is() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "orchestrator.cli", "config", "--json"],
        env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    known = {each["key"]: seconds(str(each["value"])) for each in json.loads(shown.stdout)["settings"]}
    assert not [key for key in FLOORS if known.get(key) is None]


def test_what_a_sentence_names_is_found_and_what_is_cut_is_not() -> None:
    text = (
        "branch task/shop, from 8bd1273917\nlog: /tmp/w/state/pm.log.\nproject /tmp/w/pro…\nrun r-8bd12739\n"
    )
    text += "it names files that are not on disk: /tmp/w/ghost.md\n"
    text += "it wants to write /tmp/w/new\n/tmp/w/greet is gone\n    | File /tmp/w/printed.py, line 8\n"
    assert set(names_in(text, STATUS)) == {
        ("ref", "task/shop"),
        ("commit", "8bd1273917"),
        ("file", "/tmp/w/state/pm.log"),
    }
    page = "- dev-20261122-160000.md: dev COMPLETE\n- New artifact: artifacts/code/a.md\n"
    page += "- [x] Done (evidence: x/y.py)\n  ```\n  File /tmp/w/printed.py, line 8\n  ```\n"
    assert set(names_in(page, PROGRESS)) == {
        ("file", "dev-20261122-160000.md"),
        ("file", "artifacts/code/a.md"),
    }


def test_spans_are_merged_and_taken_away() -> None:
    assert merged([(3, 5), (1, 2), (4, 9), (7, 7)]) == [(1, 2), (3, 9)]
    assert without([(0, 10)], [(2, 3), (8, 12)]) == [(0, 2), (3, 8)]
    assert length([(0, 2), (3, 8)]) == 7


def test_every_night_declares_its_needs_and_outcome() -> None:
    """Every night says beforehand what it needs and what must come of it."""
    there = nights()
    assert len(there) >= 16
    assert sum(night.in_ci for night in there.values()) == 2
    for name, night in there.items():
        assert "\n\nPerson: " in night.about, name
        assert "n the morning: " in night.about, name
        assert bool(night.person) is bool(night.planned), name
        assert ("Person: needed" in night.about) is bool(night.person), name
        assert set(night.pins) <= set(pins()), name
