import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import stop as stop_verb
from tests.polling import wait_until


def _requests(house: Any) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(house.state.glob("tasks/*/requests/*.json"))]


def test_a_check_in_is_asked_for_and_the_reply_shown_and_taken(house, task, daemon):
    house.task()
    said = task("checkin", "tidy")
    assert (said.code, said.out) == (0, "so be it\n")
    assert [(each["verb"], each["arguments"]) for each in daemon.heard] == [("checkin", {})]
    requests = house.home("tidy-0a1b2c3d") / "requests"
    wait_until(lambda: not list(requests.iterdir()))  # the daemon removes the request after it has replied


def test_what_the_daemon_refuses_fails(house, task, daemon):
    house.task()
    daemon.reply = lambda _home, _request: (False, "tidy is stopped: start it again first")
    said = task("checkin", "tidy")
    assert (said.code, said.err) == (1, "task: tidy is stopped: start it again first\n")


def test_while_the_daemon_is_down_the_request_waits(house, task):
    house.task()
    said = task("stop", "tidy")
    assert said.code == 6
    assert "the request stays pending until it runs again: `task daemon start`" in said.err
    (request,) = _requests(house)
    assert set(request) == {"id", "verb", "at", "arguments"}
    assert request["verb"] == "stop"
    (path,) = house.state.glob("tasks/*/requests/*")
    assert path.name == f"{request['id']}.json"
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_check_ins_of_cron_do_not_pile_up(house, task):
    house.task()
    assert [task("checkin", "tidy").code for _ in range(3)] == [6, 6, 6]
    assert len(_requests(house)) == 1


def test_a_silent_daemon_is_not_waited_for_for_ever(house, task, daemon, impatient):
    house.task()
    daemon.look = lambda: None
    said = task("checkin", "tidy")
    assert said.code == 6
    assert "did not reply" in said.err


def test_a_damaged_state_does_not_keep_a_task_from_being_stopped(house, task, daemon):
    (house.home("tidy-0a1b2c3d") / "state.json").write_text("{")

    def reply(_home, _request):
        house.task(state="stopped", agents=[])
        return True, "tidy is stopped"

    daemon.reply = reply
    assert task("stop", "tidy").code == 0


def test_stop_waits_for_the_agents_to_end_and_names_them(house, task, daemon):
    house.task()
    reads = []

    def reply(_home, _request):
        house.task(state="stopped")
        return True, "tidy is stopped; ending dev"

    def look(old=daemon.look):
        old()
        reads.append(1)
        if daemon.heard and len(reads) > 5:
            house.task(state="stopped", agents=[house.agent(state="gone")])

    daemon.reply, daemon.look = reply, look
    said = task("stop", "tidy")
    assert said.code == 0
    assert "tidy is stopped; ended: dev\n" in said.out
    assert f"go on later: task start tidy --project {house.project}" in said.out


def test_stop_names_an_agent_that_began_just_before(house, task, daemon, monkeypatch):
    """ "ending review", said the daemon, and "no agent was running" the command, which had looked a moment earlier."""
    house.task(agents=[])
    looks, live = [], stop_verb._live

    def reply(_home, _request):
        house.task(state="stopped", agents=[house.agent(name="review")])
        return True, "tidy is stopped; ending review"

    def looked(record):
        looks.append(live(record))
        if looks[-1]:
            house.task(state="stopped", agents=[house.agent(name="review", state="gone")])
        return looks[-1]

    daemon.reply = reply
    monkeypatch.setattr(stop_verb, "_live", looked)
    assert "tidy is stopped; ended: review\n" in task("stop", "tidy").out


def test_a_task_that_was_complete_is_not_said_to_go_on(house, task, daemon):
    house.task(state="complete", agents=[])
    said = task("stop", "tidy")
    assert said.code == 0
    assert "tidy is complete" in said.out
    assert "task start" not in said.out


def test_a_stop_that_takes_too_long_says_where_to_look(house, task, daemon, monkeypatch):
    house.task(state="stopped")
    monkeypatch.setattr(stop_verb, "PATIENCE", 0.05)
    said = task("stop", "tidy")
    assert said.code == 1
    assert "`task status tidy`" in said.err


def test_order_and_spawn_ask_for_the_same(house, task, daemon):
    house.task()
    (house.project / "tasks" / "tidy" / "handoffs").mkdir(parents=True)
    (house.project / "tasks" / "tidy" / "handoffs" / "mine.md").write_text("# Handoff\nDo it.\n")
    assert task("order", "tidy", "dev", "Do", "it.").code == 0
    assert task("spawn", "tidy", "dev", "--instructions", "Do it.").code == 0
    assert task("spawn", "tidy", "dev", "--handoff", "handoffs/mine.md").code == 0
    folder = str(house.project / "tasks" / "tidy")
    assert task("spawn", "dev", "--task-dir", folder, "--handoff", "handoffs/mine.md").code == 0
    assert {each["verb"] for each in daemon.heard} == {"spawn"}
    assert [each["arguments"]["instructions"] for each in daemon.heard] == [
        "Do it.",
        "Do it.",
        "# Handoff\nDo it.\n",
        "# Handoff\nDo it.\n",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["spawn", "tidy", "dev"], "--handoff"),
        (["spawn", "tidy", "--instructions", "x"], "name the task and one agent"),
        (["spawn", "tidy", "../dev", "--instructions", "x"], "no agent name"),
        (["order", "tidy", "-", "x"], "no agent name"),
        (["spawn", "tidy", "dev", "--handoff", "nowhere.md"], "nowhere.md cannot be opened"),
        (["spawn", "tidy", "dev", "--handoff", "binary.md"], "is not UTF-8"),
        (["spawn", "tidy", "dev", "--handoff", "/dev/zero"], "/dev/zero is not a plain file"),
        (["spawn", "dev", "--task-dir", "/tmp", "--instructions", "x"], "is not a task's folder"),
        (
            ["spawn", "tidy", "dev", "--remote", "a@b:/c", "--handoff", "x"],
            "`AGENT.cwd: user@host:/path`",
        ),
        (["order", "tidy", "dev", "x" * 2_000_000], "too long to send"),
    ],
)
def test_what_cannot_be_spawned_is_refused(house, task, words, why):
    house.task()
    Path("binary.md").write_bytes(b"\xff\xff")
    said = task(*words)
    assert said.code == 2
    assert why in said.err
    assert said.err.count("\n") == 1
    assert _requests(house) == []


def test_a_reply_that_somebody_else_took_is_not_waited_for(house, task, daemon):
    house.task()

    def look():
        for path in house.state.glob("tasks/*/requests/*.json"):
            path.unlink()

    daemon.look = look
    assert "the daemon read the request" in task("checkin", "tidy").out
