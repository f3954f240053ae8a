import os
import signal
import textwrap
import time

import pytest

from orchestrator.cli import daemon_startup

FAKE = textwrap.dedent("""
    import fcntl, json, os, signal, sys, time
    from orchestrator.hosts.processes import start_of
    state = os.environ["ORCHESTRATOR_HOME"]
    lock = open(f"{state}/daemon.lock", "a+")
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.truncate(0); lock.write(f"{os.getpid()}\\n"); lock.flush()
    now = time.time()
    with open(f"{state}/daemon.beat.tmp", "w") as beat:
        said = {"pid": os.getpid(), "process": start_of(os.getpid()), "version": "0.1.0"}
        json.dump(said | {"started_at": now, "beat_at": now}, beat)
    os.rename(f"{state}/daemon.beat.tmp", f"{state}/daemon.beat")
    print("session", os.getsid(0) == os.getpid(), "cwd", os.getcwd(), "tmux", "TMUX" in os.environ, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGALRM})
""")


@pytest.fixture
def fake(house, python, monkeypatch):
    """A daemon that holds the lock until SIGTERM; it ends by itself after a minute at most."""
    script = house.root / "fake_daemon.py"
    script.write_text("import signal; signal.alarm(60)\n" + FAKE)
    monkeypatch.setattr(daemon_startup, "COMMAND", (python, str(script)))
    return script


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_start_status_and_stop(house, task, fake, monkeypatch):
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    said = task("daemon", "start")
    assert said.code == 0, said.err
    pid = int(said.out.rpartition(" ")[2])
    try:
        assert (house.state / "daemon.log").read_text() == "session True cwd / tmux False\n"
        assert (house.state / "daemon.log").stat().st_mode & 0o777 == 0o600
        assert task("daemon", "start").out == f"daemon is already running, pid {pid}\n"
        house.task()
        status = task("daemon", "status", "--json").json
        assert {key: status[key] for key in ("up", "pid", "version", "tasks")} == {
            "up": True,
            "pid": pid,
            "version": "0.1.0",
            "tasks": 1,
        }
        assert set(status) <= set(task("help", "json").out.split())
        assert f"pid {pid}, version 0.1.0" in task("daemon", "status").out
        stopped = task("daemon", "stop").out
        assert f"daemon stopped (pid {pid})" in stopped
        assert "one agent goes on" in stopped
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert task("daemon", "status", "--json").json["up"] is False
    assert task("daemon", "stop").out == "the daemon is not running\n"


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_agents_go_on_only_where_some_run(house, task, fake):
    """ "running agents go on" was said also where none ran."""
    pid = int(task("daemon", "start").out.rpartition(" ")[2])
    house.task(agents=[house.agent(state="gone")])
    try:
        said = task("daemon", "stop").out
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert "no agent runs" in said
    assert "go on" not in said


def test_status_of_a_daemon_that_hangs_says_what_helps(house, task, daemon):
    """It said "see `task daemon status`", which is what had been typed."""
    daemon.beat(time.time() - 600)
    said = task("daemon", "status").out
    assert "its last heartbeat was" in said
    assert "task daemon status" not in said
    assert f"kill -9 {os.getpid()}" in said


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_one_that_does_not_stop_is_named(house, task, fake, monkeypatch):
    fake.write_text(
        fake.read_text()
        .replace("sigwait({signal.SIGTERM, ", "sigwait({")
        .replace("import signal;", "import signal; signal.signal(15, signal.SIG_IGN);", 1)
    )
    pid = int(task("daemon", "start").out.rpartition(" ")[2])
    try:
        monkeypatch.setattr(daemon_startup, "STOP_PATIENCE", 0.05)
        said = task("daemon", "stop")
        assert said.code == 1
        assert f"the daemon (pid {pid}) still runs" in said.err
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_daemon_that_ends_at_once_shows_its_last_log_lines(house, task, fake):
    fake.write_text("import sys; sys.exit('no tmux here: install it')")
    said = task("daemon", "start")
    assert said.code == 6
    assert "ended at once (exit 1): no tmux here: install it (see its log: " in said.err
    assert said.err.count("\n") == 1


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_one_that_does_not_come_up_is_not_waited_for_for_ever(house, task, python, monkeypatch):
    monkeypatch.setattr(
        daemon_startup, "COMMAND", (python, "-c", "import signal; signal.alarm(5); signal.pause()")
    )
    monkeypatch.setattr(daemon_startup, "START_PATIENCE", 0.2)
    said = task("daemon", "start")
    assert said.code == 6
    assert "was not up after 0 s: it printed nothing" in said.err


def test_the_pid_is_believed_only_while_the_lock_is_held(house, task):
    (house.state / "daemon.lock").write_text(f"{os.getpid()}\n")
    assert task("daemon", "stop").out == "the daemon is not running\n"


def test_what_there_is_to_do_is_said(task):
    said = task("daemon", "dance")
    assert said.code == 2
    assert "'run', 'start', 'status', 'stop', 'install', 'uninstall', 'alarm'" in said.err
