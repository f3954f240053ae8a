import os
import shutil
import signal
import sys
from contextlib import suppress

import pytest

from orchestrator.cli import daemon_startup
from orchestrator.cli.launchd import Launchd
from orchestrator.cli.unit import MARK
from tests.unit.cli.service_manager import Manager
from tests.unit.cli.test_daemon import FAKE

UNIT = "agent-orchestrator.service"
RELOAD = "systemctl --user daemon-reload"
REACH = "systemctl --user show-environment"
ENABLE = f"systemctl --user enable --now {UNIT}"
SHOW = f"systemctl --user show {UNIT} --property=ActiveState,Result,MainPID,ExecMainPID"
LINGER = "loginctl show-user --property=Linger --value"


@pytest.fixture
def manager(house, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    made = Manager.made(house.root / "bin")
    monkeypatch.setenv("PATH", made.path)
    return made


@pytest.fixture
def unit(house):
    return house.root / ".config" / "systemd" / "user" / UNIT


@pytest.fixture
def running(house, manager, daemon):
    """A daemon that runs, and that the service manager calls its own."""
    manager.set(
        "shown", f"MainPID={os.getpid()}\nExecMainPID={os.getpid()}\nActiveState=active\nResult=success\n"
    )
    return daemon


def test_it_writes_the_unit_and_has_it_run_now_and_from_now_on(house, task, manager, unit, running):
    said = task("daemon", "install")
    assert (said.code, said.err) == (0, "")
    assert said.out == f"wrote {unit}\nsystemd runs the daemon, pid {os.getpid()}\n"
    assert manager.calls == [REACH, SHOW, RELOAD, ENABLE, LINGER]
    assert MARK in unit.read_text()
    assert f'Environment="ORCHESTRATOR_HOME={house.state}"' in unit.read_text()
    assert unit.stat().st_mode & 0o777 == 0o600
    assert (house.state / "daemon.log").stat().st_mode & 0o777 == 0o600


def test_repeated_install_changes_nothing(task, manager, unit, running, monkeypatch):
    """Another environment is written again."""
    task("daemon", "install")
    before, _ = unit.stat(), manager.calls
    assert task("daemon", "install").out.startswith(f"{unit} is up to date\n")
    assert (unit.stat().st_ino, unit.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert manager.calls == [REACH, SHOW, RELOAD, ENABLE, LINGER]
    monkeypatch.setenv("ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL", "5 m")
    assert task("daemon", "install").out.startswith(f"rewrote {unit}\n")
    assert manager.calls == [REACH, SHOW, RELOAD, ENABLE, f"systemctl --user restart {UNIT}", LINGER]
    assert '"ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL=5 m"' in unit.read_text()


def test_where_systemd_does_not_answer_it_says_what_to_type(task, manager, unit):
    manager.set("unreachable")
    said = task("daemon", "install")
    assert said.code == 0
    assert said.out == (
        f"wrote {unit}\nsystemd does not answer here; once it does, type:\n  {RELOAD}\n  {ENABLE}\n"
    )
    assert manager.calls == [REACH]


def test_where_there_is_no_systemctl_at_all_too(house, task, manager, unit, monkeypatch):
    monkeypatch.setenv("PATH", str(house.root / "elsewhere"))
    assert f"  {ENABLE}\n" in task("daemon", "install").out
    assert unit.exists()


def test_without_lingering_it_warns(task, manager, running):
    manager.set("linger", "no\n")
    assert task("daemon", "install").out.endswith("to change that: loginctl enable-linger\n")
    manager.unset("linger")
    assert "enable-linger" not in task("daemon", "install").out


def test_unit_names_variables_and_writes_no_secrets(task, manager, unit, running, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_ENVIRONMENT__PASS", "PATH, ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert "not written into it, though agents get it: ANTHROPIC_API_KEY" in task("daemon", "install").out
    assert "sk-secret" not in unit.read_text()


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("kind", ["a file", "a link", "a broken link"])
def test_somebody_elses_file_is_let_alone(house, task, manager, unit, verb, kind):
    unit.parent.mkdir(parents=True)
    other = house.root / "other.service"
    if kind == "a file":
        unit.write_text("[Unit]\n")
    else:
        unit.symlink_to(other)
        if kind == "a link":
            other.write_text(f"# {MARK}\n")
    said = task("daemon", verb)
    assert said.code == 1
    assert f"{unit} was not written by `task daemon install`: move it away" in said.err
    assert os.path.lexists(unit)
    assert other.exists() == (kind == "a link")
    assert manager.calls == []


def test_failed_start_under_the_manager_shows_log_lines(house, task, manager, unit):
    manager.set("broken")
    (house.state / "daemon.log").write_text("no tmux here: install it\n")
    said = task("daemon", "install")
    assert said.code == 6
    assert (
        "systemd could not start the daemon (Job for agent-orchestrator.service failed.): no tmux here"
        in said.err
    )
    assert said.err.count("\n") == 1


def test_uninstall_removes_the_unit_and_ends_its_daemon(house, task, manager, unit, running):
    task("daemon", "install")
    wants = unit.parent / "default.target.wants" / UNIT
    wants.parent.mkdir()
    wants.symlink_to(unit)
    (wants.parent / "other.service").symlink_to(unit.parent / "other.service")
    manager.calls  # noqa: B018 (forget them)
    said = task("daemon", "uninstall")
    assert said.code == 0, said.err
    assert f"removed {unit}\nits daemon (pid {os.getpid()}) was stopped" in said.out
    assert manager.calls == [REACH, SHOW, f"systemctl --user disable --now {UNIT}", RELOAD]
    assert not os.path.lexists(unit)
    assert not os.path.lexists(wants)
    assert os.path.lexists(wants.parent / "other.service")
    assert (house.state / "daemon.stopped").exists()
    again = task("daemon", "uninstall")
    assert (again.code, again.out) == (0, f"nothing to remove: {unit} does not exist\n")


def test_uninstall_without_systemd_says_what_to_type(house, task, manager, unit):
    manager.set("unreachable")
    task("daemon", "install")
    said = task("daemon", "uninstall")
    assert said.out == f"removed {unit}\nsystemd does not answer here; once it does, type:\n  {RELOAD}\n"
    assert not (house.state / "daemon.stopped").exists()


@pytest.fixture
def started(house, manager, python):
    """A service manager that starts a daemon which holds the lock until it is ended, and ends it."""
    script = house.root / "fake_daemon.py"
    script.write_text("import signal; signal.alarm(60)\n" + FAKE)
    manager.set("on-start", f"{python} {script} >>../state/daemon.log 2>&1 & echo MainPID=$! >shown\n")
    yield script
    shown = house.root / "bin" / "shown"
    if shown.exists():
        put_down(int(shown.read_text().partition("=")[2]))


def put_down(pid: int) -> None:
    """End a process, be it a child of ours that nobody waited for, somebody else's, or gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_daemon_that_was_started_by_hand_makes_room(house, task, manager, started, python, monkeypatch):
    monkeypatch.setattr(daemon_startup, "COMMAND", (python, str(started)))
    pid = int(task("daemon", "start").out.rpartition(" ")[2])
    try:
        said = task("daemon", "install")
        assert said.code == 0, said.err
        assert f"the running daemon (pid {pid}) was stopped; running agents go on\n" in said.out
        other = int(said.out.rpartition(" ")[2])
        assert other != pid
        assert task("daemon", "status", "--json").json["pid"] == other
    finally:
        put_down(pid)


def test_once_installed_a_start_is_the_service_managers(house, task, manager, unit, started):
    manager.set("unreachable")
    task("daemon", "install")
    manager.unset("unreachable")
    manager.calls  # noqa: B018 (forget them)
    said = task("daemon", "start")
    assert said.code == 0, said.err
    assert said.out.startswith("daemon started, pid ")
    reset, start = f"systemctl --user reset-failed {UNIT}", f"systemctl --user start {UNIT}"
    assert manager.calls == [REACH, RELOAD, reset, start]
    status = task("daemon", "status")
    assert f"run by systemd: {unit}\n" in status.out
    assert task("daemon", "status", "--json").json["unit"] == str(unit)


def test_once_installed_a_stop_is_the_service_managers_too(house, task, manager, unit, started):
    manager.set("unreachable")
    task("daemon", "install")
    manager.unset("unreachable")
    pid = task("daemon", "start").out.split()[-1]
    manager.set("on-stop", "kill $(sed -n 's/MainPID=//p' shown)\n")
    assert task("daemon", "stop").out.startswith(f"daemon stopped (pid {pid})")
    assert manager.calls[-1] == f"systemctl --user stop {UNIT}"
    assert (house.state / "daemon.stopped").exists()


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
@pytest.mark.parametrize("why", ["it does not answer", "the unit is for another state folder"])
def test_start_without_the_manager_starts_by_itself(house, task, manager, started, python, monkeypatch, why):
    unit = house.root / ".config" / "systemd" / "user" / UNIT
    manager.set("unreachable")
    task("daemon", "install")
    if why != "it does not answer":
        manager.unset("unreachable")
        unit.write_text(unit.read_text().replace(f"HOME={house.state}", "HOME=/another"))
    monkeypatch.setattr(daemon_startup, "COMMAND", (python, str(started)))
    said = task("daemon", "start")
    pid = int(said.out.rpartition(" ")[2])
    try:
        assert (house.state / "daemon.log").read_text().startswith("session True cwd /")
        assert not [call for call in manager.calls if " start " in call]
    finally:
        put_down(pid)


def test_on_macos_it_is_launchd(house, task, manager, daemon, monkeypatch):
    for module in ("service", "install"):
        monkeypatch.setattr(f"orchestrator.cli.{module}.service_here", lambda: Launchd(house.root))
    manager.set("shown", f"agent-orchestrator = {{\n\tstate = running\n\tpid = {os.getpid()}\n}}\n")
    unit = house.root / "Library" / "LaunchAgents" / "agent-orchestrator.plist"
    domain = f"gui/{os.getuid()}"
    label = f"{domain}/agent-orchestrator"
    said = task("daemon", "install")
    assert (said.code, said.err) == (0, "")
    assert said.out == f"wrote {unit}\nlaunchd runs the daemon, pid {os.getpid()}\n"
    assert manager.calls == [
        f"launchctl print {domain}",
        f"launchctl print {label}",
        f"launchctl enable {label}",
        f"launchctl bootstrap {domain} {unit}",
        f"launchctl kickstart {label}",
    ]
    said = task("daemon", "uninstall")
    assert f"removed {unit}\nits daemon (pid {os.getpid()}) was stopped" in said.out
    assert manager.calls[-1] == f"launchctl bootout {label}"
    assert not unit.exists()


def test_where_there_is_neither_it_says_what_to_do_instead(task, manager, monkeypatch):
    monkeypatch.setattr(sys, "platform", "freebsd14")
    said = task("daemon", "install")
    assert said.code == 1
    assert "run `task daemon run`" in said.err


def test_the_fakes_are_what_is_called(manager):
    for name in ("systemctl", "loginctl", "launchctl"):
        assert shutil.which(name) == str(manager.folder / name)
