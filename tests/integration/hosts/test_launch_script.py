"""`launch.sh` by itself, without a host around it: each shell that may be somebody's `sh`."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.hosts.claims import BEGUN, read_exit, read_launched
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.launcher import AGENT, lay_down
from orchestrator.hosts.processes import start_of
from orchestrator.model.errors import Refused
from orchestrator.model.run import Exit
from orchestrator.ports.host import LaunchSpec
from tests.cgroups import remove_groups
from tests.polling import wait_until
from tests.tmux_server import TmuxSocket

PATH = os.environ["PATH"]
SHELLS = [
    [program, *options]
    for name, *options in (["dash"], ["bash", "--posix"], ["busybox", "sh"], ["ksh"])
    if (program := shutil.which(name))
]


@pytest.fixture(params=SHELLS, ids=lambda shell: Path(shell[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


@pytest.fixture
def start(shell, tmp_path):
    """Start the launcher of a run in the folder `r1`, with a session of its own, as in a pane."""

    def started(*argv: str, path: str = PATH, pane: str = "", **spec) -> subprocess.Popen[str]:
        script = lay_down(DiskFiles(), run_spec(tmp_path, argv, **spec))
        leader = subprocess.Popen(
            [*shell, str(script)],
            stdin=terminal if pane else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={"PATH": path, "SECRET": "of ours", "TMUX": "/nowhere,1,0", "TMUX_PANE": pane},
        )
        leaders.append(leader)
        return leader

    leaders: list[subprocess.Popen[str]] = []
    ours, terminal = pty.openpty()
    yield started
    os.close(ours)
    os.close(terminal)
    for leader in leaders:
        with suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()
        if leader.stdout:
            leader.stdout.close()
    with suppress(AssertionError):  # what a test left for good
        wait_until(lambda: remove_groups(tmp_path), within=2)


def run_spec(root: Path, argv: tuple[str, ...], **more) -> LaunchSpec:
    folder = root / "it's #{pid} #(x) %H \\ runs" / "r1"
    spec = LaunchSpec("r1", folder, argv, root, "s", "w", {"PATH": PATH})
    return replace(spec, **more)


@pytest.fixture
def folder(tmp_path):
    return run_spec(tmp_path, ()).folder


def ended(folder: Path) -> Exit | None:
    return read_exit(DiskFiles(), folder)


# What it runs -------------------------------------------------------------------------------------


def test_agent_gets_exactly_the_environment_of_the_spec(start, folder) -> None:
    """The agent gets the environment of the spec and nothing else."""
    environment = {"PATH": PATH, "ODD": 'it\'s "$HOME" `x`\nnext line', "EMPTY": ""}
    shown = start("env", "-0", environment=environment).communicate()[0]
    reported = dict(pair.split("=", 1) for pair in shown.split("\0") if pair)
    launched = read_launched(DiskFiles(), folder)
    assert launched
    assert reported == environment | {
        "TERM": "screen-256color",
        "ORCHESTRATOR_LAUNCHER": str(launched.process),
    }
    assert ended(folder) == Exit(code=0)


def test_agents_files_can_be_read_by_others(start) -> None:
    """The agent makes files that others may read however close the daemon is."""
    before = os.umask(0o077)
    try:
        assert start("sh", "-c", "umask").communicate()[0].strip() == "0022"
    finally:
        os.umask(before)


def test_the_agent_works_in_its_folder(start, tmp_path) -> None:
    where = tmp_path / "-a $(folder)\n'quoted'"
    where.mkdir()
    assert start("pwd", cwd=where).communicate()[0] == f"{where}\n"


def test_agent_has_default_signals_and_its_terminal(start) -> None:
    """The agent has the default signals and the terminal that it was given."""
    program = (
        "import signal as s; print([s.getsignal(n) == s.SIG_DFL for n in (s.SIGHUP, s.SIGTERM, s.SIGQUIT)])"
    )
    assert start(sys.executable, "-S", "-c", program).communicate()[0] == "[True, True, True]\n"


@pytest.mark.parametrize(
    ("argv", "exit_"),
    [
        (("true",), Exit(code=0)),
        (("sh", "-c", "exit 7"), Exit(code=7)),
        (("sh", "-c", "exit 255"), Exit(code=255)),
        (("sh", "-c", "kill -KILL $$"), Exit(signal=signal.SIGKILL)),
        (("sh", "-c", "kill -HUP $$"), Exit(signal=signal.SIGHUP)),
        (("no-such-program",), Exit(code=127)),
        (("/etc/passwd",), Exit(code=126)),
        (("/",), Exit(code=126)),
    ],
)
def test_how_it_ended_is_written_down(start, folder, argv, exit_) -> None:
    start(*argv).communicate()
    assert ended(folder) == exit_
    assert sorted(path.name for path in folder.iterdir()) == [
        AGENT,
        "begun",
        "claimed",
        "exit",
        "launch.sh",
        "pid",
    ]


def test_a_missing_folder_is_said_and_nothing_runs(start, folder, tmp_path) -> None:
    shown = start("touch", str(tmp_path / "ran"), cwd=tmp_path / "missing").communicate()[0]
    assert "missing" in shown
    assert ended(folder) == Exit(code=127)
    assert not (tmp_path / "ran").exists()


# Once ---------------------------------------------------------------------------------------------


def test_of_many_launchers_one_runs_and_the_others_say_so(start, tmp_path) -> None:
    ran = tmp_path / "ran"
    shown = [start("sh", "-c", f"echo run >>'{ran}'") for _ in range(8)]
    said = sorted(each.communicate()[0] for each in shown)
    assert said == [""] + ["This run was launched before: nothing is started.\n"] * 7
    assert ran.read_text() == "run\n"


def test_launcher_is_distinct_from_a_reused_pid(start, folder) -> None:
    """The launcher can be told from a later process of the same number."""
    leader = start("sleep", "600")
    launched = wait_until(lambda: read_launched(DiskFiles(), folder))
    assert launched
    assert launched.process.start == start_of(launched.process.pid)
    assert launched.session == os.getsid(launched.process.pid) == leader.pid
    assert launched.pane == ""


def test_a_session_that_is_not_its_own_is_not_claimed(shell, folder, tmp_path) -> None:
    script = lay_down(DiskFiles(), run_spec(tmp_path, ("true",)))
    subprocess.run([*shell, str(script)], check=True)
    launched = read_launched(DiskFiles(), folder)
    assert launched
    assert launched.session == 0


def test_an_upgrade_changes_nothing_under_a_living_agent(start, folder, tmp_path) -> None:
    leader = start("sh", "-c", f"until [ -e '{tmp_path}/go' ]; do sleep 0.01; done")
    wait_until(lambda: read_launched(DiskFiles(), folder))
    DiskFiles().write(folder / "launch.sh", b"#!/bin/sh\nexit 99\n")
    (tmp_path / "go").touch()
    leader.communicate()
    assert ended(folder) == Exit(code=0)


# Signals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_to_all_ends_the_agent_and_is_recorded(start, folder, tmp_path, number) -> None:
    leader = start("sh", "-c", f"touch '{tmp_path}/begun'; exec sleep 600")
    wait_until((tmp_path / "begun").exists)
    os.killpg(leader.pid, number)
    leader.communicate()
    assert ended(folder) == Exit(signal=number)


def test_lost_terminal_signals_agent_and_launcher_reports(shell, folder, tmp_path) -> None:
    """When its terminal goes away the agent is told and the launcher tells."""
    agent = ("sh", "-c", f"touch '{tmp_path}/begun'; exec sleep 600")
    script = lay_down(DiskFiles(), run_spec(tmp_path, agent))
    leader, terminal = pty.fork()
    if leader == 0:
        os.execve(shell[0], [*shell, str(script)], {"PATH": PATH})
    wait_until((tmp_path / "begun").exists)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(leader, 0)[1]) == -signal.SIGHUP
    wait_until(lambda: ended(folder))
    assert ended(folder) == Exit(signal=signal.SIGHUP)


def test_launcher_ended_early_starts_no_agent(start, folder, tmp_path) -> None:
    """One that is ended before it starts the agent does not start it."""
    slow = fake_tmux(tmp_path, "sleep 600")
    start("touch", str(tmp_path / "ran"), path=f"{slow}:{PATH}", pane="%1")
    launched = wait_until(lambda: read_launched(DiskFiles(), folder))
    assert launched
    os.kill(launched.process.pid, signal.SIGTERM)
    wait_until(lambda: ended(folder))
    assert ended(folder) == Exit(signal=signal.SIGTERM)
    assert not (tmp_path / "ran").exists()


def test_launcher_given_up_early_starts_no_agent(start, folder, tmp_path) -> None:
    """One that was given up before it starts the agent does not start it."""
    slow = fake_tmux(tmp_path, "sleep 600")
    start("touch", str(tmp_path / "ran"), path=f"{slow}:{PATH}", pane="%1")
    wait_until(lambda: read_launched(DiskFiles(), folder))
    (folder / BEGUN).touch()
    wait_until(lambda: ended(folder))
    assert ended(folder) == Exit(code=125)
    assert not (tmp_path / "ran").exists()


def test_launcher_without_identity_starts_no_agent(start, folder, tmp_path) -> None:
    """What is not known to live is launched again."""
    folder.mkdir(parents=True)
    (folder / "pid.new").mkdir()
    start("touch", str(tmp_path / "ran")).communicate()
    assert ended(folder) == Exit(code=125)
    assert not (tmp_path / "ran").exists()


# tmux that does not work --------------------------------------------------------------------------


def fake_tmux(root: Path, does: str) -> Path:
    (root / "bin").mkdir()
    (root / "bin" / "tmux").write_text(f"#!/bin/sh\n{does}\n")
    (root / "bin" / "tmux").chmod(0o700)
    return root / "bin"


def test_a_tmux_that_fails_stops_nothing(start, folder, tmp_path) -> None:
    broken = fake_tmux(tmp_path, "echo broken >&2; exit 1")
    shown = start("echo", "hello", path=f"{broken}:{PATH}", pane="%1").communicate()[0]
    assert shown == "hello\n"
    assert ended(folder) == Exit(code=0)


def test_a_tmux_that_is_missing_stops_nothing(start, folder, tmp_path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("sh", "sleep", "mv", "date", "env", "ps"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    shown = start("echo", "hello", path=str(tmp_path / "bin"), pane="%1").communicate()[0]
    assert shown == "hello\n"
    assert ended(folder) == Exit(code=0)


def test_hanging_tmux_delays_the_agent_two_seconds_at_most(start, folder, tmp_path) -> None:
    """A tmux that hangs holds up the agent for two seconds at most."""
    hangs = fake_tmux(tmp_path, "exec sleep 600")
    began = time.monotonic()
    leader = start("echo", "hello", path=f"{hangs}:{PATH}", pane="%1")
    wait_until(lambda: ended(folder))
    assert 1.9 < time.monotonic() - began < 5
    os.killpg(leader.pid, signal.SIGKILL)
    assert leader.communicate()[0] == "hello\n"


# Words --------------------------------------------------------------------------------------------

WORDS = st.binary().filter(lambda data: b"\0" not in data).map(os.fsdecode)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@settings(max_examples=150)
@given(
    st.lists(WORDS | TEXTS, max_size=5),
    st.dictionaries(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z"), TEXTS),
)
@example(
    ["", "'", "''", "\\", "\n", "-n", "--", "$x", "`x`", "*", "~", "#", ";", "&", "é", "\x81"], {"A": "'\n"}
)
def test_every_word_arrives_as_it_is(words: list[str], environment: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        argv = ("/usr/bin/printf", "%s\\0", *words) if words else ("/usr/bin/printf", "")
        lay_down(DiskFiles(), run_spec(root, argv, environment=environment))
        shown = subprocess.run(
            ["sh", "-c", ". ./agent.sh; agent A_MARK="],
            cwd=run_spec(root, ()).folder,
            capture_output=True,
            check=True,
        )
        assert shown.stdout == b"".join(os.fsencode(word) + b"\0" for word in words)


@pytest.mark.parametrize("name", ["a=b", "-x", "-", "=", "it's"])
def test_a_program_may_have_an_odd_name(start, folder, tmp_path, name) -> None:
    program = tmp_path / name
    program.write_text('#!/bin/sh\necho ran "$@"\n')
    program.chmod(0o700)
    environment = {"PATH": f"{tmp_path}:{PATH}"}
    assert start(name, "a=b", environment=environment).communicate()[0] == "ran a=b\n"
    assert ended(folder) == Exit(code=0)


@pytest.mark.parametrize(
    "change",
    [
        {"argv": ()},
        {"argv": ("",)},
        {"argv": ("echo", "a\0b")},
        {"argv": ("echo", "\ud800")},
        {"cwd": Path("relative")},
        {"environment": {"A B": ""}},
        {"environment": {"A=B": ""}},
        {"environment": {"": ""}},
        {"environment": {"A": "\0"}},
        {"environment": {"ORCHESTRATOR_LAUNCHER": "1@1"}},
        {"run": "a b"},
    ],
)
def test_what_no_program_can_be_given_is_refused(tmp_path, change) -> None:
    argv = change.pop("argv", ("echo",))
    with pytest.raises(Refused):
        lay_down(DiskFiles(), run_spec(tmp_path, argv, **change))


# In a pane ----------------------------------------------------------------------------------------


def in_pane(socket: TmuxSocket, script: Path) -> None:
    socket.tmux("-f", "/dev/null", "new-session", "-d", "-s", "s", "-n", "w", "/bin/sh", str(script))


def test_a_pane_is_labelled_and_its_log_begins_before_the_agent(tmp_path, tmux_socket, folder) -> None:
    show = ["tmux", "-S", str(tmux_socket.path), "display-message", "-p", "-t", "%0", "label #{@run}"]
    in_pane(tmux_socket, lay_down(DiskFiles(), run_spec(tmp_path, tuple(show))))
    wait_until(lambda: ended(folder))
    wait_until(lambda: "label r1" in (folder / "pane.log").read_text())


def test_the_log_of_a_flood_is_bounded(tmp_path, tmux_socket, folder) -> None:
    script = lay_down(DiskFiles(), run_spec(tmp_path, ("yes",), log_bytes=100_000))
    in_pane(tmux_socket, script)
    log = folder / "pane.log"
    wait_until(lambda: log.exists() and log.stat().st_size >= 99_840)
    # Who writes it has ended: nothing more comes.
    wait_until(lambda: tmux_socket.tmux("display-message", "-p", "-t", "%0", "#{pane_pipe}").strip() == "0")
    assert log.stat().st_size == 100_000 // 512 * 512


def test_the_log_keeps_nothing_back(tmp_path, tmux_socket, folder) -> None:
    in_pane(tmux_socket, lay_down(DiskFiles(), run_spec(tmp_path, ("sh", "-c", "echo one; sleep 600"))))
    wait_until(lambda: (folder / "pane.log").exists() and "one" in (folder / "pane.log").read_text())
