"""`task notify`: the channels tried, and what is told shown."""

import json
import time
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.notification import Notification, NotificationRule
from orchestrator.notifications.envelope import Envelope, Receipt, Standing
from orchestrator.notifications.spool import DELIVERED, FAILED, Spool
from tests.unit.cli.conftest import AT
from tests.webhook import a_webhook


@pytest.fixture
def channels(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")

    def are(*texts):
        monkeypatch.setenv("ORCHESTRATOR_NOTIFY__CHANNELS", json.dumps(texts))

    return are


@pytest.fixture
def spool(house):
    made = Spool(DiskFiles(), house.state / "notifications")
    asked = Notification(
        "question-1", NotificationRule.QUESTION, "shop asks: q1", "Keep it?", AT, "shop-1", "q1"
    )
    made.put(Envelope(asked))
    done = Notification(
        "complete-2", NotificationRule.COMPLETE, "tidy is \x1b[31mcomplete", "all done", AT + 60, "tidy-1"
    )
    made.lay_aside(Envelope(done, {"phone": Receipt(Standing.DELIVERED, 1, (AT + 61,))}), DELIVERED)
    dead = Notification("daemon-3", NotificationRule.DAEMON, "the daemon is up again", "it died", AT + 120)
    given_up = Receipt(Standing.GIVEN_UP, 12, (AT + 121,), reason="given up after 12 tries: HTTP 500")
    made.lay_aside(Envelope(dead, {"phone": given_up}), FAILED)
    return made


def test_a_test_says_of_each_channel_what_became_of_it(task, channels, house):
    with a_webhook() as takes, a_webhook(500) as refuses:
        channels(f"{takes.url} name=good", f"{refuses.url} name=bad")
        said = task("notify", "test")
        assert said.code == 1
        assert said.out == "good (json://…): sent\nbad (json://…): not sent: HTTP 500\n"
        assert takes.heard[0]["title"] == "agent-orchestrator: a test"
        assert task("notify", "test", "--channel", "good").code == 0
        assert len(refuses.heard) == 1
        shape = task("notify", "test", "--channel", "bad", "--json").json
    assert shape == {
        "channels": [{"name": "bad", "scheme": "json", "result": "refused", "reason": "HTTP 500"}]
    }
    assert not (house.state / "notifications").exists()


def test_hanging_channel_is_unknown_after_its_timeout(task, channels, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_NOTIFY__TIMEOUT", "4 s")
    with a_webhook("hang") as hook:
        channels(hook.url)
        said = task("notify", "test")
    assert said.code == 1
    assert said.out == "json (json://…): not known: no answer in time\n"


def test_with_an_empty_list_it_says_how_to_set_one(task, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_NOTIFY__CHANNELS", "[]")
    said = task("notify", "test")
    assert said.code == 2
    assert "no channel is set: notify.channels is [], which turns notifications off" in said.err
    assert "Without any channel set" not in said.err, "that is of settings without the list"
    assert 'channels = ["tmux://"' in said.err


def test_a_channel_that_there_is_not(task, channels):
    channels("json://a name=one", "json://b name=two")
    said = task("notify", "test", "--channel", "three")
    assert (said.code, said.err) == (2, "task: there is no channel 'three'; known channels: one, two\n")


def test_empty_list_of_notifications(task):
    assert task("notify", "list").out == "there were no notifications yet\n"
    assert task("notify", "list", "--json").json == {"notifications": []}


def test_list_shows_waiting_failed_and_delivered(task, spool, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("orchestrator.cli.notifying.columns", lambda: 200)
    rows = task("notify", "list").out.splitlines()
    assert rows[0].split() == ["WHEN", "RULE", "STATE", "WHAT", "HOW"]
    assert ["daemon" in rows[1], "complete" in rows[2], "question" in rows[3]] == [True] * 3
    assert "failed" in rows[1]
    assert "phone: given up" in rows[1]
    assert "(given up after 12 tries: HTTP 500)" in rows[1]
    assert "delivered" in rows[2]
    assert "\x1b" not in rows[2]
    assert rows[3].endswith("waits for the daemon")


def test_the_list_says_until_when_something_waits_and_why(task, spool, channels, monkeypatch):
    channels("json://127.0.0.1:1 name=phone")
    hour = time.localtime().tm_hour
    quiet = f"{(hour - 1) % 24:02}:00-{(hour + 2) % 24:02}:00"
    monkeypatch.setenv("ORCHESTRATOR_NOTIFY__QUIET", quiet)
    shape = task("notify", "list", "--json").json["notifications"]
    assert [each["state"] for each in shape] == ["failed", "delivered", "waiting"]
    (wait,) = shape[2]["waiting_for"]
    assert (wait["channel"], wait["why"]) == ("phone", f"quiet hours, {quiet}")
    assert shape[2]["question"] == "q1"
    assert shape[1]["channels"] == [
        {"name": "phone", "state": "delivered", "tries": 1, "last_try": "2025-11-27T14:36:01Z", "reason": ""}
    ]


def test_looking_changes_nothing(task, spool, house):
    (house.state / "notifications" / "new" / "junk.json").write_text("{")
    before = {path: path.read_bytes() for path in Path(house.state).rglob("*.json")}
    assert task("notify", "list").code == 0
    assert {path: path.read_bytes() for path in Path(house.state).rglob("*.json")} == before


def test_envelope_writable_by_others_is_not_believed(task, spool, house):
    (envelope,) = (house.state / "notifications" / "new").iterdir()
    envelope.chmod(0o666)
    assert "question-1" not in task("notify", "list", "--json").out
    envelope.chmod(0o600)
    assert "question-1" in task("notify", "list", "--json").out


def test_the_configuration_shows_no_address(task, channels):
    channels("tgram://123456:AAsecretTOKEN/42 name=phone")
    said = task("config")
    assert "secret" not in said.out
    settings = {each["key"]: each["value"] for each in task("config", "--json").json["settings"]}
    assert settings["notify.channels"] == '["tgram://… name=phone"]'


def test_notification_without_channel_is_shown_as_not_sent(task, house, monkeypatch):
    monkeypatch.setattr("orchestrator.cli.notifying.columns", lambda: 200)
    news = Notification("complete-1", NotificationRule.COMPLETE, "tidy is complete", "", 1.0)
    Spool(DiskFiles(), house.state / "notifications").lay_aside(
        Envelope(news, {}, "no channel is set for it"), DELIVERED
    )
    row = task("notify", "list").out.splitlines()[1]
    assert "not sent" in row
    assert row.endswith("no channel is set for it")
    assert task("notify", "list", "--json").json["notifications"][0]["state"] == "not_sent"


def test_tasks_of_one_name_are_listed_by_id(task, spool, house, monkeypatch):
    """Two rows said `shop asks: q1`, of two projects."""
    monkeypatch.setenv("COLUMNS", "200")
    house.task("shop-0000000a")
    asked = Notification(
        "q-9", NotificationRule.QUESTION, "shop asks: q1", "Keep?", AT, "shop-0000000a", "q1"
    )
    spool.put(Envelope(asked))
    assert "  shop asks: q1" in task("notify", "list", "--all").out
    house.task("shop-0000000b", project="/other")
    assert "  shop-0000000a asks: q1" in task("notify", "list", "--all").out
