"""Whatever stands in the daemon's folder, a command says what is wrong: it neither waits nor breaks nor obeys."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.hosts.processes import start_of
from tests.odd_files import make

_HOLD = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); input()"


by_kernel = pytest.mark.skipif(
    not Path("/proc/locks").exists(), reason="only there the kernel tells who holds a lock"
)


def no_daemon(_state):
    raise CommandError(Exit.DOWN, "none is started here")


@pytest.mark.parametrize("what", ["pipe", "folder"])
@pytest.mark.parametrize("words", [("list",), ("daemon", "status"), ("daemon", "stop"), ("daemon", "start")])
def test_a_lock_that_is_no_plain_file_is_named(house, task, alarmed, what, words):
    house.task()
    make(house.state / "daemon.lock", what)
    said = task(*words)
    assert said.code == 1
    assert "daemon.lock is not a plain file: take it away" in said.err


@pytest.mark.parametrize("what", ["pipe", "folder", "sparse"])
@pytest.mark.parametrize("words", [("list",), ("daemon", "status")])
def test_a_beat_that_is_none_is_named(house, task, alarmed, what, words):
    house.task()
    make(house.state / "daemon.beat", what)
    said = task(*words)
    assert said.code == 1
    assert "daemon.beat" in said.err
    assert "take it away" in said.err


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"pid": "many", "beat_at": "now", "started_at": [], "version": 7, "every": {}, "settings": []}',
        '{"beat_at": -Infinity}',
        '{"beat_at": 1e999, "monotonic": 1e400, "started_at": -1e300}',
        '{"pid": true, "beat_at": 99999999999999999999999999}',
        "17",
        "\xff",
    ],
)
@pytest.mark.parametrize(
    "words", [("list",), ("status", "--json"), ("daemon", "status"), ("daemon", "alarm")]
)
def test_a_beat_of_any_shape_is_read_as_far_as_it_is_one(house, task, monkeypatch, text, words):
    monkeypatch.setattr("orchestrator.cli.daemon_startup._detached", no_daemon)
    house.task()
    (house.state / "daemon.beat").write_text(text, encoding="latin-1")
    os.utime(house.state / "daemon.beat", (1, 1))
    said = task(*words)
    assert said.code in {0, 1, 2}
    assert "unforeseen" not in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(("what", "why"), [("sparse", "is larger than"), ("pipe", "is not a plain file")])
def test_a_task_s_state_is_read_within_bounds(house, task, alarmed, what, why):
    house.task("good-00000001")
    state = house.task("bad-00000002") / "state.json"
    state.unlink()
    make(state, what)
    said = task("list")
    assert "good" in said.out
    assert why in said.err


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_a_log_that_is_no_plain_file_keeps_no_one_waiting(house, task, alarmed, what):
    make(house.state / "daemon.log", what)
    said = task("daemon", "start")
    assert said.code == 6
    assert "daemon.log" in said.err


def test_a_daemon_that_only_looks_says_so(house, task, daemon):
    beat = house.state / "daemon.beat"
    beat.write_text(json.dumps(json.loads(beat.read_text()) | {"polling": "no watcher is left\x1b[2J"}))
    assert "no watcher is left" in task("daemon", "status").out
    assert "\x1b" not in task("daemon", "status").out


def test_what_the_heartbeat_says_of_daily_reports_is_shown(house, task, daemon):
    beat = house.state / "daemon.beat"
    plain = json.loads(beat.read_text())
    assert task("daemon", "status", "--json").json["daily_report"] is None
    daily = {"at": "07:00", "file": "", "fault": "the disk\x1b[2J is full"}
    beat.write_text(json.dumps(plain | {"daily": daily}))
    said = task("daemon", "status").out
    assert "daily report at 07:00: none yet\n" in said
    assert "is full" in said
    assert "\x1b" not in said
    beat.write_text(json.dumps(plain | {"daily": {**daily, "file": "/r/2025-11-26.md", "fault": ""}}))
    assert task("daemon", "status", "--json").json["daily_report"] == {
        "at": "07:00",
        "file": "/r/2025-11-26.md",
        "fault": None,
    }
    beat.write_text(json.dumps(plain | {"daily": "soon"}))
    assert "daily report" not in task("daemon", "status").out


def test_what_the_heartbeat_says_of_telemetry_is_shown(house, task, daemon):
    beat = house.state / "daemon.beat"
    plain = json.loads(beat.read_text())
    assert task("daemon", "status", "--json").json["telemetry"] is None
    said = {"traces": "http://h/v1/traces", "metrics": "", "at": None, "fault": "no\x1b[2J collector"}
    beat.write_text(json.dumps(plain | {"telemetry": said}))
    shown = task("daemon", "status").out
    assert "traces to http://h/v1/traces: not yet\n" in shown
    assert ("collector" in shown, "\x1b" in shown) == (True, False)
    well = {"metrics": "/m/a.prom", "at": 1_764_254_100.5, "fault": ""}
    beat.write_text(json.dumps(plain | {"telemetry": said | well}))
    assert task("daemon", "status", "--json").json["telemetry"] == {
        "traces": "http://h/v1/traces",
        "metrics": "/m/a.prom",
        "at": "2025-11-27T14:35:00Z",
        "fault": None,
    }
    assert "traces to http://h/v1/traces, metrics to /m/a.prom: last " in task("daemon", "status").out
    for at in ("soon", -1, 1e300, [1]):
        beat.write_text(json.dumps(plain | {"telemetry": said | {"at": at}}))
        assert task("daemon", "status", "--json").json["telemetry"]["at"] is None
    beat.write_text(json.dumps(plain | {"telemetry": "soon"}))
    assert "traces" not in task("daemon", "status").out


@pytest.fixture
def bystander():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def stranger(house):
    """Some other program that locked the daemon's file."""
    lock = house.state / "daemon.lock"
    lock.touch(0o600)
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


@by_kernel
def test_whom_a_lock_names_that_another_holds_is_not_ended(house, task, stranger, bystander):
    (house.state / "daemon.lock").write_text(f"{bystander.pid}\n")
    assert_stopping_ends_neither(house, task, stranger, bystander)


@by_kernel
def test_foreign_lock_names_no_process_to_kill(house, task, stranger, bystander):
    """The alarm of a daemon that hangs says which process to kill."""
    house.task()
    (house.state / "daemon.lock").write_text(f"{bystander.pid}\n")
    (house.state / "daemon.beat").write_text(
        json.dumps({"pid": bystander.pid, "every": 5.0, "monotonic": 0.0})
    )
    os.utime(house.state / "daemon.beat", (1, 1))
    said = task("daemon", "alarm")
    assert said.code == 1
    assert f"is held by process {stranger.pid}" in said.out
    assert "kill -9" not in said.out


def assert_stopping_ends_neither(house, task, stranger, bystander):
    said = task("daemon", "stop")
    assert said.code == 1
    assert f"is held by process {stranger.pid} and names process {bystander.pid}" in said.err
    assert bystander.poll() is None
    assert stranger.poll() is None


def test_lock_holder_is_known_by_its_start_time(house, task, stranger, bystander, monkeypatch):
    """Where nothing tells who holds a lock, the process is the one that beat, by pid and start time, or nobody."""
    monkeypatch.setattr("orchestrator.cli.lock_holder._LOCKS", "/nowhere")
    monkeypatch.setattr("orchestrator.cli.daemon_startup.STOP_PATIENCE", 0.05)
    (house.state / "daemon.lock").write_text(f"{bystander.pid}\n")
    beat = house.state / "daemon.beat"
    beat.write_text(json.dumps({"pid": bystander.pid, "process": "another start"}))
    assert "no signal was sent" in task("daemon", "stop").err
    assert bystander.poll() is None
    beat.write_text(json.dumps({"pid": bystander.pid, "process": start_of(bystander.pid)}))
    task("daemon", "stop")
    assert bystander.wait(10) == -signal.SIGTERM


@pytest.mark.parametrize("text", ["0", "-1", "9" * 31, "1e3", "²"])
def test_a_lock_that_names_nobody_names_nobody(house, task, stranger, text):
    (house.state / "daemon.lock").write_text(text)
    assert "has not written its pid" in task("daemon", "stop").err
