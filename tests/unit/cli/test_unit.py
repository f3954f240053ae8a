"""The units, as the service managers themselves would read them."""

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.exits import CommandError
from orchestrator.cli.launchd import Launchd
from orchestrator.cli.systemd import Systemd
from orchestrator.cli.unit import MARK, left_out
from orchestrator.shipped import shipped

ODD = "/home/an odd/%h $HOME \"quoted\" 'it' \\n & <b>/ünï"
ENVIRON = {
    "HOME": "/home/user",
    "PATH": "relative:/usr/local/bin::/usr/bin:.",
    "LANG": "C.UTF-8",
    "LC_TIME": "en_GB.UTF-8",
    "TMUX": "/tmp/tmux-0/default,1,0",
    "TMUX_TMPDIR": "/tmp/of mine",
    "XDG_CONFIG_HOME": "/home/user/.config",
    "ORCHESTRATOR_CONFIG": "/home/user/o.toml",
    "ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL": "5 m",
    "ORCHESTRATOR_HOME": "/elsewhere",
    "ORCHESTRATOR_RUN": "r-1",
    "ORCHESTRATOR_DEBUG": "1",
    "ANTHROPIC_API_KEY": "sk-secret",
    "LD_PRELOAD": "/evil.so",
    "PYTHONPATH": "/some/where",
}
KEPT = {
    "PATH": "/usr/local/bin:/usr/bin",
    "LANG": "C.UTF-8",
    "LC_TIME": "en_GB.UTF-8",
    "TMUX_TMPDIR": "/tmp/of mine",
    "XDG_CONFIG_HOME": "/home/user/.config",
    "ORCHESTRATOR_CONFIG": "/home/user/o.toml",
    "ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL": "5 m",
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The command beside a Python in a folder with an odd name."""
    folder = tmp_path / "an odd $folder %n"
    folder.mkdir()
    (folder / "agent-orchestrator").write_text("#!/bin/sh\n")
    (folder / "agent-orchestrator").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return str(folder / "agent-orchestrator")


def settings_of(text: str) -> dict[str, list[str]]:
    """Return what a systemd unit sets, by key."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def unquoted(value: str) -> list[str]:
    """Return the words of a value as systemd reads them: quotes, then specifiers."""
    return [word.replace("%%", "%") for word in shlex.split(value)]


def test_systemd_unit_describes_the_daemon_and_its_watchdog(program):
    text = Systemd(Path("/home/user")).rendered("/state", ENVIRON)
    assert MARK in text.splitlines()[0]
    said = settings_of(text)
    assert [unquoted(each) for each in said["ExecStart"]] == [[program, "daemon", "run"]]
    assert said["Environment"][0] == '"ORCHESTRATOR_HOME=/state"'
    given = dict(unquoted(each)[0].split("=", 1) for each in said["Environment"])
    assert given == {"ORCHESTRATOR_HOME": "/state", **KEPT}
    for key, value in {
        "Type": "notify",
        "KillMode": "process",
        "Delegate": "yes",
        "Restart": "on-failure",
        "UMask": "0077",
        "OOMPolicy": "continue",
        "WatchdogSec": "2min",
        "StandardOutput": "append:/state/daemon.log",
        "WantedBy": "default.target",
    }.items():
        assert said[key] == [value]
    assert "ExecReload" not in said
    assert "{" not in text


def test_odd_paths_come_back_from_systemds_unit_byte_for_byte(program):
    said = settings_of(Systemd(Path("/home/user")).rendered(ODD, {"PATH": ODD, "LANG": 'x"; y'}))
    assert [unquoted(each)[0] for each in said["Environment"]] == [
        f"ORCHESTRATOR_HOME={ODD}",
        'LANG=x"; y',
        f"PATH={ODD}",
    ]
    assert said["StandardError"] == [f"append:{ODD.replace('%', '%%')}/daemon.log"]


@pytest.mark.parametrize("state", ["/state", ODD], ids=["plain", "odd"])
def test_systemd_itself_finds_nothing_wrong_with_the_unit(tmp_path, state, monkeypatch):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    path = tmp_path / "agent-orchestrator.service"
    path.write_text(Systemd(tmp_path).rendered(state, dict(ENVIRON)))
    command = ["systemd-analyze", "--user", "verify", "--man=no", str(path)]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60, check=False)
    about_us = [line for line in done.stderr.splitlines() if path.name in line]
    assert (done.returncode, about_us) == (0, []), done.stderr


def test_launchds_unit_is_a_property_list_that_says_the_same(program):
    text = Launchd(Path("/Users/user")).rendered(ODD, ENVIRON)
    assert MARK in text
    said = plistlib.loads(text.encode())
    assert said == {
        "Label": "agent-orchestrator",
        "ProgramArguments": [program, "daemon", "run"],
        "EnvironmentVariables": {"ORCHESTRATOR_HOME": ODD, **KEPT},
        "WorkingDirectory": "/",
        "Umask": 0o077,
        "StandardOutPath": f"{ODD}/daemon.log",
        "StandardErrorPath": f"{ODD}/daemon.log",
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "AbandonProcessGroup": True,
    }


def test_unit_runs_the_module_without_the_console_script(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    said = settings_of(Systemd(tmp_path).rendered("/state", ENVIRON))
    words = [str(tmp_path / "python"), "-P", "-m", "orchestrator.cli", "daemon", "run"]
    assert unquoted(said["ExecStart"][0]) == words
    assert '"PYTHONPATH=/some/where"' in said["Environment"]


@pytest.mark.parametrize("service", [Systemd, Launchd])
@pytest.mark.parametrize("state", ["/a\nb", "/a\0b", "/a\x1b[2J", "/\udcff"], ids=ascii)
def test_what_no_unit_can_hold_is_refused(program, service, state):
    with pytest.raises(CommandError, match="cannot be written into a unit"):
        service(Path("/home/user")).rendered(state, ENVIRON)


@pytest.mark.parametrize("service", [Systemd, Launchd])
def test_a_unit_serves_the_daemon_of_one_state_folder(program, service, tmp_path):
    made = service(tmp_path)
    assert not made.serves("/state")
    made.unit.parent.mkdir(parents=True)
    made.unit.write_text(made.rendered(ODD, ENVIRON))
    assert made.serves(ODD)
    assert not made.serves("/state")
    made.unit.write_text(made.rendered(ODD, ENVIRON).replace(MARK, "By hand"))
    assert not made.serves(ODD)


def test_what_agents_are_to_get_and_no_unit_holds_is_named():
    assert left_out(ENVIRON, ("PATH", "HOME", "ANTHROPIC_*", "TERM", "ABSENT")) == ["ANTHROPIC_API_KEY"]


def test_the_templates_ship():
    for name in (Systemd.template, Launchd.template):
        text = (shipped("deploy") / name).read_text()
        assert all(f"{{{place}}}" in text for place in ("program", "environment", "log"))
