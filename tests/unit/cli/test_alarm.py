import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from orchestrator.cli import alarm as alarm_module
from orchestrator.cli import daemon_startup
from tests.polling import wait_until
from tests.unit.cli.service_manager import Manager
from tests.unit.cli.test_daemon import FAKE
from tests.webhook import a_webhook

DEAD = 999_999_999
"""No process has this number: Linux ends at 2^22, macOS at 99,999."""


@pytest.fixture
def beat(house):
    """Write a daemon's last beat, so and so many seconds ago by the one clock and by the other."""

    def write(ago, *, pid=DEAD, slept=0.0, **other):
        now = time.time()
        said = {
            "pid": pid,
            "started_at": now - ago - 60,
            "beat_at": now - ago,
            "version": "0.1.0",
            "every": 5.0,
        }
        said |= {"monotonic": time.monotonic() - ago + slept} | other
        path = house.state / "daemon.beat"
        path.write_text(json.dumps(said))
        os.utime(path, (now - ago, now - ago))

    return write


@pytest.fixture
def spare(house, python, monkeypatch):
    """What is started in place of a daemon: it holds the lock until it is ended, a minute at most."""
    script = house.root / "fake_daemon.py"
    script.write_text("import signal; signal.alarm(60)\n" + FAKE)
    monkeypatch.setattr(daemon_startup, "COMMAND", (python, str(script)))
    yield script
    pid = (house.state / "daemon.lock").read_text().strip() if (house.state / "daemon.lock").exists() else ""
    if pid and int(pid) != os.getpid():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(int(pid), 0)


STARTS = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")


@STARTS
def test_dead_daemon_is_restarted_before_the_verb(house, task, beat, spare):
    house.task()
    beat(600)
    said = task("status", "tidy")
    assert said.code == 0
    assert said.err.startswith("task: the daemon is dead: its last heartbeat was at ")
    assert said.err.count("\n") == 1
    assert "tidy is at work; it was restarted, pid " in said.err
    assert "daemon up" in said.out
    assert task("status", "tidy").err == ""
    assert str(task("daemon", "status", "--json").json["pid"]) == said.err.split()[-1]


@STARTS
@pytest.mark.parametrize("ago", [0, 10, 60])
def test_one_that_was_killed_is_started_again_at_once(house, task, beat, spare, ago):
    """Its lock is free: nobody needs to wait for beats that will not come."""
    house.task()
    for _ in range(2):
        (house.state / "daemon.lock").write_text(f"{DEAD}\n")
        (house.state / "daemon.lock").chmod(0o600)
        beat(ago)
        said = task("status", "tidy")
        assert "it was restarted, pid " in said.err
        pid = int(said.err.split()[-1])
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_one_that_was_killed_and_may_not_be_started_is_said_late(house, task, beat, spare, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    (house.state / "daemon.lock").write_text(f"{DEAD}\n")
    (house.state / "daemon.lock").chmod(0o600)
    beat(60)
    assert task("status", "tidy").err == ""
    beat(130)
    assert "the daemon is dead" in task("status", "tidy").err


def test_one_that_was_stopped_a_moment_ago_stays_so(house, task, beat, spare):
    house.task()
    (house.state / "daemon.lock").write_text(f"{DEAD}\n")
    (house.state / "daemon.lock").chmod(0o600)
    (house.state / "daemon.stopped").touch()
    beat(5)
    assert task("status", "tidy").err == ""


def test_a_daemon_that_beats_is_not_spoken_of(house, task, beat, spare):
    house.task()
    beat(10)
    assert task("status", "tidy").err == ""
    assert task("daemon", "alarm").code == 0
    assert not (house.state / "daemon.log").exists()


@pytest.mark.parametrize("ago", [16, 60, 119])
def test_short_of_the_alarm_nothing_is_said(house, task, beat, spare, ago):
    house.task()
    beat(ago)
    assert task("list").err == ""


def test_where_there_never_was_a_daemon_nothing_is_said(house, task, spare):
    house.task()
    assert task("status", "tidy").err == ""
    assert task("daemon", "alarm").code == 0


@pytest.fixture
def said_to_an_agent(task, monkeypatch):
    """What is said where nothing may be done about it."""

    def said():
        with monkeypatch.context() as inside:
            inside.setenv("ORCHESTRATOR_RUN", "dev-run")
            return task("list").err

    return said


GONE = [{"name": "dev", "state": "gone"}]


@pytest.mark.parametrize(
    ("reported", "alarms"),
    [
        ({"state": "running", "agents": []}, True),
        ({"state": "waiting"}, True),
        ({"state": "stopped"}, True),
        ({"state": "waiting", "agents": GONE}, False),
        ({"state": "stopped", "agents": GONE}, False),
        ({"state": "complete", "agents": GONE}, False),
        ({"state": "failed", "agents": []}, False),
        ({"version": 99}, True),
    ],
)
def test_it_is_about_tasks_in_which_something_could_go_on(house, said_to_an_agent, beat, reported, alarms):
    house.task("other-00000001", state="complete", agents=[])
    house.task(**reported)
    beat(600)
    assert bool(said_to_an_agent()) == alarms


def test_a_request_that_waits_counts_and_a_reply_does_not(house, said_to_an_agent, beat):
    beat(600)
    home = house.task(state="waiting", agents=GONE)
    (home / "requests").mkdir()
    (home / "requests" / "1.reply.json").write_text("{}")
    (home / "requests" / ".2.json").write_text("{}")
    assert said_to_an_agent() == ""
    (home / "requests" / "1.json").write_text("{}")
    assert "tidy is at work" in said_to_an_agent()
    house.asked_for("new-00000001")
    assert "new, tidy are at work" in said_to_an_agent()


def test_many_tasks_are_counted_not_listed(house, said_to_an_agent, beat):
    beat(600)
    for number in range(5):
        house.task(f"t{number}-0000000{number}")
    assert "t0, t1, t2 and 2 more are at work" in said_to_an_agent()


@STARTS
def test_daemon_stopped_on_purpose_is_not_restarted(house, task, beat, spare):
    house.task()
    beat(600)
    assert task("daemon", "stop").out == "the daemon is not running\n"
    assert task("status", "tidy").err == ""
    assert task("daemon", "alarm").code == 0
    assert task("daemon", "start").code == 0
    assert not (house.state / "daemon.stopped").exists()


def test_inside_a_run_it_is_only_said(house, said_to_an_agent, beat, spare):
    house.task()
    beat(600)
    said = said_to_an_agent()
    assert said.endswith("tidy is at work\n")
    assert not (house.state / "daemon.log").exists()


def test_it_is_only_said_if_that_is_how_it_is_set(house, task, beat, spare, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    beat(600)
    assert task("status", "tidy").err.endswith("; `task daemon start` starts it again\n")
    assert not (house.state / "daemon.log").exists()


def test_the_alarm_can_be_set(house, task, beat, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    for alarm, ago, said in (
        ("30 s", 29, False),
        ("30 s", 31, True),
        ("1 h", 3500, False),
        ("1 h", 3700, True),
    ):
        monkeypatch.setenv("ORCHESTRATOR_DAEMON__ALARM", alarm)
        beat(ago)
        assert bool(task("list").err) == said, (alarm, ago)


def test_some_beats_may_always_be_missed(house, task, beat, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    beat(170, every=60.0)
    assert task("list").err == ""
    beat(190, every=60.0)
    assert task("list").err


def test_failed_restart_is_reported_and_not_repeated(house, task, beat, spare):
    """Its last log lines are shown."""
    spare.write_text("import sys; sys.exit('no tmux here: install it')")
    house.task()
    beat(600)
    said = task("status", "tidy")
    assert said.code == 0
    assert "Rename it" in said.out
    assert "restarting it failed: the daemon ended at once (exit 1): no tmux here" in said.err
    assert said.err.count("\n") == 1
    assert f"restarting it failed: see {house.state}/daemon.log" in task("status", "tidy").err
    assert (house.state / "daemon.log").read_text().count("no tmux here") == 1
    os.utime(house.state / "daemon.restarted", (time.time() - 130, time.time() - 130))
    assert "no tmux here" in task("status", "tidy").err


def test_one_that_hangs_is_named_with_what_to_do_and_not_touched(house, task, beat, daemon, spare):
    house.task()
    beat(600, pid=os.getpid())
    said = task("status", "tidy")
    assert said.code == 0
    assert f"the daemon (pid {os.getpid()}) hangs: its last heartbeat was at " in said.err
    assert f"tidy is at work; `kill -9 {os.getpid()}`, then `task daemon start`" in said.err
    assert not (house.state / "daemon.log").exists()


def test_a_machine_that_slept_is_no_daemon_that_hangs(house, task, beat, daemon):
    house.task()
    beat(30_000, pid=os.getpid(), slept=29_999)
    assert task("status", "tidy").err == ""


def test_a_machine_that_was_started_anew_has_no_daemon(house, said_to_an_agent, beat):
    house.task()
    beat(60, slept=10_000_000)
    assert "the daemon is dead" in said_to_an_agent()


def test_a_clock_that_was_set_back_hides_nothing(house, said_to_an_agent, beat):
    house.task()
    beat(-3600, monotonic=time.monotonic() - 600)
    assert "the daemon is dead" in said_to_an_agent()


def test_one_that_is_just_starting_is_given_time(house, task, beat, daemon):
    house.task()
    beat(600)
    assert task("status", "tidy").err == ""
    os.utime(house.state / "daemon.lock", (time.time() - 600, time.time() - 600))
    assert f"the daemon (pid {os.getpid()}) hangs" in task("status", "tidy").err


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"monotonic": "x", "every": []}'])
def test_a_beat_that_does_not_read_counts_by_its_file(house, task, beat, monkeypatch, content):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    path = house.state / "daemon.beat"
    for ago, alarms in ((60, False), (600, True)):
        path.write_bytes(content)
        os.utime(path, (time.time() - ago, time.time() - ago))
        said = task("list")
        assert (said.code, bool(said.err)) == (0, alarms)


def test_failed_restart_reports_invalid_settings(house, task, beat, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL", "never")
    house.task()
    beat(600)
    said = task("status", "tidy")
    assert said.code == 0
    assert "limits.check_in_interval is 'never'" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["help"], ["daemon", "stop"], ["daemon", "uninstall"], ["--version"]], ids=" ".join
)
def test_some_verbs_are_not_about_tasks_at_work(house, task, beat, spare, words):
    house.task()
    beat(600)
    said = task(*words)
    assert (said.code, said.err) == (0, "")
    assert not (house.state / "daemon.log").exists()


def test_what_is_asked_wrongly_starts_nothing(house, task, beat, spare):
    house.task()
    beat(600)
    assert task("status", "--wrong").err.count("\n") == 1
    assert not (house.state / "daemon.log").exists()


@STARTS
def test_for_cron_there_is_one_line_and_an_exit_code(house, task, beat, spare):
    house.task()
    beat(600)
    said = task("daemon", "alarm")
    assert (said.code, said.err) == (1, "")
    assert said.out.startswith("the daemon is dead: ")
    assert said.out.count("\n") == 1
    again = task("daemon", "alarm")
    assert (again.code, again.out, again.err) == (0, "", "")


def test_a_fault_of_the_alarm_itself_is_not_the_verbs(house, task, beat, monkeypatch):
    house.task()
    beat(600)
    monkeypatch.setattr(alarm_module, "_at_work", lambda task: 1 / 0)
    said = task("list")
    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize(
    ("shown", "alarms"),
    [
        (f"ActiveState=inactive\nResult=success\nMainPID=0\nExecMainPID={DEAD}\n", False),
        (f"ActiveState=failed\nResult=signal\nMainPID=0\nExecMainPID={DEAD}\n", True),
        ("ActiveState=inactive\nResult=success\nMainPID=0\nExecMainPID=7\n", True),
        ("", True),
    ],
    ids=["told to end", "failed", "another one was told to end", "unreachable"],
)
def test_daemon_stopped_by_its_service_manager_stays_down(
    house, task, beat, spare, monkeypatch, shown, alarms
):
    manager = Manager.made(house.root / "bin")
    monkeypatch.setenv("PATH", manager.path)
    manager.set("unreachable")
    task("daemon", "install")
    manager.unset("unreachable")
    manager.set("shown", shown)
    manager.set("broken")
    house.task()
    beat(600)
    said = task("status", "tidy").err
    assert bool(said) == alarms
    if alarms:
        assert "restarting it failed: systemd could not start the daemon (Job for" in said


def test_where_the_daemon_beats_nothing_more_is_imported(house, beat):
    house.task()
    beat(1)
    asked = (
        "import sys\nfrom orchestrator.cli.main import main\ncode = main(['status', 'tidy', '--json'])\n"
        "print(code, *sorted(name for name in sys.modules if name.startswith('orchestrator')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    parts = [
        "",
        ".cli",
        ".layout",
        ".own_files",
        *(f".layout.{each}" for each in ("daemon_files", "paths", "pm_files", "shared_files", "user")),
        *(f".cli.{each}" for each in ("beat", "branch_now", "exits", "main", "parser", "screen")),
    ]
    parts += [*(f".cli.{each}" for each in ("state_file", "status", "tasks"))]
    assert done.stderr.split() == ["0", *sorted(f"orchestrator{part}" for part in parts)]


# Told wherever the user asked ---------------------------------------------------------------------


@pytest.fixture
def hook(monkeypatch):
    with a_webhook() as made:
        monkeypatch.setenv("no_proxy", "*")
        monkeypatch.setenv("ORCHESTRATOR_NOTIFY__CHANNELS", f"{made.url} name=phone")
        yield made


def is_over(house):
    """Wait until the news was laid aside: then the process that told it is about to end."""
    return wait_until(
        lambda: list((house.state / "notifications" / "delivered").glob("daemon-*.json")), within=20
    )


@STARTS
def test_dead_daemon_is_notified_once_per_incident(house, task, beat, spare, hook, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    beat(600)
    assert "the daemon is dead" in task("list").err
    is_over(house)
    assert hook.texts() == ["the daemon is dead"]
    assert "`task daemon start` starts it again" in hook.heard[0]["message"]
    assert "the daemon is dead" in task("list").err
    assert len(list((house.state / "notifications").rglob("*.json"))) == 1
    assert len(hook.heard) == 1


@STARTS
def test_hanging_daemon_is_reported(house, task, beat, daemon, hook):
    house.task()
    daemon.end()
    beat(600, pid=os.getpid())
    with (house.state / "daemon.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        os.utime(house.state / "daemon.lock", (1, 1))
        assert "hangs" in task("list").err
    is_over(house)
    assert hook.texts() == ["the daemon hangs"]


@STARTS
def test_restarted_daemon_notifies_by_itself(house, task, beat, spare, hook):
    house.task()
    beat(600)
    assert "it was restarted" in task("list").err
    assert not (house.state / "notifications").exists()


@pytest.mark.parametrize("who", ["an agent", "nobody"])
def test_verb_inside_a_run_sends_no_alarm(house, task, beat, monkeypatch, hook, who):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    if who == "an agent":
        monkeypatch.setenv("ORCHESTRATOR_RUN", "dev-run")
    else:
        monkeypatch.delenv("ORCHESTRATOR_NOTIFY__CHANNELS")
    house.task()
    beat(600)
    assert "the daemon is dead" in task("list").err
    assert not (house.state / "notifications").exists()
