"""What a machine does to `LocalHost`: servers that die and freeze, panes in modes, files that are garbage."""

from __future__ import annotations

import os
import pty
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.hosts import claims, local, processes, run_processes
from orchestrator.hosts.claims import read_launched
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.processes import Process, start_of
from orchestrator.hosts.run_processes import group_of
from orchestrator.hosts.tmux import Tmux
from orchestrator.hosts.tmux_calls import DEADLINE
from orchestrator.hosts.tmux_failures import NoServer
from orchestrator.model.errors import Lasting, Unavailable
from orchestrator.model.run import Exit, Leftover
from orchestrator.ports.files import Entry, Files
from orchestrator.ports.host import LaunchSpec, Observation, Standing
from tests.polling import wait_until
from tests.tmux_server import TmuxSocket

SESSION = "tidy-0123abcd"


class WatchedFiles(DiskFiles):
    """Knows what was read, and looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def read(self, path: Path, limit: int = 67_108_864, start: int = 0) -> bytes:
        self.seen.append(path.name)
        return super().read(path, limit, start)

    def entry(self, path: Path) -> Entry | None:
        self.seen.append(path.name)
        return super().entry(path)


class Bench:
    """A host on this machine and the runs that were launched there."""

    def __init__(self, root: Path, socket: TmuxSocket) -> None:
        self.root = root
        self.socket = socket
        self.files = WatchedFiles()
        self.host = self.another_host()
        self.folders: list[Path] = []
        (root / "pm.log").touch()
        self.open_session("a title")

    def another_host(self) -> LocalHost:
        """Return a host as a daemon has it that was just started."""
        return LocalHost(Tmux(self.socket.name, self.socket.environ, deadline=2.0), self.files)

    def open_session(self, title: str) -> None:
        self.host.open_session(SESSION, title, self.root / "pm.log")

    def launch(self, run: str, *argv: str) -> Path:
        spec = LaunchSpec(
            run=run,
            folder=self.root / "runs" / run,
            argv=argv,
            cwd=self.root,
            session=SESSION,
            window=run,
            environment={"PATH": os.environ["PATH"]},
        )
        self.folders.append(spec.folder)
        self.host.launch(spec)
        return spec.folder

    def alive(self, folder: Path) -> Observation:
        wait_until(lambda: self.host.observe(folder).standing is Standing.ALIVE)
        return self.host.observe(folder)

    def left(self, folder: Path) -> Observation:
        wait_until(lambda: self.host.observe(folder).standing is Standing.LEFT)
        return self.host.observe(folder)

    def gone(self, folder: Path) -> Exit | None:
        wait_until(lambda: self.host.observe(folder).standing is Standing.GONE)
        return self.host.observe(folder).exit


@pytest.fixture
def bench(tmp_path: Path, tmux_socket: TmuxSocket) -> Iterator[Bench]:
    made = Bench(tmp_path, tmux_socket)
    yield made
    for folder in made.folders:
        made.host.end(folder, kill=True)


# The server ---------------------------------------------------------------------------------------


def test_when_tmux_dies_the_exit_says_how_the_run_ended(bench: Bench) -> None:
    folder = bench.launch("r1", "sleep", "600")
    bench.alive(folder)
    bench.socket.kill()
    assert bench.gone(folder) == Exit(signal=signal.SIGHUP)
    assert bench.host.panes() == []


def test_agent_that_outlives_tmux_is_known_and_can_be_ended(bench: Bench) -> None:
    """An agent that outlives tmux is still known and can be ended."""
    folder = bench.launch("r1", "sh", "-c", "trap '' HUP; touch begun; sleep 600; sleep 600")
    wait_until((bench.root / "begun").exists)
    bench.socket.kill()
    assert bench.host.observe(folder).standing is Standing.ALIVE
    bench.host.end(folder, kill=False)
    assert bench.gone(folder) == Exit(signal=signal.SIGTERM)


def test_every_call_to_a_frozen_server_ends_by_its_deadline(bench: Bench) -> None:
    folder = bench.launch("r1", "sleep", "600")
    pane = bench.alive(folder).pane
    quick = LocalHost(Tmux(bench.socket.name, bench.socket.environ, deadline=0.2), DiskFiles())
    frozen = LaunchSpec("r2", bench.root / "runs" / "r2", ("true",), bench.root, SESSION, "r2")
    with bench.socket.frozen():
        for call in (
            lambda: quick.open_session(SESSION, "", bench.root / "pm.log"),
            lambda: quick.launch(frozen),
            quick.panes,
            lambda: quick.close_pane(pane, "r1"),
            lambda: quick.close_session(SESSION),
            lambda: quick.capture(pane, 5),
            lambda: quick.type_line(pane, "r1", "hello"),
        ):
            began = time.monotonic()
            with pytest.raises(Unavailable, match="frozen"):
                call()
            assert time.monotonic() - began < DEADLINE  # that of other servers, and not this one's alone
        # The truth about a run does not hang on tmux.
        assert quick.observe(folder).standing is Standing.ALIVE
        bench.host.end(folder, kill=False)
        assert bench.gone(folder) == Exit(signal=signal.SIGTERM)


def test_launch_held_back_by_a_frozen_server_can_be_fenced(bench: Bench) -> None:
    """A launch that a frozen server kept back can be called off."""
    quick = LocalHost(Tmux(bench.socket.name, bench.socket.environ, deadline=0.2), DiskFiles())
    spec = LaunchSpec("r1", bench.root / "runs" / "r1", ("touch", "ran"), bench.root, SESSION, "r1")
    with bench.socket.frozen():
        with pytest.raises(Unavailable):
            quick.launch(spec)
        quick.end(spec.folder, kill=False)
    wait_until(lambda: [pane for pane in bench.host.panes() if pane.window != "pm"] == [])
    assert not (bench.root / "ran").exists()


def test_without_a_server_there_is_nothing_to_see(bench: Bench) -> None:
    bench.socket.kill()
    assert bench.host.panes() == []
    assert bench.host.capture("%0", 5) == ""
    bench.host.close_pane("%0", "r1")
    bench.host.close_session(SESSION)
    with pytest.raises(NoServer):
        bench.launch("r1", "true")
    bench.open_session("again")
    assert bench.gone(bench.launch("r1", "true")) == Exit(code=0)


def test_a_server_without_a_session_has_no_panes(bench: Bench) -> None:
    """A server answers for a moment after its last session was closed; `exit-empty off` makes it stay so."""
    bench.socket.tmux("set-option", "-g", "exit-empty", "off")
    bench.host.close_session(SESSION)
    assert bench.socket.server_pid()
    assert bench.host.panes() == []
    bench.host.close_ended(SESSION)
    bench.open_session("again")
    assert bench.gone(bench.launch("r1", "true")) == Exit(code=0)


def test_without_tmux_it_is_said(tmp_path: Path) -> None:
    host = LocalHost(Tmux("none", {"PATH": str(tmp_path)}), DiskFiles())
    with pytest.raises(Unavailable, match="not installed"):
        host.panes()


def test_tmux_gone_before_a_launch_is_said_in_words(tmp_path: Path, tmux_socket: TmuxSocket) -> None:
    """Removed under a daemon: "could not be started: No such file", 21 times in an hour, then "lost its terminal".

    It lasts until somebody installs it, so it is asked about at once; installed elsewhere, it is found.
    """
    real = shutil.which("tmux") or ""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (first / "tmux").symlink_to(real)
    tmux = Tmux(str(tmux_socket.path), {**tmux_socket.environ, "PATH": f"{first}:{second}"})
    host = LocalHost(tmux, DiskFiles())
    assert host.panes() == []
    (first / "tmux").unlink()
    with pytest.raises(Lasting, match="tmux is not installed: install it with your package manager"):
        host.panes()
    (second / "tmux").symlink_to(real)
    assert host.panes() == []


def test_a_socket_may_be_a_path(bench: Bench) -> None:
    by_path = LocalHost(Tmux(str(bench.socket.path), bench.socket.environ), DiskFiles())
    assert by_path.panes() == bench.host.panes()


def test_the_server_gets_nothing_but_what_is_on_the_list(tmp_path: Path, tmux_socket: TmuxSocket) -> None:
    ours = {"LD_PRELOAD": "", "API_KEY": "secret", "TMUX": "/x,1,0", "ORCHESTRATOR_LAUNCHER": "1@1"}
    host = LocalHost(Tmux(tmux_socket.name, tmux_socket.environ | ours), DiskFiles())
    (tmp_path / "pm.log").touch()
    host.open_session(SESSION, "", tmp_path / "pm.log")
    environment = Path(f"/proc/{tmux_socket.server_pid()}/environ").read_bytes().split(b"\0")
    assert not {name.encode() for name in ours} & {pair.split(b"=")[0] for pair in environment}


def test_the_users_own_settings_are_not_read(tmp_path: Path, tmux_socket: TmuxSocket) -> None:
    (tmp_path / ".tmux.conf").write_text(
        "set -g default-command 'exit 1'\nset -g history-limit 1\nnonsense\n"
    )
    host = LocalHost(Tmux(tmux_socket.name, tmux_socket.environ | {"HOME": str(tmp_path)}), DiskFiles())
    host.open_session(SESSION, "", tmp_path / "pm.log")
    shown = [tmux_socket.tmux("show-options", "-gv", name) for name in ("default-command", "history-limit")]
    assert shown == ["", "5000"]
    assert tmux_socket.tmux("show-options", "-sv", "set-clipboard") == "off"


# Panes --------------------------------------------------------------------------------------------


def test_nothing_is_typed_into_a_pane_in_copy_mode(bench: Bench) -> None:
    folder = bench.launch("r1", "sh", "-c", 'read -r line; echo "$line" >got')
    pane = bench.alive(folder).pane
    wait_until(lambda: "r1" in {each.run for each in bench.host.panes()})
    bench.socket.tmux("copy-mode", "-t", pane)
    assert not bench.host.type_line(pane, "r1", "lost")
    bench.socket.tmux("send-keys", "-t", pane, "-X", "cancel")
    assert bench.host.type_line(pane, "r1", "heard")
    assert bench.gone(folder) == Exit(code=0)
    assert (bench.root / "got").read_text() == "heard\n"


def test_nothing_that_an_agent_shows_reaches_through_its_pane(bench: Bench) -> None:
    titles = r"\033]0;#(touch pwned)\007\033]2;#{pid}\033\\"
    clipboard = r"\033Ptmux;\033\033]52;c;eA==\007\033\\"
    folder = bench.launch("r1", "sh", "-c", rf"printf '{titles}{clipboard}\033[31mred\033[m\n'; sleep 600")
    pane = bench.alive(folder).pane
    wait_until(lambda: bench.host.capture(pane, 5) == "red")
    assert next(each for each in bench.host.panes() if each.run == "r1").window == "r1"


def test_titles_are_shown_and_never_run(bench: Bench, tmp_path: Path) -> None:
    bench.host.close_session(SESSION)
    wait_until(lambda: not bench.socket.server_pid())
    bench.open_session("tidy #(touch pwned) #{pid} #[fg=red] \x1b]0;x\x07;")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execvpe(
            "tmux", ["tmux", "-L", bench.socket.name, "attach"], bench.socket.environ | {"TERM": "xterm"}
        )
    screen = bytearray()

    def shown() -> bool:
        screen.extend(os.read(terminal, 65536))
        return b"tidy #(touch pwned) #{pid} #[fg=red]" in screen

    try:
        wait_until(shown)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
    assert not list(tmp_path.rglob("pwned"))


def test_panes_with_odd_names_are_seen_and_never_mistaken(bench: Bench) -> None:
    new = ["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"={SESSION}:"]
    pane = bench.socket.tmux(*new, "-n", "a window: 1 r1", "sleep", "600")
    bench.socket.tmux("set-option", "-p", "-t", pane, "@run", "r1 x")
    assert [each.id for each in bench.host.panes() if each.run == "r1 x" or each.window == "pm"] == ["%0"]
    assert not [each for each in bench.host.panes() if each.run == "r1" and each.session == SESSION]


def test_exit_that_is_written_during_a_look_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher writes `exit` and ends. Who reads first and looks at the launcher afterwards takes it for lost."""
    folder = bench.launch("r1", "sleep", "600")
    bench.alive(folder)
    looks = iter([True, False])

    def ends_at_the_second_look(_: Process) -> bool:
        if lives := next(looks, False):
            return lives
        (folder / claims.EXIT).write_text("code 3\n")
        return False

    monkeypatch.setattr(processes, "alive", ends_at_the_second_look)
    seen = bench.another_host().observe(folder)
    monkeypatch.undo()
    (folder / claims.EXIT).unlink()
    assert seen.exit == Exit(code=3)


# What outlives its launcher -------------------------------------------------------------------------


def _kill_launcher(bench: Bench, folder: Path) -> None:
    launcher = bench.alive(folder).pid
    assert launcher
    os.kill(launcher, signal.SIGKILL)


def _kill_tmux(bench: Bench, folder: Path) -> None:
    bench.alive(folder)
    bench.socket.kill()


def _let_go(bench: Bench, folder: Path) -> None:
    (bench.root / "go").touch()


NOTE = "echo $! >>pids.part; mv pids.part pids"
OUTLIVING = {
    "killed under what ignores HUP": (
        "trap '' HUP; echo $$ >pids.part; mv pids.part pids; exec sleep 600",
        _kill_launcher,
    ),
    "nohup, and tmux killed": (f"nohup sleep 600 >/dev/null & {NOTE}; exec sleep 600", _kill_tmux),
    "setsid, and an exit": (f"setsid sleep 600 & {NOTE}; until [ -e go ]; do sleep 0.01; done", _let_go),
    "a child without a mark": (
        f"trap '' HUP; env -i PATH=\"$PATH\" sleep 600 & {NOTE}; until [ -e go ]; do sleep 0.01; done",
        _let_go,
    ),
}


@pytest.mark.parametrize("how", OUTLIVING)
def test_a_run_is_gone_when_nothing_of_it_is_left(bench: Bench, how: str) -> None:
    """Until then it is told what is left, by a host that had seen it alive and by one that had not."""
    script, end = OUTLIVING[how]
    folder = bench.launch("r1", "sh", "-c", script)
    wait_until((bench.root / "pids").exists)
    (pid,) = [int(each) for each in (bench.root / "pids").read_text().split()]
    wait_until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")
    bench.alive(folder)
    end(bench, folder)
    seen = bench.left(folder)
    assert (seen.left, seen.pid) == ((Leftover(pid, "sleep"),), pid)
    assert seen.exit is not None
    assert bench.another_host().observe(folder) == seen
    bench.host.end(folder, kill=False)
    assert bench.gone(folder) == seen.exit


def test_a_cgroup_goes_with_its_run(bench: Bench) -> None:
    left = "setsid env -i sh -c 'echo >up; exec sleep 600' & until [ -e go ]; do sleep 0.01; done"
    folder = bench.launch("r1", "sh", "-c", left)
    wait_until((bench.root / "up").exists)  # before that it would end with the terminal
    bench.alive(folder)
    launched = read_launched(bench.files, folder)
    assert launched is not None
    group = group_of(launched.process, launched.cgroup)
    if group is None:
        pytest.skip("no control group can be made here")
    assert group.is_dir()
    (bench.root / "go").touch()
    seen = bench.left(folder)
    assert [each.name for each in seen.left] == ["sleep"]
    bench.host.end(folder, kill=True)
    assert bench.gone(folder) == Exit(code=0)
    assert not group.exists()


def test_a_launcher_takes_its_empty_cgroup_with_it(bench: Bench) -> None:
    folder = bench.launch("r1", "true")
    wait_until((folder / "exit").exists)
    launched = read_launched(bench.files, folder)
    assert launched is not None
    group = group_of(launched.process, launched.cgroup)
    wait_until(lambda: group is None or not group.exists())


def test_one_census_serves_many_runs_that_are_ended(bench: Bench, monkeypatch) -> None:
    """Time stands still for the census, so that it stays young on a slow machine too."""
    begun = [bench.root / f"begun{number}" for number in range(5)]
    folders = [
        bench.launch(f"r{number}", "sh", "-c", f"touch {mark}; exec sleep 600")
        for number, mark in enumerate(begun)
    ]
    wait_until(lambda: all(mark.exists() for mark in begun))  # who is born later is in no census
    looks: list[None] = []

    class Counted(run_processes.Census):
        def __init__(self) -> None:
            looks.append(None)
            super().__init__()

    monkeypatch.setattr(run_processes, "Census", Counted)
    monkeypatch.setattr(run_processes, "time", SimpleNamespace(monotonic=lambda: 0.0))
    for folder in folders:
        bench.host.end(folder, kill=False)
    assert len(looks) == 1
    assert [bench.gone(folder) for folder in folders] == [Exit(signal=signal.SIGTERM)] * 5


def test_who_began_after_the_look_is_asked_to_end_by_the_next(bench: Bench) -> None:
    """And only they: a second TERM would cut short what a program does at its end."""
    late = "trap 'touch late; exit' TERM; touch born; while :; do sleep 0.01; done"
    folder = bench.launch(
        "r1",
        "bash",
        "-c",
        f"trap 'echo >>asked' TERM; touch begun; until [ -e go ]; do sleep 0.01; done\nsetsid bash -c \"{late}\" &\n"
        "until [ -e late ]; do wait; done",
    )
    wait_until((bench.root / "begun").exists)
    bench.host.end(folder, kill=False)
    wait_until((bench.root / "asked").exists)
    (bench.root / "go").touch()
    wait_until((bench.root / "born").exists)
    bench.host.end(folder, kill=False)
    assert bench.gone(folder) == Exit(code=0)
    assert (bench.root / "asked").read_text() == "\n"


def test_second_looks_at_many_runs_are_one(bench: Bench, monkeypatch) -> None:
    begun = [bench.root / f"begun{number}" for number in range(5)]
    script = "trap '' TERM; touch {}; exec sleep 600"
    folders = [
        bench.launch(f"r{number}", "sh", "-c", script.format(mark)) for number, mark in enumerate(begun)
    ]
    wait_until(lambda: all(mark.exists() for mark in begun))
    for folder in folders:
        bench.host.end(folder, kill=False)
    looks: list[None] = []

    class Counted(run_processes.Census):
        def __init__(self) -> None:
            looks.append(None)
            super().__init__()

    monkeypatch.setattr(run_processes, "Census", Counted)
    for folder in folders:
        bench.host.end(folder, kill=False)
    assert len(looks) == 1


def test_ending_one_that_was_claimed_writes_nothing(bench: Bench, monkeypatch) -> None:
    begun = bench.root / "begun"
    folder = bench.launch("r1", "sh", "-c", f"touch {begun}; exec sleep 600")
    wait_until(begun.exists)
    made: list[Path] = []

    def create(path: Path, *_: object, **__: object) -> bool:
        made.append(path)
        return False

    monkeypatch.setattr(bench.files, "create", create)
    bench.host.end(folder, kill=False)
    assert made == []
    assert bench.gone(folder) == Exit(signal=signal.SIGTERM)


# Claim files --------------------------------------------------------------------------------------

GARBAGE = [
    b"",
    b"\xff\xfe",
    b"pid",
    b"pid 12",
    b"code 0",
    b"code\n",
    b"code -1\n",
    b"code 99999\n",
    b"\0" * 5000,
]


@pytest.mark.parametrize("data", GARBAGE)
def test_an_exit_that_does_not_read_is_a_lost_one(bench: Bench, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "exit").write_bytes(data)
    assert bench.host.observe(tmp_path) == Observation(Standing.GONE, exit=Exit(lost=True))


@pytest.mark.parametrize("data", [*GARBAGE, b"pid 0\nstart 1\n", b"pid -1\nstart 1\n", b"pid x\nstart 1\n"])
def test_unreadable_pid_is_unknown_and_signals_nothing(bench, tmp_path, data) -> None:
    """A pid that does not read is unknown and nothing is signalled."""
    (tmp_path / "claimed").touch()
    (tmp_path / "pid").write_bytes(data)
    assert bench.host.observe(tmp_path) == Observation(Standing.CLAIMED)
    bench.host.end(tmp_path, kill=True)
    assert bench.host.observe(tmp_path) == Observation(Standing.CLAIMED)


def test_links_and_folders_in_place_of_claim_files_are_garbage(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "claimed").touch()
    (tmp_path / "pid").symlink_to("/etc/passwd")
    (tmp_path / "exit").mkdir()
    assert bench.host.observe(tmp_path) == Observation(Standing.GONE, exit=Exit(lost=True))


def test_a_launcher_that_was_killed_leaves_a_lost_run(bench: Bench) -> None:
    folder = bench.launch("r1", "sleep", "600")
    seen = bench.alive(folder)
    assert seen.pid
    os.kill(seen.pid, signal.SIGKILL)
    assert bench.gone(folder) == Exit(lost=True)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that leads a session of its own, and belongs to no run."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as made:
        yield made
        made.kill()


def _pid_of(process: Process, session: int) -> str:
    return f"pid {process.pid}\nstart {process.start}\nsession {session}\npane \ncgroup \n"


def test_reused_pid_of_an_old_launcher_is_not_touched(
    bench: Bench, tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    """A process that has the number of a launcher of old is not touched."""
    (tmp_path / "claimed").touch()
    (tmp_path / "pid").write_text(_pid_of(Process(stranger.pid, "1@an-earlier-boot"), stranger.pid))
    assert bench.host.observe(tmp_path) == Observation(Standing.GONE, stranger.pid, "", Exit(lost=True))
    bench.host.end(tmp_path, kill=True)
    assert stranger.poll() is None


def test_a_pid_that_names_a_stranger_is_not_believed(
    bench: Bench, tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    """It was taken for the launcher, and killed with its whole session."""
    (tmp_path / "claimed").touch()
    (tmp_path / "pid").write_text(_pid_of(Process(stranger.pid, start_of(stranger.pid)), stranger.pid))
    assert bench.host.observe(tmp_path) == Observation(Standing.CLAIMED)
    for kill in (False, True):
        bench.host.end(tmp_path, kill=kill)
    assert stranger.poll() is None


@pytest.mark.parametrize("lives", [True, False])
def test_a_session_that_a_stranger_leads_is_not_ended(
    bench: Bench, stranger: subprocess.Popen[bytes], *, lives: bool
) -> None:
    """Whether the launcher that is named lives, or has ended by the uptime that stands in `exit`."""
    folder = bench.launch("r1", "sleep", "600")
    seen = bench.alive(folder)
    assert seen.pid is not None
    (folder / "pid").write_text(_pid_of(Process(seen.pid, seen.start), stranger.pid))
    if not lives:
        bench.host.end(folder, kill=True)
        bench.gone(folder)
        (folder / "exit").write_text("code 0\noom_kills 0\nuptime 99999999999\n")
    later = bench.another_host()
    later.observe(folder)
    later.end(folder, kill=True)
    wait_until(lambda: later.observe(folder).standing is Standing.GONE)
    assert stranger.poll() is None


@pytest.mark.parametrize("spoilt", ["", "pid 1\n", "a stranger", None])
def test_a_launcher_whose_pid_is_spoilt_is_found(
    bench: Bench, stranger: subprocess.Popen[bytes], spoilt: str | None
) -> None:
    """A daemon that was started again believed the run gone, and began another life beside it."""
    folder = bench.launch("r1", "sleep", "600")
    seen = bench.alive(folder)
    if spoilt is None:
        (folder / "pid").unlink()
        os.utime(folder / "claimed", (0, 0))
    else:
        strangers = _pid_of(Process(stranger.pid, start_of(stranger.pid)), stranger.pid)
        (folder / "pid").write_text(strangers if spoilt == "a stranger" else spoilt)
    later = bench.another_host()
    assert later.observe(folder) == replace(seen, pane="")
    later.end(folder, kill=True)
    wait_until(lambda: later.observe(folder).exit == Exit(signal=signal.SIGKILL))
    assert stranger.poll() is None


def test_a_pid_that_is_being_written_is_read_the_next_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written between two looks at it, it counted as spoilt: the run seemed to have no pane, and was never typed to."""
    folder = bench.launch("r1", "sleep", "600")
    seen = bench.alive(folder)
    (folder / "pid").rename(folder / "pid.new")
    read = claims.read_launched

    def written_behind_it(files: Files, folder: Path) -> claims.Launched | None:
        said = read(files, folder)
        if (folder / "pid.new").exists():
            (folder / "pid.new").rename(folder / "pid")
        return said

    monkeypatch.setattr(local, "read_launched", written_behind_it)
    later = bench.another_host()
    assert later.observe(folder).standing is Standing.CLAIMED
    assert later.observe(folder) == seen
    later.end(folder, kill=True)


def test_run_seen_alive_is_known_by_its_process_alone(bench: Bench) -> None:
    """Of a run that was seen alive only its process is looked at."""
    folder = bench.launch("r1", "sleep", "600")
    seen = bench.alive(folder)
    bench.files.seen.clear()
    assert [bench.host.observe(folder) for _ in range(3)] == [seen] * 3
    assert bench.files.seen == []
    bench.host.end(folder, kill=True)
    assert bench.gone(folder) == Exit(signal=signal.SIGKILL)
    assert "exit" in bench.files.seen


def test_one_that_can_be_neither_read_nor_written_is_unavailable(bench: Bench, monkeypatch) -> None:
    folder = bench.launch("r1", "true")
    bench.gone(folder)

    def no_descriptor_is_free(*_words: object) -> bytes:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(DiskFiles, "read", no_descriptor_is_free)
    with pytest.raises(Unavailable, match="Too many open files"):
        bench.host.observe(folder)


def test_without_descriptors_nothing_is_believed_or_leaked(bench: Bench) -> None:
    """Without a free descriptor nothing is believed and nothing leaks."""
    folder = bench.launch("r1", "sleep", "600")
    bench.alive(folder)
    used = [os.dup(0)]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (used[0], limits[1]))
    try:
        for call in (
            bench.host.panes,
            lambda: bench.host.observe(folder),
            lambda: bench.host.end(folder, kill=False),
        ):
            with pytest.raises(Unavailable):
                call()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        os.close(used[0])
    after = os.dup(0)
    os.close(after)
    assert after == used[0]
    assert bench.host.observe(folder).standing is Standing.ALIVE


# Memory -------------------------------------------------------------------------------------------

CGROUP = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """A cgroup of 32 MB, to be entered by writing a pid into its `cgroup.procs`."""
    group = CGROUP / f"orchestrator-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text("33554432")
    except OSError:
        pytest.skip("no cgroup can be made here")
    yield group
    wait_until(lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


@pytest.mark.skipif(not shutil.which("tail"), reason="tail is what eats the memory")
def test_one_killed_for_memory_differs_from_one_killed(bench: Bench, small_memory: Path) -> None:
    (small_memory / "cgroup.procs").write_text(str(bench.socket.server_pid()))
    starved = bench.launch("r2", "sh", "-c", "exec tail /dev/zero")
    assert bench.gone(starved) == Exit(signal=signal.SIGKILL, out_of_memory=True)
    killed = bench.launch("r3", "sh", "-c", "kill -KILL $$")
    assert bench.gone(killed) == Exit(signal=signal.SIGKILL)
    bench.socket.kill()
