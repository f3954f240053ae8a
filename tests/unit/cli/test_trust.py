"""`task` believes only what its user's own daemon wrote; what others could have written is named, not shown."""

from __future__ import annotations

import json
import os

import pytest

from tests.another_user import by_root, give_away


@by_root
def test_a_task_of_another_user_is_not_shown_and_the_others_are(house, task):
    give_away(house.task("bad-00000001") / "state.json")
    house.task("good-00000002")
    said = task("list")
    assert "good" in said.out
    assert "damaged" in said.out
    assert "bad-00000001: " in said.err
    assert (
        "state.json belongs to user 12345, not to you (0): look at it, then take it away or `chown` it"
        in said.err
    )
    assert "belongs to user 12345" in task("status", "bad").err


@pytest.mark.parametrize("what", ["tasks/t-00000001", "tasks/t-00000001/state.json"])
def test_a_task_that_others_can_write_is_not_shown(house, task, what):
    house.task("t-00000001")
    (house.state / what).chmod(0o722)
    assert "can be written by others: look at it, then `chmod go-w" in task("status", "t").err


@pytest.mark.parametrize("what", ["tasks/t-00000001", "tasks/t-00000001/state.json"])
def test_a_task_that_is_a_link_is_not_shown(house, task, what):
    house.task("t-00000001")
    path = house.state / what
    path.rename(house.root / "moved")
    path.symlink_to(house.root / "moved")
    assert "is a symbolic link" in task("status", "t").err


def test_a_registry_that_others_can_write_is_not_read(house, task):
    house.task("t-00000001")
    (house.state / "tasks").chmod(0o777)
    for words in (["list"], ["status", "t"], ["questions"]):
        said = task(*words)
        assert said.code == 1
        assert "can be written by others" in said.err


@pytest.mark.parametrize("name", ["daemon.lock", "daemon.beat"])
def test_whom_a_lock_or_beat_of_others_names_is_not_ended(house, task, daemon, name):
    """`task daemon stop` signals the pid that stands in the lock: it must be the daemon's own word."""
    (house.state / name).chmod(0o666)
    said = task("daemon", "stop")
    assert said.code == 1
    assert f"{name} can be written by others" in said.err


def test_a_beat_that_is_a_pipe_is_not_waited_for(house, task):
    house.task("t-00000001")
    os.mkfifo(house.state / "daemon.beat", 0o600)
    os.utime(house.state / "daemon.beat", (1.0, 1.0))
    assert "is not a plain file" in task("status", "t").err


@by_root
def test_journal_of_another_user_is_not_shown(house, task):
    folder = house.task("t-00000001") / "journal"
    folder.mkdir()
    segment = folder / "0000000001.jsonl"
    segment.write_text(json.dumps({"n": 1, "at": 1.0, "fact": {"kind": "checked_in"}, "changes": []}) + "\n")
    assert "check-in" in task("why", "t").out
    give_away(segment)
    said = task("why", "t")
    assert (said.code, said.out) == (1, "")
    assert "belongs to user 12345" in said.err


def test_a_request_goes_into_no_folder_of_others(house, task, daemon):
    home = house.task("t-00000001")
    (home / "requests").mkdir()
    (home / "requests").chmod(0o777)
    said = task("checkin", "t")
    assert said.code != 0
    assert "can be written by others" in said.err
    assert daemon.heard == []


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_a_request_is_its_users_alone_whatever_the_umask(house, task, umask):
    home, before = house.task("t-00000001"), os.umask(umask)
    try:
        assert task("checkin", "t").code == 6
    finally:
        os.umask(before)
    (request,) = (home / "requests").glob("*.json")
    assert request.stat().st_mode & 0o777 == 0o600
    assert request.parent.stat().st_mode & 0o777 == 0o700


def test_an_entry_that_cannot_name_a_task_is_none(house, task):
    house.task("good-00000002")
    (house.state / "tasks" / "\x1b[2J-00000001").mkdir()
    assert "good" in task("list").out
    assert len(task("list").out.splitlines()) == 3
